/** The reserved skill commands of protocol-v1.txt, and skill/run for every other skill. */
import { Effect } from "effect";
import { type Outcome, success } from "../../protocol/outcome.ts";
import type { SkillAnswer } from "../../protocol/replies/skills.ts";
import type { RequestData } from "../../protocol/requests.ts";
import { BUILTIN_COMMANDS, type BuiltinCommand } from "../../protocol/words.ts";
import { type Handlers, type RequestHandler, read } from "./handler.ts";

const outcomeOf = ({ data, run }: SkillAnswer): Outcome<SkillAnswer["data"]> => ({
  ok: true,
  value: data,
  run,
});

/** It ends with its client: nobody else could take its answer. */
const reserved = <N extends BuiltinCommand>(skill: N): RequestHandler<N> => ({
  lifetime: "open",
  run: ({ runtime, caller }, data) => {
    const { workspace, timeout_ms, profile, client_env, ...input } = data as RequestData<BuiltinCommand>;
    const asked = { skill, input, workspace, timeout_ms, profile, client_env, caller: caller() };
    return Effect.map(runtime.skills.run(asked), outcomeOf) as ReturnType<RequestHandler<N>["run"]>;
  },
});

const builtin = Object.fromEntries(
  BUILTIN_COMMANDS.map((name) => [name, reserved(name)]),
) as unknown as Handlers<BuiltinCommand>;

export const SKILLS: Handlers<
  "skill/run" | "skill/list" | "skill/tools" | "skill/info" | "skill/check" | BuiltinCommand
> = {
  "skill/run": {
    lifetime: "open",
    run: ({ runtime, caller }, asked) =>
      Effect.map(runtime.skills.run({ ...asked, caller: caller() }), outcomeOf),
  },
  "skill/list": read(({ skills }, { workspace }) => skills.list(workspace)),
  "skill/tools": {
    lifetime: "read",
    run: ({ runtime, caller }, asked) =>
      Effect.map(runtime.skills.tools({ ...asked, caller: caller() }), (reply) => success(reply)),
  },
  "skill/info": read(({ skills }, { skill, workspace }) => skills.info(skill, workspace)),
  "skill/check": read(({ skills }, { folder }) => skills.check(folder)),
  ...builtin,
};
