/** Skills as records tell them: what was denied, and by which rule. A run is on record as its worker. */
import type { ClockStamp } from "./clock-stamp.ts";

interface SkillDenied {
  /** `namespace/verb`. */
  readonly skill: string;
  readonly rule: string;
  /** One sentence. */
  readonly reason: string;
  /** Null: no profile was asked for. */
  readonly profile: string | null;
  readonly workspace: string;
  readonly by: string;
  readonly clock: ClockStamp;
}

/** The payloads of records about skills, by their types: part of `RecordPayloads`. */
export interface SkillRecords {
  /** A run of a skill, or something that it tried, was refused. */
  skill_denied: SkillDenied;
}
