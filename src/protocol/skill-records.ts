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

/** One decision of the proxy of a run, before it is carried out. */
interface SkillConnection {
  /** `namespace/verb`. */
  readonly skill: string;
  /** `HOST:PORT`, or what the run asked for in its place. */
  readonly host: string;
  /** The first address that is connected; null where none is. */
  readonly address: string | null;
  readonly decision: "allowed" | "denied";
  /** The entry that allows it, or the rule that does not. */
  readonly rule: string;
  /** One sentence. */
  readonly reason: string;
  readonly clock: ClockStamp;
}

/** The payloads of records about skills, by their types: part of `RecordPayloads`. */
export interface SkillRecords {
  /** A run of a skill, or something that it tried, was refused. */
  skill_denied: SkillDenied;
  /** A run of a skill asked its proxy for a host. */
  skill_connection: SkillConnection;
}
