/**
 * Invariants that must hold after every input, whatever has happened. Each answers with a sentence when it does not. I8 (what is spent
 * stays below its cap) comes with the budgets of trees.
 */
import { isDeepStrictEqual } from "node:util";
import { MAILBOX_MAX_REPEATABLE } from "../../src/base/limits.ts";
import { RESTART_BY_USER, restartCause } from "../../src/protocol/restart-cause.ts";
import { isEnded, type WorkerSpec } from "../../src/protocol/worker.ts";
import { isPaused } from "../../src/supervisor/holds/pause.ts";
import { decayed } from "../../src/supervisor/restart/window.ts";
import { evolveTree } from "../../src/supervisor/tree/evolve.ts";
import { plan } from "../../src/supervisor/tree/plan.ts";
import {
  type ChildRef,
  isAlive,
  isRunning,
  isTombstone,
  isUp,
  rests,
  type SupervisorState,
  type TreeState,
} from "../../src/supervisor/tree/state.ts";
import type { Stored } from "./disk.ts";
import type { History } from "./history.ts";
import type { ProcessTable } from "./processes.ts";

export interface View {
  readonly tree: TreeState;
  /** As it was before this input; after a boot, as the last daemon knew it. */
  readonly before: TreeState;
  readonly committed: readonly Stored[];
  /** After a boot. Instants of before a reboot are guesses, and are not compared. */
  readonly rebuilt: "exact" | "timeless" | undefined;
  /** Records in the log. */
  readonly head: number;
  readonly processes: ProcessTable;
  readonly history: History;
  readonly mailboxes: readonly number[];
  readonly mono_ms: number;
  readonly now_ms: number;
  /** Since then a daemon runs and its store takes what it writes. */
  readonly well_since_ms: number;
  readonly specOf: (id: string) => WorkerSpec;
}

type Invariant = (view: View) => string | undefined;

/** How long an end may take to be noticed, and a due start to be begun. */
const NOTICED_WITHIN_MS = 10_000;
const TICKS_MAX_MS = 3 * 60_000;

const first = <T>(from: Iterable<T>, wrong: (one: T) => string | false | undefined): string | undefined => {
  for (const one of from) {
    const found = wrong(one);
    if (typeof found === "string") return found;
  }
  return undefined;
};

/** The tree has no cycle, and a child has at most one agent that lives. */
const oneLife: Invariant = ({ tree, processes }) => {
  if (processes.doubles !== undefined) return `two agents of one child live: ${processes.doubles}`;
  const seen = new Set<string>();
  const walk = (path: string): string | undefined => {
    if (seen.has(path)) return `${path} stands twice`;
    seen.add(path);
    const state = tree.supervisors.get(path);
    if (state === undefined) return `${path} is listed and not there`;
    return first(state.children, (ref) => {
      if (ref.worker_id === null) return walk(ref.path);
      const member = tree.members.get(ref.worker_id);
      if (seen.has(ref.worker_id)) return `${ref.path} stands twice`;
      seen.add(ref.worker_id);
      return member?.supervisor !== path && `${ref.path} does not stand where it is listed`;
    });
  };
  if (tree.supervisors.size === 0) return undefined;
  return (
    walk(tree.name) ??
    (seen.size !== tree.supervisors.size + tree.members.size ? "somebody stands nowhere" : undefined)
  );
};

/** A worker that is said to run has an agent, or has had one a moment ago. */
const runningIsAlive: Invariant = ({ tree, processes, now_ms, well_since_ms }) =>
  first(tree.members.values(), ({ child }) => {
    if (!child.open || !child.spawned) return undefined;
    const process = processes.of.get(child.worker_id);
    if (process?.incarnation !== child.incarnation) return `${child.worker_id} has no process`;
    if (process.alive || child.state !== "running") return undefined;
    return (
      now_ms - Math.max(process.ended_ms, well_since_ms) > NOTICED_WITHIN_MS &&
      `${child.worker_id} ended, and nobody noticed`
    );
  });

/** A worker that has ended, or waits, has no agent. */
const endedIsGone: Invariant = ({ tree, processes }) =>
  first(processes.of.values(), ({ alive, id, incarnation }) => {
    if (!alive) return undefined;
    const child = tree.members.get(id)?.child;
    return (
      !(child?.open === true && child.incarnation === incarnation) &&
      `an agent of ${id} lives, which is ${child?.state ?? "forgotten"}`
    );
  });

/** The log has no gap. */
const dense: Invariant = ({ committed, head }) =>
  committed.some(({ seq }, index) => seq !== head - committed.length + index + 1)
    ? "the log has a gap"
    : undefined;

