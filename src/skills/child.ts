/**
 * One run of a built-in skill: its name is the argument, its input is JSON on stdin, and its one envelope goes to stdout. It
 * runs in a sandbox as any other skill does.
 */
import { text } from "node:stream/consumers";
import { encodeTerminal } from "../protocol/envelope-v1.ts";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import { failure, type Outcome, success } from "../protocol/outcome.ts";
import { BUILTINS } from "./builtin/index.ts";
import { NO_NETWORK, networkByProxy } from "./network/inside.ts";
import { SKILL_STATE } from "./variables.ts";

const outcomeOf = async (name: string, input: string): Promise<Outcome<object>> => {
  const skill = BUILTINS.find((one) => one.name === name);
  if (skill === undefined)
    return failure(new HoldfastError("SKILL_NOT_FOUND", `There is no built-in skill ${name}.`));
  try {
    const parsed = skill.input.safeParse(JSON.parse(input));
    if (!parsed.success) {
      const problems = parsed.error.issues.map(
        ({ path, message }) => `${path.join(".") || "input"}: ${message}`,
      );
      return failure(new HoldfastError("INVALID_REQUEST", `${problems.join("; ")}.`, { problems }));
    }
    const stopped = new AbortController();
    process.once("SIGTERM", () => stopped.abort());
    const answer = await skill.run(parsed.data as never, {
      workspace: process.cwd(),
      signal: stopped.signal,
      ...(process.env.HTTP_PROXY === undefined ? NO_NETWORK : await networkByProxy()),
      secret: (variable) => process.env[variable],
      state: process.env[SKILL_STATE] ?? "",
    });
    return success(answer as object);
  } catch (cause) {
    return failure(asHoldfastError(cause));
  }
};

const run = async (): Promise<void> => {
  const began = performance.now();
  const name = process.argv[2] ?? "";
  const outcome = await outcomeOf(name, await text(process.stdin));
  const time = { now_ms: Date.now(), duration_ms: performance.now() - began };
  process.stdout.write(encodeTerminal({ command: name, profiles: ["core/v1"] }, time, outcome), () =>
    process.exit(outcome.ok ? 0 : 1),
  );
};

void run();
