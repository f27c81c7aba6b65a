/**
 * The decision about a file's tree: (tree, input, now) → (records, commands). Pure and total. Strategies, significant
 * children and escalation are OTP's (supervisor.erl); failure decay and parking are suture's. A decision writes its records,
 * then plans until nothing more can be done now.
 */

import { backoffDelay } from "../../base/backoff.ts";
import { formatDuration } from "../../base/durations.ts";
import { DURATION_MAX_MS } from "../../base/limits.ts";
import type { WorkerError } from "../../protocol/records.ts";
import { RESTART_ENDED } from "../../protocol/restart-cause.ts";
import type { SupervisorEnd } from "../../protocol/tree-records.ts";
import { isEnded } from "../../protocol/worker.ts";
import { step } from "../child/decide.ts";
import type { ChildInput } from "../child/inputs.ts";
import { recorder } from "../child/recorder.ts";
import {
  isRestarted,
  isUnfixable,
  passivated,
  uncounted,
  unfixableReason,
  type Verdict,
} from "../child/verdict.ts";
import type { Now } from "../clocks/now.ts";
import { isRateLimited } from "../restart/rate-limit.ts";
import { countRestart } from "../restart/window.ts";
import { Draft } from "./draft.ts";
import type { SpecOf } from "./evolve.ts";
import type { TreeDecision, TreeInput } from "./inputs.ts";
import {
  endGraces,
  excuse,
  holdWorker,
  howOf,
  isFirstStart,
  namesOf,
  redo,
  scopeOf,
  shutDown,
  starts,
} from "./operations.ts";
import { type PlanAction, plan, wakeAt } from "./plan.ts";
import { onOver } from "./significant.ts";
import {
  type ChildRef,
  findRef,
  isBeingEnded,
  isInService,
  isRunning,
  type Member,
  memberOf,
  rests,
  type SupervisorState,
  type TreeState,
  topOf,
} from "./state.ts";
import { waitsForAnswer, waitsForLimit } from "./waiting.ts";

export const decideTree = (tree: TreeState, input: TreeInput, now: Now, specOf: SpecOf): TreeDecision => {
  const draft = new Draft(tree, now, specOf);
  receive(draft, input);
  for (
    let action = plan(draft.tree, now.mono_ms);
    action !== undefined;
    action = plan(draft.tree, now.mono_ms)
  )
    carryOut(draft, action);
  const at_ms = wakeAt(draft.tree, now.mono_ms);
  if (at_ms !== undefined) draft.command({ type: "wake", at_ms });
  return draft.decision();
};

const receive = (draft: Draft, input: TreeInput) => {
  switch (input.type) {
    case "worker":
      return onWorker(draft, input.worker_id, input.input);
    case "apply":
      return apply(draft, input);
    case "add":
      return add(draft, input);
    case "ask":
      return ask(draft, input);
    case "plan":
      return;
  }
};

// --- its workers

const onWorker = (draft: Draft, workerId: string, input: ChildInput) => {
  const before = draft.tree.members.get(workerId);
  // The tree has forgotten this worker, so late inputs from its shell are ignored.
  if (before === undefined) return;
  // No worker lives below a supervisor that does not run.
  if (input.type === "restart" && !isInService(draft.tree, before.supervisor)) return;
  // The worker was held or ended while its start was on its way; the shell that would begin it is told to give up.
  if (input.type === "begin" && !before.child.open && !isAwaited(draft.tree, before))
    return draft.tell(workerId, { type: "end", state: "held" });
  const { events, commands, verdict } = step(before.child, input, draft.now);
  for (const event of events) draft.record(event);
  for (const command of commands) {
    // A worker without a shell gets a new one.
    if (command.type === "start" && !rests(before.child)) draft.launch(workerId);
    else draft.tell(workerId, command);
  }
  if (verdict !== undefined) conclude(draft, before, verdict);
};

/** It was told to start, or will start by itself. */
const isAwaited = ({ launching }: TreeState, { child }: Member): boolean =>
  rests(child) || launching.has(child.worker_id);

