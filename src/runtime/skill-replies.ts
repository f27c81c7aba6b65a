/** The answers of the runtime about skills. The promise door shows these types, so they need none of Effect. */
import type { RunMeta } from "../protocol/outcome.ts";

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
  /** `asked`: the hosts that the input of a run names. */
  readonly network: "none" | "asked" | readonly string[];
  readonly files: "none" | "read" | "write";
  /** Names of its secrets. A field that is called `secrets` would be masked on its way. */
  readonly variables: readonly string[];
  readonly state: boolean;
  /** State of its circuit breaker: `open` refuses runs for a while. */
  readonly breaker: "closed" | "open" | "half_open";
  /** One sentence for each mistake of its manifest. */
  readonly problems: readonly string[];
}

export interface SkillsReply {
  readonly skills: readonly SkillView[];
}
