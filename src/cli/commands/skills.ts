/** agent run and agent skills …: what skills there are, and one run of one. */
import { resolve } from "node:path";
import { PROMPT_MAX_BYTES } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { COMMAND_FORM } from "../../protocol/forms.ts";
import { success } from "../../protocol/outcome.ts";
import type { RequestInput } from "../../protocol/requests.ts";
import type { CommandHandler, Context } from "../context.ts";
import { type Call, invalid } from "../parse.ts";
import { readBounded, whyUnreadable } from "./read-file.ts";
import { readStdin } from "./spawn.ts";

type SkillArguments = RequestInput<"skill/run">["input"];

/** A JSON object; undefined for anything else. */
const objectIn = (text: string): SkillArguments | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as SkillArguments)
      : undefined;
  } catch {
    return undefined;
  }
};

const NO_OBJECT = `is no JSON object, as in '{"path":"src"}'`;
const isElsewhere = (input: string): boolean => input === "-" || input.startsWith("@");

export const nameProblems = ({ args: [skill] }: Call): readonly string[] =>
  skill === undefined || COMMAND_FORM.test(skill)
    ? []
    : [
        `A skill is called NAMESPACE/VERB in a-z, 0-9 and hyphens, not "${skill}"; programs run with agent spawn`,
      ];

export const runProblems = (call: Call): readonly string[] => {
  const input = call.flags.input as string | undefined;
  const isWrong = input !== undefined && !isElsewhere(input) && objectIn(input) === undefined;
  return [...nameProblems(call), ...(isWrong ? [`--input ${NO_OBJECT}`] : [])];
};

const workspaceOf = ({ flags, cwd }: Context): string =>
  resolve(cwd, (flags.workspace as string | undefined) ?? ".");

const textOf = async (context: Context, input: string): Promise<string> => {
  if (input === "-") return readStdin(context, PROMPT_MAX_BYTES);
  const path = resolve(context.cwd, input.slice(1));
  try {
    const bytes = await readBounded(path, PROMPT_MAX_BYTES);
    if (bytes !== undefined) return bytes.toString("utf8");
  } catch (cause) {
    throw invalid([`--input ${input} ${whyUnreadable(cause)}`], "run");
  }
  throw invalid([`--input ${input} is over ${PROMPT_MAX_BYTES} bytes`], "run");
};

const inputOf = async (context: Context): Promise<SkillArguments> => {
  const input = (context.flags.input as string | undefined) ?? "{}";
  const text = isElsewhere(input) ? await textOf(context, input) : input;
  const object = objectIn(text);
  if (object === undefined) throw invalid([`--input ${input} ${NO_OBJECT}`], "run");
  return object;
};

export const run: CommandHandler = async (context) => {
  const { call, flags, env } = context;
  const skill = call.args[0]!;
  const workspace = workspaceOf(context);
  const input = await inputOf(context);
  const client = await context.connect({ start: true });
  const { variables } = await client.request("skill/info", { skill, workspace });
  const named = [...variables, ...((flags.secret as string[] | undefined) ?? [])];
  const client_env = Object.fromEntries(
    named.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
  context.onInterrupt = { sentence: "The run of the skill is ended." };
  return client.ask("skill/run", {
    skill,
    input,
    workspace,
    timeout_ms: flags.timeout as number | undefined,
    profile: flags.profile as RequestInput<"skill/run">["profile"],
    client_env,
  });
};

export const list: CommandHandler = async (context) => {
  const client = await context.connect();
  return success(await client.request("skill/list", { workspace: workspaceOf(context) }));
};

export const show: CommandHandler = async (context) => {
  const client = await context.connect();
  return success(
    await client.request("skill/info", { skill: context.call.args[0]!, workspace: workspaceOf(context) }),
  );
};

export const check: CommandHandler = async (context) => {
  const folder = resolve(context.cwd, context.call.args[0]!);
  const client = await context.connect();
  const skill = await client.request("skill/check", { folder });
  const { problems } = skill;
  if (problems.length === 0) return success(skill);
  throw new HoldfastError(
    "INVALID_REQUEST",
    `The manifest of ${folder} has mistakes: ${problems.join("; ")}.`,
    {
      problems,
      phase: "validation",
    },
  );
};