/** `before`: the member as it was when its incarnation ended. */
const conclude = (draft: Draft, before: Member, verdict: Verdict) => {
  const member = memberOf(draft.tree, before.child.worker_id);
  const supervisor = draft.supervisor(member.supervisor);
  const ref = supervisor.children.find(({ worker_id }) => worker_id === member.child.worker_id) as ChildRef;
  const goesDown = isBeingStopped(supervisor, ref);
  switch (verdict.type) {
    case "end":
      draft.end(member, verdict.state, verdict.reason, verdict.cause);
      if (verdict.state === "failed" && !goesDown) onOver(draft, supervisor, ref, member.significant);
      return;
    case "held":
      return goDown(draft, member, supervisor, ref);
    case "passivated":
      if (goesDown) return goDown(draft, member, supervisor, ref);
      draft.record(passivated(member.child, recorder(member.child), draft.now));
      return draft.tell(member.child.worker_id, { type: "wait" });
    case "again": {
      if (goesDown) return goDown(draft, member, supervisor, ref);
      draft.record(uncounted(member.child, verdict.cause, recorder(member.child), draft.now));
      return draft.tell(member.child.worker_id, { type: "restart_after", delay_ms: 0 });
    }
    case "over": {
      const { completed, failure, excused, interrupted } = verdict;
      // supervisor.erl: exits of children that are being terminated change nothing.
      if (goesDown) return goDown(draft, member, supervisor, ref);
      const why = sentence(completed, failure);
      const isOver = isUnfixable(member.child, completed, failure);
      if (interrupted !== undefined && !isOver && isRestarted(member.child.policy, completed))
        return waitsForAnswer(draft, member, interrupted)
          ? undefined
          : onOver(draft, supervisor, ref, member.significant);
      if (excused !== undefined && isRestarted(member.child.policy, completed))
        return excuse(draft, supervisor, ref, excused, why);
      if (failure !== undefined && isRateLimited(failure) && isRestarted(member.child.policy, completed))
        return waitsForLimit(draft, member, failure)
          ? undefined
          : onOver(draft, supervisor, ref, member.significant);
      if (isFirstStart(supervisor) && !before.child.ready) {
        draft.hold(member, why);
        return startFailed(draft, supervisor, ref, why);
      }
      if (isOver && isRestarted(member.child.policy, completed)) {
        draft.end(member, "failed", unfixableReason(failure), "unfixable");
        return onOver(draft, supervisor, ref, member.significant);
      }
      if (isRestarted(member.child.policy, completed)) return restart(draft, supervisor, ref, why);
      draft.end(
        member,
        completed ? "completed" : "failed",
        `${member.child.policy}: not restarted`,
        "policy",
      );
      return onOver(draft, supervisor, ref, member.significant);
    }
  }
};

const sentence = (completed: boolean, failure: WorkerError | undefined): string =>
  completed ? "it ended" : (failure?.message ?? "it failed").replace(/\.$/, "");

export const isBeingStopped = ({ phase, operation }: SupervisorState, ref: ChildRef): boolean =>
  ref.removed ||
  phase === "stopping" ||
  (operation?.stage === "stopping" && (operation.anew ?? operation.scope).includes(ref.name));

/** A worker that its supervisor stopped: it waits to be started again, or has ended for good. */
const goDown = (draft: Draft, member: Member, supervisor: SupervisorState, ref: ChildRef) => {
  const gone = ref.removed || supervisor.config.strategy === "dynamic" || member.child.policy === "temporary";
  if (gone)
    draft.end(
      member,
      "cancelled",
      ref.removed ? "it is in its file no more" : `stopped with ${supervisor.path}`,
    );
  else draft.hold(member, `held by ${supervisor.path}: ${supervisor.reason}`);
};

// --- strategies

/** Counts one more restart. Within the window, the strategy decides which children are restarted; beyond it, the supervisor gives up. */
const restart = (draft: Draft, supervisor: SupervisorState, ref: ChildRef, why: string) => {
  const { path, config } = supervisor;
  const { max_restarts, period_ms } = config;
  const reason = `${ref.name}: ${why}`;
  const window = countRestart(supervisor.restarts, draft.now.mono_ms, config);
  if (window.exceeded) {
    draft.note("supervisor_escalated", {
      supervisor: path,
      restarts: window.restarts.length - 1,
      max_restarts,
      period_ms,
      child: ref.name,
      action: config.on_intensity,
    });
    holdWorker(draft, ref, why);
    const gave = `gave up: more than ${max_restarts} restart${max_restarts === 1 ? "" : "s"} in ${formatDuration(period_ms)}; last ${reason}`;
    return shutDown(draft, path, "intensity", gave);
  }
  const scope = scopeOf(supervisor, ref);
  const alone = scope.length === 1 && config.strategy !== "one_for_all" && config.strategy !== "rest_for_one";
  const bounds =
    alone && ref.worker_id !== null
      ? memberOf(draft.tree, ref.worker_id).child.backoff
      : { min_ms: config.backoff_min_ms, max_ms: config.backoff_max_ms };
  const delay_ms = backoffDelay(window.restarts.length, bounds, draft.now.random);
  const counted = {
    delay_ms,
    restarts_in_window: window.restarts.length,
    max_restarts,
    period_ms,
    clock: draft.now.clock,
  };
  draft.note("supervisor_restart_scheduled", {
    supervisor: path,
    child: ref.name,
    scope,
    reason: why,
    ...counted,
  });
  if (!alone) {
    holdWorker(draft, ref, why);
    return redo(draft, path, reason, { scope, delay_ms });
  }
  if (ref.worker_id === null) {
    const names = namesOf(draft.supervisor(ref.path));
    return draft.move(ref.path, "backing_off", why, {
      kind: "start",
      stage: "starting",
      scope: names,
      delay_ms,
    });
  }
  const { child } = memberOf(draft.tree, ref.worker_id);
  draft.record(
    recorder(child)("worker_restart_scheduled", { ...counted, cause: RESTART_ENDED, reason: why }),
  );
  draft.tell(ref.worker_id, { type: "restart_after", delay_ms });
};

