/** Skills as their users see them: part of `RuntimeApi`. */
import { Effect } from "effect";
import type { Caller } from "../protocol/caller.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { SkillAnswer, SkillsReply, SkillToolsReply, SkillView } from "../protocol/replies/skills.ts";
import type { ProfileName } from "../protocol/words.ts";

export interface SkillAsked {
  /** `namespace/verb`. */
  readonly skill: string;
  readonly input?: Readonly<Record<string, unknown>> | undefined;
  /** An absolute directory. */
  readonly workspace: string;
  readonly timeout_ms?: number | undefined;
  readonly profile?: ProfileName | undefined;
  /** Variables of the client, for the secrets that the skill declares. */
  readonly client_env?: Readonly<Record<string, string>> | undefined;
  readonly caller?: Caller | undefined;
}

export interface SkillsApi {
  /**
   * Runs a skill in its sandbox and answers once it has ended. Fails with SKILL_NOT_FOUND; POLICY_VIOLATION, whose
   * `details.rule` names the rule; SANDBOX_UNAVAILABLE; SKILL_DOWN while its breaker is open; TIMEOUT; SKILL_ENVELOPE_INVALID,
   * SKILL_OUTPUT_UNREADABLE and SKILL_OUTPUT_TOO_LARGE for what it printed; or with the skill's own error. An interruption
   * kills the run.
   */
  run(asked: SkillAsked): Effect.Effect<SkillAnswer, HoldfastError>;
  /** The skills of a workspace, those that cannot be run too. */
  list(workspace: string): Effect.Effect<SkillsReply, HoldfastError>;
  /** The skills that the caller may run, under their profiles and those of the request, as a model sees tools. */
  tools(
    asked: Pick<SkillAsked, "workspace" | "profile" | "caller">,
  ): Effect.Effect<SkillToolsReply, HoldfastError>;
  /** Reads the manifest of a folder. Fails with SKILL_NOT_FOUND where there is none. */
  check(folder: string): Effect.Effect<SkillView, HoldfastError>;
  info(skill: string, workspace: string): Effect.Effect<SkillView, HoldfastError>;
}

/** Loads the code of skills with the first call: most daemons run none. */
export const skillsOnDemand = (load: () => Promise<SkillsApi>): SkillsApi => {
  let loading: Promise<SkillsApi> | undefined;
  const skills = Effect.promise(() => {
    loading ??= load();
    return loading;
  });
  return {
    run: (asked) => Effect.flatMap(skills, (api) => api.run(asked)),
    list: (workspace) => Effect.flatMap(skills, (api) => api.list(workspace)),
    tools: (asked) => Effect.flatMap(skills, (api) => api.tools(asked)),
    check: (folder) => Effect.flatMap(skills, (api) => api.check(folder)),
    info: (skill, workspace) => Effect.flatMap(skills, (api) => api.info(skill, workspace)),
  };
};
