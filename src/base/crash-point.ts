/**
 * Named places at which a chaos test lets the daemon die (docs/chaos.md), or the command that upgrades it. Only these two
 * programs arm one, from their own environment, and never hand it on (daemon/start.ts); everywhere else a passage costs one
 * comparison.
 */

export const CRASH_POINTS = [
  /** The database is made: its schema is written and not committed. */
  "migration",
  /** The log is folded anew, and its tables are not put right, or not all of them. */
  "rebuild",
  /** A successor has loaded and waits for the lock. */
  "take-over-ready",
  /** The lock is held, and daemon.json does not say so. */
  "lock-before-name",
  /** Runs that die with the daemon are told that there is a next one, and it does not hold their lifeline. */
  "lifeline-before-hold",
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
  /** A process that the sweep found is stopped, and not killed. */
  "sweep-before-kill",
  "exit-before-record",
  "exit-after-record",
  /** A pause is on record, its agent runs. */
  "pause-before-signal",
  /** Some of its processes stand still, and not all. */
  "pause-mid-signal",
  /** Its end is on record, its agent stands still. */
  "unpause-before-signal",
  /** The secret words of a message are in a file, and no record tells of it. */
  "message-kept",
  /** A message is on record, and whoever sent it does not know. */
  "message-accepted",
  /** It is its turn, and nothing of it is in the agent's input. */
  "message-before-write",
  /** Its bytes are in the agent's input, no record tells. */
  "message-before-record",
  /** A request for permission is decided, and no record tells. */
  "approval-before-record",
  /** The answer is on record, and the agent does not know it. */
  "approval-after-record",
  /** The agent's input has its end, no record tells. */
  "input-ended",
  /** It is on record that an idle agent is to rest, and its input has no end. */
  "passivate-before-end",
  /** A thread has begun to read the log, to check, fold or archive it. */
  "offload-begun",
  /** An archive is whole, the log does not know it. */
  "gc-archived",
  /** The log knows it, and has all that it holds. */
  "gc-known",
  /** In the transaction of a slice: some of its records are removed, no gap stands for them. */
  "gc-mid-slice",
  /** A slice of what it holds is removed from the log. */
  "gc-mid-removal",
  /** All of it is removed, the archive is not done. */
  "gc-before-done",
  /** Some of the pages are given back to the disk. */
  "gc-mid-vacuum",
  /** A release is noted, the hole is not punched. */
  "release-before-punch",
  /** The write-ahead log was deleted: its database is closed, and not open again. */
  "reopen",
  /** The database was deleted: there is a whole copy, under another name. */
  "write-back-whole",
  /** Nothing of the deleted one is left, the copy has not its name. */
  "write-back-before-name",
  "answer-before",
  "answer-after",
  /** The daemon was asked to stop, and lets go of its agents. */
  "shutdown",
  /** daemon.json is gone, the lock is held. */
  "lock-before-release",
  "lock-released",
  /** `agent daemon upgrade`: the successor waits, the old daemon is not told. */
  "upgrade-before-stop",
  /** The old one was told to stop, nobody looks whether the next one answers. */
  "upgrade-after-stop",
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
