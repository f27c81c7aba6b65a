/**
 * `plan`: what a tree, as it is wanted and as it is, needs next. Pure, total and idempotent: carried out, every action leads to
 * a state for which it answers something else, and a tree that is as it should be needs nothing. Run after every decision, at
 * boot and on a period.
 *
 * An operation of a supervisor is carried out one child at a time, as OTP does it (supervisor.erl, terminate_children/2,
 * start_children/2): stop right to left, then start left to right, each child once the one before it is down or up.
 */
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
  /** Every child of its operation is up, or need not be. */
  | { readonly type: "started"; readonly path: string }
  /** A child that its file has no more is down. */
  | { readonly type: "forget"; readonly path: string; readonly worker_id: string | null };

/** The actions that can be taken now; a later one may depend on what an earlier one leads to, so ask again after each. */
export const plan = (tree: TreeState, nowMs: number): PlanAction | undefined => {
  for (const supervisor of tree.supervisors.values()) {
    const action = leaving(tree, supervisor) ?? next(tree, supervisor, nowMs);
    if (action !== undefined) return action;
  }
  return undefined;
};

/** When to look again: the earliest end of a delay. */
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
const scopeOf = ({ children, operation }: SupervisorState): readonly ChildRef[] =>
  children.filter((ref) => !ref.removed && operation?.scope.includes(ref.name) === true);

const stopping = (tree: TreeState, supervisor: SupervisorState): PlanAction | undefined => {
  const { operation } = supervisor;
  const scope =
    operation?.kind === "stop"
      ? supervisor.children
      : scopeOf(supervisor).filter(({ name }) => operation?.anew?.includes(name) ?? true);
  const alive = scope.filter((ref) => isAlive(tree, ref));
  if (alive.length === 0) return { type: "stopped", path: supervisor.path };
  // simple_one_for_one has no order: all of its children are stopped at once (supervisor.erl, terminate_dynamic_children/1).
  const turn = supervisor.config.strategy === "dynamic" ? alive : alive.slice(-1);
  for (const ref of turn) {
    const action = stop(tree, supervisor, ref);
    if (action !== undefined) return action;
  }
  return undefined;
};

/** The command that asks a child to stop; undefined while it does so already, or has not begun to live. */
const stop = (tree: TreeState, supervisor: SupervisorState, ref: ChildRef): PlanAction | undefined => {
  if (ref.worker_id === null) {
    const state = supervisorOf(tree, ref.path);
    return state.phase === "stopping"
      ? undefined
      : { type: "stop_supervisor", path: ref.path, removed: ref.removed };
  }
  const { child } = memberOf(tree, ref.worker_id);
  const goesDown = child.stop?.kind === "shutdown" || child.stop?.kind === "kill";
  // Told to start a moment ago: it can be stopped once its start is on record.
  if (goesDown || (!child.open && tree.launching.has(ref.worker_id))) return undefined;
  return {
    type: "stop_worker",
    worker_id: ref.worker_id,
    reason: ref.removed ? "it is in its file no more" : `${supervisor.path}: ${supervisor.reason}`,
  };
};

const starting = (tree: TreeState, supervisor: SupervisorState): PlanAction | undefined => {
  for (const ref of scopeOf(supervisor)) {
    if (isTombstone(tree, ref) || isUp(tree, ref)) continue;
    const begun =
      supervisor.operation?.started.includes(ref.name) === true ||
      (ref.worker_id !== null && tree.launching.has(ref.worker_id));
    if (isAlive(tree, ref)) return undefined;
    // It was started and is over already: completed, temporary, parked.
    if (begun || staysDown(tree, supervisor, ref)) continue;
    if (!ref.depends_on.every((path) => isReady(tree, path))) return undefined;
    if (ref.worker_id === null) return { type: "start_supervisor", path: ref.path };
    const asked = supervisor.operation?.asked === true;
    return { type: "start_worker", worker_id: ref.worker_id, reason: supervisor.reason, asked };
  }
  return { type: "started", path: supervisor.path };
};

/**
 * Children that the restart of a sibling does not start again: a temporary one (OTP: supervisor.erl, del_child/2), and one that is parked
 * until it is started by name.
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

/** A child that stays down by somebody's wish is not waited for. */
const isReady = (tree: TreeState, path: string): boolean => {
  for (const supervisor of tree.supervisors.values()) {
    const ref = supervisor.children.find((one) => one.path === path);
    if (ref !== undefined) return isUp(tree, ref) || isTombstone(tree, ref) || hasCompleted(tree, ref);
  }
  return true;
};

/** compose's service_completed_successfully: a job that others wait for may be over. */
const hasCompleted = (tree: TreeState, ref: ChildRef): boolean =>
  ref.worker_id !== null && memberOf(tree, ref.worker_id).child.state === "completed";

/** A dynamic child that was recorded and not begun when the last daemon died. */
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

/** Children that the file has no more go at once, whatever their supervisor does. */
const leaving = (tree: TreeState, supervisor: SupervisorState): PlanAction | undefined => {
  for (const ref of supervisor.children) {
    if (!ref.removed) continue;
    if (!isAlive(tree, ref)) return { type: "forget", path: ref.path, worker_id: ref.worker_id };
    const action = stop(tree, supervisor, ref);
    if (action !== undefined) return action;
  }
  return undefined;
};
