/**
 * Decides what a tree needs next, from its wanted and its actual state. Pure, total and idempotent: each action, once
 * carried out, leads to a state with another answer, and a tree in its wanted state needs nothing. It runs after every
 * decision, at boot and periodically.
 *
 * A supervisor's operation follows OTP (supervisor.erl, terminate_children/2, start_children/2): stop right to left, then
 * start left to right, each child once the one before it is down or up. Siblings without an order (docs/decisions/0037)
 * begin in the same order, but no child waits for them.
 */
import { TREE_STARTS_MAX, TREE_STOPS_MAX } from "../../base/limits.ts";
import { isEnded } from "../../protocol/worker.ts";
import {
  type ChildRef,
  isAlive,
  isInService,
  isTombstone,
  isUp,
  memberOf,
  type SupervisorState,
  supervisorOf,
  type TreeState,
} from "./state.ts";

export type PlanAction =
  | {
      readonly type: "start_worker";
      readonly worker_id: string;
      readonly reason: string;
      readonly asked: boolean;
    }
  | { readonly type: "start_supervisor"; readonly path: string }
  | { readonly type: "stop_worker"; readonly worker_id: string; readonly reason: string }
  | { readonly type: "stop_supervisor"; readonly path: string; readonly removed: boolean }
  /** A supervisor's operation has no child left to stop: start them, or end. */
  | { readonly type: "stopped"; readonly path: string }
  /** Every child of the operation is up, or need not be. */
  | { readonly type: "started"; readonly path: string }
  /** A child that was removed from its file is down. */
  | { readonly type: "forget"; readonly path: string; readonly worker_id: string | null };

/** The next action to take now. A later action may depend on an earlier one, so ask again after each. */
export const plan = (tree: TreeState, nowMs: number): PlanAction | undefined => {
  for (const supervisor of tree.supervisors.values()) {
    const action = leaving(tree, supervisor) ?? next(tree, supervisor, nowMs);
    if (action !== undefined) return action;
  }
  return undefined;
};

/** When to plan again: the earliest end of a delay. */
export const wakeAt = (tree: TreeState, nowMs: number): number | undefined => {
  let earliest: number | undefined;
  for (const { operation } of tree.supervisors.values()) {
    if (operation === null || operation.stage !== "starting" || operation.due_ms <= nowMs) continue;
    earliest = Math.min(earliest ?? operation.due_ms, operation.due_ms);
  }
  return earliest;
};

const next = (tree: TreeState, supervisor: SupervisorState, nowMs: number): PlanAction | undefined => {
  const { path, phase, operation } = supervisor;
  if (operation === null) return phase === "running" ? unstarted(tree, supervisor) : undefined;
  if (operation.stage === "stopping") return stopping(tree, supervisor);
  if (nowMs < operation.due_ms) return undefined;
  return phase === "backing_off" ? { type: "start_supervisor", path } : starting(tree, supervisor);
};

/** Children of the operation, in start order. */
const scopeOf = ({ children, operation }: SupervisorState): readonly ChildRef[] => {
  const names = new Set(operation?.scope);
  return children.filter((ref) => !ref.removed && names.has(ref.name));
};

/** Whether neither the start of a later sibling nor the stop of this child has to wait: nothing orders the two, except a `depends_on`. */
const isUnordered = (tree: TreeState, { config }: SupervisorState, { worker_id }: ChildRef): boolean =>
  config.strategy === "one_for_one" && worker_id !== null && !memberOf(tree, worker_id).child.awaits_ready;

const stopping = (tree: TreeState, supervisor: SupervisorState): PlanAction | undefined => {
  const { operation } = supervisor;
  const scope =
    operation?.kind === "stop"
      ? supervisor.children
      : scopeOf(supervisor).filter(({ name }) => operation?.anew?.includes(name) ?? true);
  const alive = scope.filter((ref) => isAlive(tree, ref));
  if (alive.length === 0) return { type: "stopped", path: supervisor.path };
  // simple_one_for_one has no order: its children are stopped all at once (supervisor.erl, terminate_dynamic_children/1).
  const turn = supervisor.config.strategy === "dynamic" ? alive : together(tree, supervisor, alive);
  for (const ref of turn) {
    const action = stop(tree, supervisor, ref);
    if (action !== undefined) return action;
  }
  return undefined;
};

/** The last living children, right to left, as long as none must wait for the end of another. */
const together = (
  tree: TreeState,
  supervisor: SupervisorState,
  alive: readonly ChildRef[],
): readonly ChildRef[] => {
  const turn: ChildRef[] = [];
  const needed = new Set<string>();
  for (const ref of alive.toReversed()) {
    const waits = needed.has(ref.path) || !isUnordered(tree, supervisor, ref);
    if (turn.length > 0 && (waits || turn.length >= TREE_STOPS_MAX)) break;
    turn.push(ref);
    if (ref.worker_id === null) break;
    for (const path of ref.depends_on) needed.add(path);
  }
  return turn;
};

