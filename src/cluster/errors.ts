/** Why a cluster does not take this node, with the next step for a person. */
import { formatDuration } from "../base/durations.ts";

const HOUR_MS = 3_600_000;

export class ClusterError extends Error {
  readonly next: string;
  constructor(message: string, next: string) {
    super(message);
    this.next = next;
  }
}

/** A worker has another term or node by now than the one who asks for it. */
export class RightOverError extends ClusterError {
  constructor(worker: string) {
    super(`This node has no right to ${worker} any more.`, "See where it runs with: agent cluster status");
  }
}

/** The days that are old by the clock of the database may be needed. */
export class ClockAheadError extends ClusterError {
  constructor(ahead_ms: number) {
    const ahead = formatDuration(Math.floor(ahead_ms / HOUR_MS) * HOUR_MS);
    super(
      `The clock of the database is ${ahead} ahead of this node's, so this node drops nothing.`,
      "Set the one that is wrong.",
    );
  }
}

/** Its name is held by a lease that is not its own. */
export class NameHeldError extends ClusterError {
  constructor(name: string, isOwnLog: boolean) {
    if (isOwnLog)
      super(
        `A lease of ${name} is not over that this daemon does not hold: an earlier one, or that of a copy of its state directory.`,
        "If it stays so, stop the daemon of the copy, and delete cluster.json there.",
      );
    else
      super(
        `Another daemon is the node ${name} now, so this one is no node.`,
        "Leave with agent cluster leave, and join under another name: agent cluster join URL --name NAME",
      );
  }
}
