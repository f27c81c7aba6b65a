/**
 * The supervisor's memory of a file's tree: its supervisors, its workers and their places. Folded from records by
 * `evolve.ts`, never stored. A decision works on a draft, which becomes the state once its records are in the log.
 */

import type { SupervisorConfig, SupervisorPhase } from "../../protocol/tree.ts";
import type { SupervisorOperation } from "../../protocol/tree-records.ts";
import type { ChildState } from "../child/inputs.ts";

/** A child as its supervisor lists it, in start order. */
export interface ChildRef {
  readonly name: string;
  readonly path: string;
  /** Null for a supervisor. */
  readonly worker_id: string | null;
  readonly depends_on: readonly string[];
  /** It was removed from the tree, so it is stopped and forgotten. */
  readonly removed: boolean;
}

/** An operation in progress: when its starts are due, and which children it has started. */
export type Operation = SupervisorOperation & {
  readonly due_ms: number;
  readonly started: readonly string[];
};

export interface CountedRestart {
  /** Monotonic. */
  readonly at_ms: number;
  /** Name of the child whose end caused the restart. */
  readonly child: string;
}

export interface SupervisorState {
  readonly path: string;
  /** Path of its own supervisor; null at the top of the file. */
  readonly parent: string | null;
  readonly config: SupervisorConfig;
  readonly children: readonly ChildRef[];
  readonly phase: SupervisorPhase;
  readonly reason: string;
  readonly operation: Operation | null;
  /** The restarts that its window counts. */
  readonly restarts: readonly CountedRestart[];
  /** Killed by name: only a start by name revives it. */
  readonly tombstone: boolean;
  /** The last user that asked for an action on it by name. */
  readonly asked_by?: string;
}

/** One worker as a member of the tree. */
export interface Member {
  readonly child: ChildState;
  readonly path: string;
  readonly supervisor: string;
  readonly significant: boolean;
  readonly shutdown: "grace" | "brutal_kill" | "infinity";
  readonly grace_ms: number;
}

export interface TreeState {
  readonly name: string;
  readonly file: string;
  readonly supervisors: ReadonlyMap<string, SupervisorState>;
  readonly members: ReadonlyMap<string, Member>;
  /** Workers that were told to start, without a record of the start yet. Not folded: after a crash no start is on its way. */
  readonly launching: ReadonlySet<string>;
}

export const topOf = (tree: TreeState): SupervisorState => supervisorOf(tree, tree.name);

export const supervisorOf = (tree: TreeState, path: string): SupervisorState => {
  const found = tree.supervisors.get(path);
  if (found === undefined) throw new Error(`no supervisor ${path} in tree ${tree.name}`);
  return found;
};

export const memberOf = (tree: TreeState, workerId: string): Member => {
  const found = tree.members.get(workerId);
  if (found === undefined) throw new Error(`no worker ${workerId} in tree ${tree.name}`);
  return found;
};

/** Its children run, or are being started. */
export const isRunning = ({ phase }: SupervisorState): boolean =>
  phase === "running" || phase === "restarting" || phase === "starting";

/** It and all supervisors above it run, so a child can be started by name. */
export const isInService = (tree: TreeState, path: string | null): boolean =>
  outOfService(tree, path) === undefined;

/** The nearest supervisor that does not run, from this one upwards. */
export const outOfService = (tree: TreeState, path: string | null): SupervisorState | undefined => {
  if (path === null) return undefined;
  const supervisor = supervisorOf(tree, path);
  return isRunning(supervisor) ? outOfService(tree, supervisor.parent) : supervisor;
};

/** A user kills it or takes it down, and its children are being stopped for that: no start undoes it. */
export const isBeingEnded = ({ phase, operation }: SupervisorState): boolean =>
  phase === "stopping" && (operation?.end === "killed" || operation?.end === "down");

/** Between two incarnations with a living shell: the worker waits for a time, or for an answer. */
export const rests = ({ state }: Pick<ChildState, "state">): boolean =>
  state === "backing_off" || state === "waiting";

/** Some process of the child runs, or will start by itself. */
export const isAlive = (tree: TreeState, ref: ChildRef): boolean => {
  if (ref.worker_id === null) {
    const { phase } = supervisorOf(tree, ref.path);
    return phase !== "pending" && phase !== "terminated" && phase !== "parked";
  }
  const { child } = memberOf(tree, ref.worker_id);
  return child.open || rests(child) || tree.launching.has(ref.worker_id);
};

/** The child counts as started, so that the next one may start. */
export const isUp = (tree: TreeState, ref: ChildRef): boolean => {
  if (ref.worker_id === null) return supervisorOf(tree, ref.path).phase === "running";
  const { child } = memberOf(tree, ref.worker_id);
  return child.open && child.ready && child.stop === null;
};

export const isTombstone = (tree: TreeState, ref: ChildRef): boolean =>
  ref.worker_id === null
    ? supervisorOf(tree, ref.path).tombstone
    : memberOf(tree, ref.worker_id).child.tombstone;

/** The child at a path, with its supervisor. */
export const findRef = (
  tree: TreeState,
  path: string,
): { readonly supervisor: SupervisorState; readonly ref: ChildRef } | undefined => {
  for (const supervisor of tree.supervisors.values()) {
    const ref = supervisor.children.find((one) => one.path === path);
    if (ref !== undefined) return { supervisor, ref };
  }
  return undefined;
};

/** All workers at and below a supervisor, in start order. */
export const workersBelow = (tree: TreeState, path: string): readonly Member[] =>
  supervisorOf(tree, path).children.flatMap((ref) =>
    ref.worker_id === null ? workersBelow(tree, ref.path) : [memberOf(tree, ref.worker_id)],
  );