const startFailed = (draft: Draft, supervisor: SupervisorState, ref: ChildRef, why: string) =>
  shutDown(draft, supervisor.path, "start_failed", `${ref.name} could not start: ${why}`);

// --- its supervisors

/** A supervisor has stopped all its children: decides its own next state, and the consequence for its parent. */
const ended = (draft: Draft, path: string) => {
  const { operation, reason, config, asked_by } = draft.supervisor(path);
  // A supervisor that was removed from its file ends for good: no parent restarts it.
  const isRemoved = findRef(draft.tree, path)?.ref.removed === true;
  const end = isRemoved ? "removed" : (operation?.end ?? "held");
  const parks = end === "intensity" && config.on_intensity === "park";
  // A temporary supervisor ends when its parent stops it, as a temporary worker does.
  const held = end === "held" && config.restart !== "temporary";
  const forGood = !held && ["killed", "down", "removed", "held"].includes(end);
  // Before the supervisor is forgotten with everything below it.
  if (forGood) draft.endBelow(path, "cancelled", reason);
  // supervisor.erl: dynamic children end with their supervisor, whatever its next state is.
  if (config.strategy === "dynamic" && !parks)
    draft.endBelow(path, held ? "cancelled" : "failed", `${path}: ${reason}`);
  draft.move(path, parks ? "parked" : held ? "pending" : "terminated", reason);
  if (parks) return draft.endBelow(path, "parked", `${path} is parked: ${reason}`);
  if (end === "down") draft.note("tree_removed", { tree: draft.tree.name, by: asked_by ?? "user" });
  if (held || forGood) return;
  if (!restartSupervisor(draft, path, end, reason, operation?.asked === true))
    draft.endBelow(
      path,
      end === "auto_shutdown" ? "cancelled" : "failed",
      `${path}: ${reason}`,
      end === "intensity" ? "gave_up" : undefined,
    );
};

/** A supervisor has ended by itself, which OTP reports as `shutdown`. False if it is not restarted. */
const restartSupervisor = (
  draft: Draft,
  path: string,
  end: SupervisorEnd,
  reason: string,
  asked: boolean,
): boolean => {
  const { parent: parentPath, config } = draft.supervisor(path);
  if (parentPath === null || (asked && end === "start_failed")) return false;
  const parent = draft.supervisor(parentPath);
  const ref = parent.children.find((one) => one.path === path) as ChildRef;
  if (isBeingStopped(parent, ref)) return true;
  if (end === "start_failed" && isFirstStart(parent)) {
    startFailed(draft, parent, ref, reason);
    return true;
  }
  // A failed start is retried, whatever the policy (supervisor.erl, try_again_restart).
  if (end !== "start_failed" && config.restart !== "permanent") {
    onOver(draft, parent, ref, config.significant);
    return false;
  }
  restart(draft, parent, ref, END_WORDS[end] ?? reason);
  return true;
};

/** The reason for the parent; the supervisor's own records have the full reason. */
const END_WORDS: Partial<Record<SupervisorEnd, string>> = {
  intensity: "it gave up",
  auto_shutdown: "it shut down with its significant child",
};

// --- what somebody asks for

const apply = (
  draft: Draft,
  { file, root, restart: changed, drafts, by }: Extract<TreeInput, { type: "apply" }>,
) => {
  const { name } = draft.tree;
  draft.note("tree_applied", { tree: name, file, root, restart: changed, by, clock: draft.now.clock });
  for (const one of drafts) draft.record(one);
  const top = topOf(draft.tree);
  if (top.tombstone) return;
  if (top.phase === "pending" || top.phase === "terminated" || top.phase === "parked")
    return draft.move(name, "starting", `applied by ${by}`, starts(top));
  for (const [path, names] of Object.entries(changed)) {
    const supervisor = draft.tree.supervisors.get(path);
    if (supervisor === undefined || names.length === 0 || !isRunning(supervisor)) continue;
    redo(draft, path, `applied by ${by}`, { scope: names, delay_ms: 0, asked: true });
  }
};