/** Exactly one exit and one terminal record for each incarnation that is over, none for one that is not. */
const oneEnd: Invariant = ({ tree, history }) => {
  if (history.odd.length > 0) return `an incarnation out of turn: ${history.odd[0]}`;
  return first(tree.members.values(), ({ child }) => {
    const life = history.lives.get(child.worker_id);
    if (life === undefined || life.incarnation === 0) return undefined;
    const wanted = child.open ? 0 : 1;
    return (
      (life.exits !== wanted || life.terminals !== wanted) &&
      `${child.worker_id} has ${life.exits} exits and ${life.terminals} terminal records in incarnation ${life.incarnation}`
    );
  });
};

/** No more restarts in any window than its supervisor allows. */
const intensity: Invariant = ({ committed, history, now_ms }) =>
  first(committed, ({ draft }) => {
    if (draft.type !== "supervisor_restart_scheduled") return undefined;
    const list = history.restarts.get(draft.payload.supervisor) ?? [];
    const newest = list.at(-1);
    if (newest === undefined) return undefined;
    const { decay_ms, max } = newest;
    const instants = list.map(({ at }) => at);
    const count = decay_ms > 0 ? decayed(instants, now_ms, decay_ms) : instants.length;
    return count > max && `${draft.payload.supervisor} restarted ${count} times, ${max} are allowed`;
  });

/** No more agents run than the tree has places. */
const places: Invariant = ({ tree, processes }) => {
  const alive = [...processes.of.values()].filter((process) => process.alive).length;
  return alive > tree.members.size ? `${alive} agents in ${tree.members.size} places` : undefined;
};

/** The daemon's knowledge is the fold of what is in the log. */
const projected: Invariant = ({ tree, before, committed, rebuilt, mono_ms, specOf }) => {
  const folded =
    rebuilt !== undefined
      ? before
      : committed.reduce((state, { draft }) => evolveTree(state, draft, mono_ms, specOf), before);
  return (
    different("supervisor", folded.supervisors, tree.supervisors, rebuilt === "timeless") ??
    different("worker", folded.members, tree.members, rebuilt === "timeless")
  );
};

const INSTANTS = ["started_ms", "due_ms", "restarts", "since_ms", "before_ms"];

const different = <T>(
  what: string,
  one: ReadonlyMap<string, T>,
  other: ReadonlyMap<string, T>,
  isTimeless: boolean,
): string | undefined => {
  const shown = (value: T | undefined): string =>
    JSON.stringify(value, (key, inner) => (isTimeless && INSTANTS.includes(key) ? undefined : inner));
  if (one.size !== other.size) return `${what}s: ${one.size} folded, ${other.size} known`;
  return first(one, ([key, value]) => {
    const known = other.get(key);
    return (
      value !== known &&
      !isDeepStrictEqual(value, known) &&
      shown(value) !== shown(known) &&
      `${what} ${key} is not the fold of its records: ${shown(value)} and ${shown(known)}`
    );
  });
};

/** No list grows without a bound. */
const bounded: Invariant = ({ tree, mailboxes }) => {
  if (mailboxes.some((size) => size > MAILBOX_MAX_REPEATABLE)) return "a mailbox is over its bound";
  return first(tree.supervisors.values(), ({ path, restarts, operation, children, config }) => {
    if (operation !== null && operation.started.length > operation.scope.length + children.length)
      return `${path} notes more starts than it has children`;
    // With decay a failure is kept for ten half-lives, and counts for less each time.
    return (
      config.decay_ms === 0 &&
      restarts.length > RESTARTS_KEPT_MAX &&
      `${path} keeps ${restarts.length} restarts`
    );
  });
};
/** The most that a generated supervisor allows. */
const RESTARTS_KEPT_MAX = 1_000;

/** A worker that was killed by name begins by nothing but its name. */
const buried: Invariant = ({ history }) =>
  history.risen.length > 0 ? `${history.risen[0]} was killed and began again` : undefined;

/** A start that is due is begun within three ticks. */
const punctual: Invariant = ({ tree, mono_ms, now_ms, well_since_ms }) => {
  const late = (due: number): boolean => Math.min(mono_ms - due, now_ms - well_since_ms) > TICKS_MAX_MS;
  return (
    first(
      tree.members.values(),
      ({ child }) =>
        child.state === "backing_off" &&
        child.due_ms !== null &&
        late(child.due_ms) &&
        `${child.worker_id} is overdue`,
    ) ??
    first(
      tree.supervisors.values(),
      ({ path, phase, operation }) =>
        phase === "backing_off" && operation !== null && late(operation.due_ms) && `${path} is overdue`,
    )
  );
};