/** The command that stops a child; undefined if it is already stopping, or has not begun to live. */
const stop = (tree: TreeState, supervisor: SupervisorState, ref: ChildRef): PlanAction | undefined => {
  if (ref.worker_id === null) {
    const state = supervisorOf(tree, ref.path);
    return state.phase === "stopping"
      ? undefined
      : { type: "stop_supervisor", path: ref.path, removed: ref.removed };
  }
  const { child } = memberOf(tree, ref.worker_id);
  const goesDown = child.stop?.kind === "shutdown" || child.stop?.kind === "kill";
  // A child that was just told to start can be stopped once its start is on record.
  if (goesDown || (!child.open && tree.launching.has(ref.worker_id))) return undefined;
  return {
    type: "stop_worker",
    worker_id: ref.worker_id,
    reason: ref.removed ? "it is in its file no more" : `${supervisor.path}: ${supervisor.reason}`,
  };
};

const starting = (tree: TreeState, supervisor: SupervisorState): PlanAction | undefined => {
  const { operation, reason } = supervisor;
  const started = new Set(operation?.started);
  let isWaiting = false;
  let launches = 0;
  for (const ref of scopeOf(supervisor)) {
    if (isTombstone(tree, ref) || isUp(tree, ref)) continue;
    if (isAlive(tree, ref)) {
      if (!isUnordered(tree, supervisor, ref)) return undefined;
      isWaiting = true;
      if (isLaunching(tree, ref)) launches += 1;
      continue;
    }
    // The child was started and is already over: completed, temporary, parked.
    if (started.has(ref.name) || staysDown(tree, supervisor, ref)) continue;
    if (!ref.depends_on.every((path) => isReady(tree, path))) return undefined;
    if (ref.worker_id === null) return isWaiting ? undefined : { type: "start_supervisor", path: ref.path };
    if (launches >= TREE_STARTS_MAX) return undefined;
    return { type: "start_worker", worker_id: ref.worker_id, reason, asked: operation?.asked === true };
  }
  return isWaiting ? undefined : { type: "started", path: supervisor.path };
};

/** The child was told to start, but its process is not on record yet. */
const isLaunching = (tree: TreeState, { worker_id }: ChildRef): boolean => {
  if (worker_id === null) return false;
  const { child } = memberOf(tree, worker_id);
  return tree.launching.has(worker_id) || (child.open && !child.spawned);
};

/**
 * Children that the restart of a sibling does not start again: a temporary one (OTP: supervisor.erl, del_child/2), and a
 * parked one, which only a start by name revives.
 */
const staysDown = (tree: TreeState, { operation }: SupervisorState, ref: ChildRef): boolean => {
  if (operation?.kind !== "restart" || operation.asked === true) return false;
  if (ref.worker_id === null) {
    const { config, phase } = supervisorOf(tree, ref.path);
    return phase === "parked" || (config.restart === "temporary" && phase === "terminated");
  }
  const { child } = memberOf(tree, ref.worker_id);
  return child.state === "parked" || (child.policy === "temporary" && isEnded(child.state));
};

/** A child that a user keeps down counts as ready. */
const isReady = (tree: TreeState, path: string): boolean => {
  for (const supervisor of tree.supervisors.values()) {
    const ref = supervisor.children.find((one) => one.path === path);
    if (ref !== undefined) return isUp(tree, ref) || isTombstone(tree, ref) || hasCompleted(tree, ref);
  }
  return true;
};

/** compose's service_completed_successfully: a job counts as ready once it has completed. */
const hasCompleted = (tree: TreeState, ref: ChildRef): boolean =>
  ref.worker_id !== null && memberOf(tree, ref.worker_id).child.state === "completed";

/** A dynamic child that was recorded but not begun when the last daemon died. */
const unstarted = (tree: TreeState, { path, config, children }: SupervisorState): PlanAction | undefined => {
  if (config.strategy !== "dynamic" || !isInService(tree, path)) return undefined;
  for (const { worker_id } of children) {
    if (worker_id === null || tree.launching.has(worker_id)) continue;
    const { child } = memberOf(tree, worker_id);
    if (child.state === "pending" && child.incarnation === 0)
      return { type: "start_worker", worker_id, reason: "spawn", asked: false };
  }
  return undefined;
};

/** Stops or forgets children that were removed from the file, whatever their supervisor does. */
const leaving = (tree: TreeState, supervisor: SupervisorState): PlanAction | undefined => {
  for (const ref of supervisor.children) {
    if (!ref.removed) continue;
    if (!isAlive(tree, ref)) return { type: "forget", path: ref.path, worker_id: ref.worker_id };
    const action = stop(tree, supervisor, ref);
    if (action !== undefined) return action;
  }
  return undefined;
};