const add = (draft: Draft, { requested, worker_id }: Extract<TreeInput, { type: "add" }>) => {
  draft.record(requested);
  const member = draft.tree.members.get(worker_id);
  if (member === undefined) return;
  const supervisor = draft.supervisor(member.supervisor);
  if (isInService(draft.tree, supervisor.path)) return draft.start(worker_id, "spawn");
  // A running or stopping supervisor starts or ends the worker by itself.
  if (supervisor.phase === "terminated" || supervisor.phase === "parked")
    draft.end(member, "cancelled", `${supervisor.path} is ${supervisor.phase}`);
};

const ask = (
  draft: Draft,
  { what, supervisor: path, by, reason, how }: Extract<TreeInput, { type: "ask" }>,
) => {
  const before = draft.tree.supervisors.get(path);
  // The supervisor was removed while the request was on its way.
  if (before === undefined) return;
  if (what === "restart" && (isBeingEnded(before) || !isInService(draft.tree, before.parent))) return;
  const isAgain = what === "kill" && isBeingEnded(before);
  draft.note("supervisor_asked", { supervisor: path, what, by, reason });
  const supervisor = draft.supervisor(path);
  const alive =
    isRunning(supervisor) || supervisor.phase === "stopping" || supervisor.phase === "backing_off";
  if (what === "restart") {
    if (supervisor.phase === "stopping" || isRunning(supervisor))
      return draft.move(path, "restarting", `restarted by ${by}`, {
        kind: "restart",
        stage: "stopping",
        scope: namesOf(supervisor),
        delay_ms: 0,
        asked: true,
      });
    return draft.move(path, "starting", `started by ${by}`, { ...starts(supervisor), asked: true });
  }
  const why = `${what === "kill" ? "killed" : "taken down"} by ${by}${reason === "" || reason === "killed" ? "" : `: ${reason}`}`;
  if (alive) {
    shutDown(draft, path, what === "kill" ? "killed" : "down", why, how);
    return isAgain ? endGraces(draft, path) : undefined;
  }
  draft.move(path, "terminated", why);
  draft.endBelow(path, "cancelled", why);
  if (what === "down") draft.note("tree_removed", { tree: draft.tree.name, by });
};

// --- the plan

const carryOut = (draft: Draft, action: PlanAction) => {
  switch (action.type) {
    case "start_worker":
      return draft.start(action.worker_id, action.reason, action.asked);
    case "start_supervisor": {
      const supervisor = draft.supervisor(action.path);
      return draft.move(action.path, "starting", "started by its supervisor", starts(supervisor));
    }
    case "stop_worker":
      return stopWorker(draft, action.worker_id, action.reason);
    case "stop_supervisor":
      return shutDown(
        draft,
        action.path,
        action.removed ? "removed" : "held",
        "stopped by its supervisor",
        howOf(draft, draft.supervisor(action.path).parent),
      );
    case "stopped": {
      const { operation, phase, reason } = draft.supervisor(action.path);
      if (operation === null || operation.kind === "stop") return ended(draft, action.path);
      const { kind, scope, anew, due_ms, asked } = operation;
      const delay_ms = Math.max(0, due_ms - draft.now.mono_ms);
      return draft.move(action.path, phase, reason, {
        kind,
        stage: "starting",
        scope,
        ...(anew === undefined ? {} : { anew }),
        delay_ms,
        ...(asked === undefined ? {} : { asked }),
      });
    }
    case "started":
      return draft.move(action.path, "running", "every child has been started");
    case "forget":
      return forget(draft, action.path, action.worker_id);
  }
};

const stopWorker = (draft: Draft, workerId: string, reason: string) => {
  const member = memberOf(draft.tree, workerId);
  if (!member.child.open) {
    const { supervisor, ref } = findRef(draft.tree, member.path) as NonNullable<ReturnType<typeof findRef>>;
    return goDown(draft, member, supervisor, ref);
  }
  const how = {
    grace: { grace_ms: member.grace_ms, signal: "SIGTERM" },
    brutal_kill: { grace_ms: 0, signal: "SIGKILL" },
    infinity: { grace_ms: DURATION_MAX_MS, signal: "SIGTERM" },
  }[member.shutdown];
  const asked = howOf(draft, member.supervisor);
  onWorker(draft, workerId, { type: "shutdown", by: member.supervisor, reason, ...how, ...asked });
};

const forget = (draft: Draft, path: string, workerId: string | null) => {
  if (workerId === null) {
    draft.endBelow(path, "cancelled", "it is in its file no more");
    return draft.move(path, "terminated", "it is in its file no more");
  }
  const member = memberOf(draft.tree, workerId);
  if (!isEnded(member.child.state)) draft.end(member, "cancelled", "it is in its file no more");
};
