/** Skills as their users see them: part of `RuntimeApi`. */
import type { Effect } from "effect";
import type { Caller } from "../protocol/caller.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { RunMeta } from "../protocol/outcome.ts";
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

/** The `data` of the skill's envelope, with its secrets masked, and how it was made. */
export interface SkillAnswer {
  readonly data: Readonly<Record<string, unknown>>;
  readonly run: RunMeta;
}

export interface SkillView {
  readonly skill: string;
  readonly summary: string;
  /** Null for a folder that cannot be run: `problems` says why, or it is a SKILL.md of instructions. */
  readonly version: string | null;
  readonly runner: RunMeta["runner"] | null;
  readonly origin: "built_in" | "state" | "configured" | "project";
  readonly folder: string | null;
  readonly network: "none" | readonly string[];
  readonly files: "none" | "read" | "write";
  readonly secrets: readonly string[];
  readonly state: boolean;
  /** State of its circuit breaker: `open` refuses runs for a while. */
  readonly breaker: "closed" | "open" | "half_open";
  /** One sentence for each mistake of its manifest. */
  readonly problems: readonly string[];
}

export interface SkillsReply {
  readonly skills: readonly SkillView[];
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
  /** Reads the manifest of a folder. Fails with SKILL_NOT_FOUND where there is none. */
  check(folder: string): Effect.Effect<SkillView, HoldfastError>;
  info(skill: string, workspace: string): Effect.Effect<SkillView, HoldfastError>;
}