/** Nothing lives below a supervisor that does not. */
const noOrphan: Invariant = ({ tree }) => {
  const isOver = ({ phase }: SupervisorState): boolean =>
    phase === "terminated" || phase === "parked" || phase === "pending";
  return (
    first(tree.members.values(), ({ supervisor, child }) => {
      const state = tree.supervisors.get(supervisor);
      return (
        state !== undefined &&
        isOver(state) &&
        (child.open || child.state === "backing_off") &&
        `${child.worker_id} is ${child.state} below ${supervisor}, which is ${state.phase}`
      );
    }) ??
    first(tree.supervisors.values(), (state) => {
      const parent = state.parent === null ? undefined : tree.supervisors.get(state.parent);
      return (
        parent !== undefined &&
        isOver(parent) &&
        !isOver(state) &&
        `${state.path} is ${state.phase} below ${parent.path}, which is ${parent.phase}`
      );
    })
  );
};

/** After a decision nothing is left to do now. */
const planned: Invariant = ({ tree, rebuilt, mono_ms }) => {
  const action = rebuilt !== undefined ? undefined : plan(tree, mono_ms);
  return action === undefined ? undefined : `left to do: ${JSON.stringify(action)}`;
};

/** A paused worker stands still, and another one does not. */
const still: Invariant = ({ tree, processes, mono_ms, now_ms, well_since_ms }) =>
  first(tree.members.values(), ({ child }) => {
    const process = processes.of.get(child.worker_id);
    if (!child.spawned || child.stop !== null || process?.alive !== true) return undefined;
    if (process.incarnation !== child.incarnation || now_ms - well_since_ms < NOTICED_WITHIN_MS)
      return undefined;
    const shall = isPaused(child);
    const since = Math.max(child.pause.since_ms, child.started_ms ?? 0);
    if (process.paused === shall || mono_ms - since < NOTICED_WITHIN_MS) return undefined;
    return `${child.worker_id} ${shall ? "is paused, and goes on" : "is not paused, and stands still"}`;
  });

/** A down or a kill goes on until it is over: nothing that comes meanwhile turns it round. */
const endsAsAsked: Invariant = ({ tree, before }) => {
  const top = before.supervisors.get(before.name);
  if (top?.operation?.end === "down" && top.phase === "stopping") {
    const now = tree.supervisors.get(tree.name);
    const goesOn = now === undefined || (now.phase === "stopping" && now.operation?.end === "down");
    if (!goesOn) return `${tree.name} was taken down, and is ${now.phase} to be ${now.operation?.end}`;
  }
  return first(before.supervisors.values(), (old) => {
    const now = tree.supervisors.get(old.path);
    if (now === undefined || old.phase !== "stopping" || old.operation?.end !== "killed") return undefined;
    return !["stopping", "terminated"].includes(now.phase) && `${old.path} was killed, and is ${now.phase}`;
  });
};

/** A child begins and ends after those that come before it by the rules of its file, and waits for nobody else (docs/decisions/0037). */
const inOrder: Invariant = ({ tree, before, committed, rebuilt, mono_ms }) => {
  if (rebuilt !== undefined) return undefined;
  const byName = new Set(
    committed.flatMap(({ draft }) =>
      draft.type === "worker_restart_scheduled" && restartCause(draft.payload) === RESTART_BY_USER
        ? [draft.worker_id]
        : draft.type === "supervisor_asked"
          ? [draft.payload.supervisor]
          : [],
    ),
  );
  const isDown = (state: TreeState, path: string): boolean =>
    ["pending", "terminated", "parked"].includes(state.supervisors.get(path)?.phase ?? "");
  const begins = ({ worker_id: id, path }: ChildRef): boolean =>
    id === null
      ? isDown(before, path) && !isDown(tree, path) && !byName.has(path)
      : tree.launching.has(id) && !before.launching.has(id) && !byName.has(id);
  const isTold = (state: TreeState, id: string): boolean =>
    state.members.get(id)?.child.stop?.kind === "shutdown";
  const stops = ({ worker_id: id, removed }: ChildRef): boolean =>
    id !== null && !removed && isTold(tree, id) && !isTold(before, id);
  /** Its supervisor has not told it to stop. Told to start a moment ago, it is told once its start is on record. */
  const isUntold = ({ worker_id: id }: ChildRef): boolean => {
    const child = id === null ? undefined : tree.members.get(id)?.child;
    if (child?.open === true) return child.stop?.kind !== "shutdown";
    return child !== undefined && rests(child) && !tree.launching.has(child.worker_id);
  };
  const isKilled = ({ worker_id: id }: ChildRef): boolean =>
    id !== null && tree.members.get(id)?.child.stop?.kind === "kill";
  return first(tree.supervisors.values(), ({ path, config, children, operation }) => {
    if (operation === null || config.strategy === "dynamic") return undefined;
    const isFree = (earlier: ChildRef, later: ChildRef): boolean =>
      config.strategy === "one_for_one" &&
      earlier.worker_id !== null &&
      later.worker_id !== null &&
      tree.members.get(earlier.worker_id)?.child.awaits_ready === false &&
      !later.depends_on.includes(earlier.path);
    const isOf = ({ name }: ChildRef) => (operation.anew ?? operation.scope).includes(name);
    if (operation.stage === "stopping") {
      const told = operation.kind === "stop" ? children : children.filter((ref) => !ref.removed && isOf(ref));
      const scope = told.filter((ref) => isAlive(tree, ref));
      const behind = (ref: ChildRef) => scope.slice(scope.indexOf(ref) + 1);
      const waits = (ref: ChildRef): boolean => behind(ref).some((later) => !isFree(ref, later));
      return first(scope, (ref) => {
        if (waits(ref) && stops(ref)) return `${ref.path} is stopped before one that stands behind it`;
        // Nobody overtakes one that has to wait, even if that one has not begun to live.
        const isNext =
          !waits(ref) && !behind(ref).some((one) => isUntold(one) || waits(one)) && !isKilled(ref);
        return isNext && isUntold(ref) && `${ref.path} could be stopped, and ${path} stops`;
      });
    }
    const scope = children.filter((ref) => !ref.removed && operation.scope.includes(ref.name));
    const idle = scope.find(
      (ref) => !isTombstone(tree, ref) && !isAlive(tree, ref) && !operation.started.includes(ref.name),
    );
    return first(scope, (ref) => {
      const ahead = scope.slice(0, scope.indexOf(ref));
      const isEarly = ahead.some(
        (one) => !isTombstone(tree, one) && isAlive(tree, one) && !isUp(tree, one) && !isFree(one, ref),
      );
      if (isEarly && begins(ref)) return `${ref.path} begins before one that stands before it is up`;
      const isDue = operation.kind === "start" && operation.due_ms <= mono_ms;
      const waits = ref === idle && ref.worker_id !== null && ref.depends_on.length === 0;
      return !isEarly && isDue && waits && `${ref.path} could begin, and ${path} starts`;
    });
  });
};

