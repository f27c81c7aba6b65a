/**
 * Named places at which a chaos test lets the daemon die (docs/chaos.md). Only the daemon's own program arms one, from
 * its own environment, which a client cannot write into (daemon/start.ts); everywhere else a passage costs one comparison.
 */

export const CRASH_POINTS = [
  /** The database is made: its schema is written and not committed. */
  "migration",
  /** The log is folded anew, and its tables are not put right, or not all of them. */
  "rebuild",
  /** The lock is held, the log is not open. */
  "boot-before-log",
  /** Before a recorded worker is looked up. */
  "boot-worker",
  /** A run is found, its adoption is not on record. */
  "boot-adoption",
  /** All is reconciled, and nobody can ask yet. */
  "boot-before-socket",
  "append-before",
  /** The records are inserted, the projections are not. */
  "append-mid-projection",
  "append-before-commit",
  "append-after",
  /** A batch of an agent's output is on record, and the next one is not read. */
  "intake-between-batches",
  /** A spawn is allowed: its launch spec is a file, and no record tells of it. */
  "spawn-spec-saved",
  /** The incarnation is on record, its directory is made, no process is. */
  "launch-before-spawn",
  "launch-before-pid",
  /** The agent runs, and no record tells its pid. */
  "launch-before-record",
  "launch-after-record",
  "signal-before",
  "signal-before-record",
  /** The agent has exited. */
  "exit-before-sweep",
  /** What the sweep found is stopped, and not killed. */
  "sweep-before-kill",
  "exit-before-record",
  "exit-after-record",
  /** A pause is on record, its agent runs. */
  "pause-before-signal",
  /** A message is on record, and whoever sent it does not know. */
  "message-accepted",
  /** Its bytes are in the agent's input, no record tells. */
  "message-before-record",
  /** An archive is whole, the log does not know it. */
  "gc-archived",
  /** A slice of what it holds is removed from the log. */
  "gc-mid-removal",
  /** All of it is removed, the archive is not done. */
  "gc-before-done",
  /** What is released is noted, the hole is not punched. */
  "release-before-punch",
  "answer-before",
  "answer-after",
  /** The daemon was asked to stop, and lets go of its agents. */
  "shutdown",
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

let armed: CrashPoint | undefined;
let left = 0;
let die: () => void = () => undefined;

/** `wanted` is POINT:N, the N-th passage from now on. Throws where it is not; without it nothing is armed. */
export const armCrashPoint = (wanted: string | undefined, crash: () => void): void => {
  if (wanted === undefined) return;
  const [name, passage] = wanted.split(":");
  const point = CRASH_POINTS.find((one) => one === name);
  if (point === undefined || !/^[1-9]\d*$/.test(passage ?? ""))
    throw new Error(`${CRASH_VARIABLE} is POINT:N, a crash point and its passage, not "${wanted}".`);
  [armed, left, die] = [point, Number(passage), crash];
};

export const crashPoint = (name: CrashPoint): void => {
  if (name !== armed) return;
  left -= 1;
  if (left === 0) die();
};

/** In the environment of the daemon's own process, and never handed on. */
export const CRASH_VARIABLE = "HOLDFAST_CRASH_AT";
