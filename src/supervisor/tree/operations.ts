/** Operations of a supervisor on its children. The plan carries it out (plan.ts). */
import type { UncountedRestart } from "../../protocol/restart-cause.ts";
import type { StopHow, SupervisorEnd } from "../../protocol/tree-records.ts";
import { recorder } from "../child/recorder.ts";
import { uncounted } from "../child/verdict.ts";
import type { Draft } from "./draft.ts";
import {
  type ChildRef,
  isAlive,
  isRunning,
  isUp,
  memberOf,
  type SupervisorState,
  type TreeState,
  workersBelow,
} from "./state.ts";

/** In start order. */
export const namesOf = ({ children }: SupervisorState): readonly string[] =>
  children.filter((ref) => !ref.removed).map(({ name }) => name);

/**
 * Restarts these children, together with those that an operation in progress has not started yet. Children that it has
 * started and that are not up are waited for. The first start of a supervisor stays a first start: every child must come up.
 */
export const redo = (
  draft: Draft,
  path: string,
  reason: string,
  { scope, delay_ms, asked = false }: { scope: readonly string[]; delay_ms: number; asked?: boolean },
) => {
  const supervisor = draft.supervisor(path);
  const { operation } = supervisor;
  const begun = supervisor.children.filter(
    (ref) => !scope.includes(ref.name) && hasBegun(draft.tree, supervisor, ref),
  );
  const isBegun = (name: string) => begun.some((ref) => ref.name === name);
  const owed = (operation?.scope ?? []).filter(
    (name) => !operation?.started.includes(name) && !isBegun(name),
  );
  const waited = begun
    .filter((ref) => isAlive(draft.tree, ref) && !isUp(draft.tree, ref))
    .map(({ name }) => name);
  const anew = new Set([...scope, ...owed]);
  const left = operation === null ? 0 : operation.due_ms - draft.now.mono_ms;
  const isFirst = isFirstStart(supervisor);
  const wasAsked = isFirst ? operation?.asked === true : asked;
  const names = namesOf(supervisor);
  draft.move(path, isFirst ? "starting" : "restarting", reason, {
    kind: isFirst ? "start" : "restart",
    stage: "stopping",
    scope: names.filter((name) => anew.has(name) || waited.includes(name)),
    ...(waited.length > 0 ? { anew: names.filter((name) => anew.has(name)) } : {}),
    delay_ms: Math.max(delay_ms, left, 0),
    ...(wasAsked ? { asked: true } : {}),
  });
};

/** The operation in progress has started the child, or is about to. */
const hasBegun = (tree: TreeState, { operation }: SupervisorState, ref: ChildRef): boolean =>
  operation?.scope.includes(ref.name) === true &&
  (operation.started.includes(ref.name) || (operation.stage === "starting" && isAlive(tree, ref)));

/** OTP's init: if a child does not start, its supervisor does not either. */
export const isFirstStart = ({ phase, operation }: SupervisorState): boolean =>
  phase === "starting" && operation?.kind === "start";

/**
 * Stops all children, right to left; the supervisor then ends for this reason. A `down` stays one, whatever else stops it
 * meanwhile, because only its end removes the tree. Workers are stopped with the last given grace and signal.
 */
export const shutDown = (draft: Draft, path: string, end: SupervisorEnd, reason: string, how?: StopHow) => {
  const supervisor = draft.supervisor(path);
  const { operation } = supervisor;
  const said = how ?? operation?.how;
  draft.move(path, "stopping", reason, {
    kind: "stop",
    stage: "stopping",
    scope: namesOf(supervisor),
    delay_ms: 0,
    end: operation?.end === "down" ? "down" : end,
    ...(said === undefined ? {} : { how: said }),
    ...(operation?.asked === true ? { asked: true } : {}),
  });
};

/** The grace and signal that a kill by name gave; they apply to everything below. */
export const howOf = (draft: Draft, path: string | null): StopHow | undefined =>
  path === null ? undefined : draft.supervisor(path).operation?.how;

/** A second kill, or a kill during a take-down, ends all graces at once, as for a worker. */
export const endGraces = (draft: Draft, path: string) => {
  for (const { child } of workersBelow(draft.tree, path))
    if (child.open && child.stop?.kind === "shutdown")
      draft.tell(child.worker_id, { type: "stop", grace_ms: 0, signal: "SIGKILL" });
};

/** The operation of a supervisor that begins its life. */
export const starts = (supervisor: SupervisorState) =>
  ({ kind: "start", stage: "starting", scope: namesOf(supervisor), delay_ms: 0 }) as const;

/** A restart by the strategy that no window counts and no backoff delays, because it was not the child's fault. */
export const excuse = (
  draft: Draft,
  supervisor: SupervisorState,
  ref: ChildRef,
  excused: UncountedRestart,
  why: string,
) => {
  const scope = scopeOf(supervisor, ref);
  if (ref.worker_id !== null && (scope.length === 1 || !isRunning(supervisor))) {
    const { child } = memberOf(draft.tree, ref.worker_id);
    draft.record(uncounted(child, excused, recorder(child), draft.now));
    return draft.tell(ref.worker_id, { type: "restart_after", delay_ms: 0 });
  }
  holdWorker(draft, ref, why);
  redo(draft, supervisor.path, `${ref.name}: ${why}`, { scope, delay_ms: 0 });
};

export const holdWorker = (draft: Draft, ref: ChildRef, why: string) => {
  if (ref.worker_id !== null) draft.hold(memberOf(draft.tree, ref.worker_id), why);
};

/** The children to restart when one has failed (OTP Design Principles, Restart Strategy). */
export const scopeOf = (supervisor: SupervisorState, failed: ChildRef): readonly string[] => {
  const names = namesOf(supervisor);
  switch (supervisor.config.strategy) {
    case "one_for_all":
      return names;
    case "rest_for_one":
      return names.slice(names.indexOf(failed.name));
    default:
      return [failed.name];
  }
};