/** By the numbers of docs/explanation/simulator.md. */
export const INVARIANTS: Readonly<Record<string, Invariant>> = {
  "I1 one life": oneLife,
  "I2 running is alive": runningIsAlive,
  "I3 ended is gone": endedIsGone,
  "I4 dense": dense,
  "I5 one end": oneEnd,
  "I6 intensity": intensity,
  "I7 places": places,
  "I9 projected": projected,
  "I10 bounded": bounded,
  "I11 buried": buried,
  "I12 punctual": punctual,
  "I13 no orphan": noOrphan,
  "I14 planned": planned,
  "I15 still": still,
  "I16 ends as asked": endsAsAsked,
  "I17 in order": inOrder,
};

export const violationIn = (view: View): string | undefined =>
  first(Object.entries(INVARIANTS), ([name, invariant]) => {
    const wrong = invariant(view);
    return wrong === undefined ? undefined : `${name}: ${wrong}`;
  });

/** Once faults have stopped and delays have passed: what is neither as the file wants it nor over. */
export const unsettled = (tree: TreeState): string | undefined =>
  first(tree.supervisors.values(), (supervisor) => {
    const { path, phase, children } = supervisor;
    const waits = waitsInVain(tree, supervisor);
    if (waits) return undefined;
    const parent = supervisor.parent === null ? undefined : tree.supervisors.get(supervisor.parent);
    if (phase === "terminated" || phase === "parked") return undefined;
    if (phase === "pending" && parent !== undefined && (!isRunning(parent) || waitsInVain(tree, parent)))
      return undefined;
    if (phase !== "running") return `${path} is stuck: ${phase}`;
    return first(children, (ref) => {
      const child = ref.worker_id === null ? undefined : tree.members.get(ref.worker_id)?.child;
      if (ref.removed) return `${ref.path} is stuck: removed and still there`;
      if (child === undefined) return undefined;
      const isUp = child.open && child.ready && child.stop === null;
      return !isUp && !isEnded(child.state) && `${ref.path} is stuck: ${child.state} below ${path}`;
    });
  });

/** A child of it waits for something that has ended, or for somebody who waits in vain himself. */
const waitsInVain = (tree: TreeState, { operation, children }: SupervisorState): boolean =>
  operation?.stage === "starting" &&
  children.some(
    (ref) =>
      operation.scope.includes(ref.name) &&
      (ref.depends_on.some((path) => !isThere(tree, path)) ||
        (ref.worker_id === null && isWaiting(tree, ref.path))),
  );

const isWaiting = (tree: TreeState, path: string): boolean => {
  const state = tree.supervisors.get(path);
  return state !== undefined && waitsInVain(tree, state);
};

const isThere = (tree: TreeState, path: string): boolean => {
  const supervisor = tree.supervisors.get(path);
  if (supervisor !== undefined) return supervisor.phase === "running";
  for (const member of tree.members.values())
    if (member.path === path) return member.child.open || member.child.state === "completed";
  return true;
};
