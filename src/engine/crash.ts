/**
 * Places at which a test ends the engine, as `base/crash-point` has them for the daemon. An entry of the journal has two:
 * before it is kept, and after.
 */

export const ENGINE_CRASH_POINTS = [
  "given-before",
  "given-after",
  "asking-before",
  "asking-after",
  /** The model has answered, in part. */
  "answering",
  "summarizing-before",
  "summarizing-after",
  "compacted-before",
  "compacted-after",
  "answered-before",
  "answered-after",
  "calling-before",
  "calling-after",
  /** The tool had its effect. */
  "called",
  "returned-before",
  "returned-after",
  "ended-before",
  "ended-after",
  /** The end of a turn is told. */
  "told",
] as const;
export type EngineCrashPoint = (typeof ENGINE_CRASH_POINTS)[number];

/** Called on each passage. */
export type AtCrashPoint = (point: EngineCrashPoint) => void;
