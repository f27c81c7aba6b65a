/**
 * Named places at which a chaos test makes the daemon, the command that upgrades it, or a process of a hub die
 * (docs/explanation/chaos.md). Only these programs arm a crash point, from their own environment. They never hand the variable
 * on (daemon/start.ts).
 * In every other process a passage costs one comparison.
 */

export const CRASH_POINTS = [
  /** The database is made: its schema is written but not committed. */
  "migration",
  /** The log is folded again, but its tables are not, or not all, corrected. */
  "rebuild",
  /** A successor has loaded and waits for the lock. */
  "take-over-ready",
  /** The lock is held, but daemon.json does not say so. */
  "lock-before-name",
  /** Runs that die with their daemon know of the next daemon, but it does not hold their lifeline yet. */
  "lifeline-before-hold",
  /** The lock is held, but the log is not open. */
  "boot-before-log",
  /** Before a recorded worker is looked up. */
  "boot-worker",
  /** A run is found, but its adoption is not on record. */
  "boot-adoption",
  /** Every worker is reconciled, but no client can connect yet. */
  "boot-before-socket",
  "append-before",
  /** The records are inserted, but the projections are not. */
  "append-mid-projection",
  "append-before-commit",
  "append-after",
  /** A batch of an agent's output is on record, but the next one is not read. */
  "intake-between-batches",
  /** A spawn is allowed: its launch spec is in a file, but no record mentions it. */
  "spawn-spec-saved",
  /** A run of a schedule is on record, but its worker is not. */
  "schedule-due",
  /** The worker of a run is on record, but its schedule does not know it. */
  "schedule-spawned",
  /** The incarnation is on record and its directory exists, but no process does. */
  "launch-before-spawn",
  "launch-before-pid",
  /** The agent runs, but no record has its pid. */
  "launch-before-record",
  "launch-after-record",
  "signal-before",
  "signal-before-record",
  /** The agent has exited. */
  "exit-before-sweep",
  /** A process that the sweep found is stopped, but not killed. */
  "sweep-before-kill",
  "exit-before-record",
  "exit-after-record",
  /** A run is claimed for a life of its bridge, but the bridge does not know of it. */
  "bridge-claimed",
  /** The bridge has begun a run, but no record has its name there. */
  "bridge-started",
  /** Output of a bridge is in the run's file, but none of it is on record. */
  "bridge-output",
  /** The bridge has told an end, but it is in no file. */
  "bridge-exit",
  /** The end is in the run's file, but not on record. */
  "bridge-ended",
  /** A pause is on record, but its agent still runs. */
  "pause-before-signal",
  /** Some processes of the agent stand still, but not all. */
  "pause-mid-signal",
  /** The end of the pause is on record, but the agent still stands still. */
  "unpause-before-signal",
  /** The secret words of a message are in a file, but no record mentions the file. */
  "message-kept",
  /** A message is on record, but its sender does not know. */
  "message-accepted",
  /** It is the turn of a message, but none of it is in the agent's input. */
  "message-before-write",
  /** The bytes of a message are in the agent's input, but no record says so. */
  "message-before-record",
  /** A permission request is decided, but no record says so. */
  "approval-before-record",
  /** The answer to a permission request is on record, but the agent does not know it. */
  "approval-after-record",
  /** The agent's input is closed, but no record says so. */
  "input-ended",
  /** The passivation of an idle agent is on record, but its input is not closed. */
  "passivate-before-end",
  /** A thread has begun to read the log, in order to check, fold or archive it. */
  "offload-begun",
  /** An archive is written, but the log does not know it. */
  "gc-archived",
  /** The log knows the archive, but still has all of its records. */
  "gc-known",
  /** In the transaction of a slice: some of its records are removed, but no gap stands for them. */
  "gc-mid-slice",
  /** A slice of the archived records is removed from the log. */
  "gc-mid-removal",
  /** All archived records are removed, but the archive is not marked as done. */
  "gc-before-done",
  /** Some pages are given back to the disk. */
  "gc-mid-vacuum",
  /** A release is on record, but the hole is not punched. */
  "release-before-punch",
  /** The write-ahead log was deleted: its database is closed and not open again. */
  "reopen",
  /** The database file was deleted: a whole copy exists under another name. */
  "write-back-whole",
  /** The remains of the deleted database are gone, but the copy does not have its name yet. */
  "write-back-before-name",
  /** A record is read for notifications, but what it makes is not in the outbox. */
  "notify-taken",
  /** The outbox is written, but does not have its name yet. */
  "notify-before-name",
  /** It is the turn of a notification, but nobody was told. */
  "notify-before-send",
  /** A target has taken a notification, but the outbox still has it. */
  "notify-sent",
  /** A gateway, or a command of a hub, has changed a file, or has the answer of its daemon or of another hub, and has not gone on. */
  "weblisk-step",
  "answer-before",
  "answer-after",
  /** The daemon was asked to stop, and releases its agents. */
  "shutdown",
  /** daemon.json is gone, but the lock is still held. */
  "lock-before-release",
  "lock-released",
  /** `agent daemon upgrade`: the successor waits, but the old daemon does not know. */
  "upgrade-before-stop",
  /** The old daemon was asked to stop, but the upgrade does not check yet whether the next one answers. */
  "upgrade-after-stop",
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

let armed: CrashPoint | undefined;
let left = 0;
let die: () => void = () => undefined;

/** Arms what the environment of this process says; it dies by SIGKILL. */
export const armHere = (env: Readonly<Record<string, string | undefined>>): void =>
  armCrashPoint(env[CRASH_VARIABLE], () => process.kill(process.pid, "SIGKILL"));

/** Arms POINT:N, the N-th passage from now on. Throws if `wanted` has another form. Arms nothing if it is undefined. */
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

/** Set in the environment of the daemon's own process only. */
export const CRASH_VARIABLE = "HOLDFAST_CRASH_AT";
/** The same for the first gateway of a Weblisk server. */
export const GATEWAY_CRASH_VARIABLE = "HOLDFAST_GATEWAY_CRASH_AT";
