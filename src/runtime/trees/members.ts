/**
 * The workers of trees, below the fibers of their supervisors: starts them, takes them over at a boot, and watches them
 * until they are ready.
 */
import { Effect } from "effect";
import { untilTaken } from "../../actors/deciding/until-taken.ts";
import type { WorkerDecider } from "../../actors/deciding/worker-decider.ts";
import { attemptAsync, typed } from "../../actors/machine/attempt.ts";
import type { Beginning } from "../../actors/worker/worker.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { isEnded, type WorkerSpec } from "../../protocol/worker.ts";
import { errorOf, NOT_STARTED } from "../../supervisor/child/exits.ts";
import type { ChildCommand, ChildInput, ChildState } from "../../supervisor/child/inputs.ts";
import { isPaused } from "../../supervisor/holds/pause.ts";
import { isBeingStopped } from "../../supervisor/tree/decide.ts";
import type { TreeCommand, TreeDecision, TreeInput } from "../../supervisor/tree/inputs.ts";
import { memberOf, rests, supervisorOf, type TreeState } from "../../supervisor/tree/state.ts";
import { adapterFor, beginningOf, observe, specFor, specOf } from "../boot/boot.ts";
import type { Core } from "../core.ts";
import { queuedRecord } from "../limits/admission.ts";
import { watchReadiness } from "./readiness.ts";
import type { Tree } from "./tree-decider.ts";

/** Runs an effect in the scope of the runtime. A new one with the same key replaces it. */
export type RunInScope = (key: string, work: Effect.Effect<void>) => unknown;

export class Members {
  private readonly core: Core;
  private readonly run: RunInScope;

  constructor(core: Core, run: RunInScope) {
    this.core = core;
    this.run = run;
  }

  /** Lets a worker live anew whose last life has ended or is about to. */
  start(tree: Tree, id: string): Effect.Effect<void> {
    const { roster, services } = this.core;
    const started = Effect.gen({ self: this }, function* () {
      yield* roster.ended(id);
      const spec = yield* attemptAsync(() => services.files.load(id));
      if (!tree.state().launching.has(id)) return;
      yield* this.supervise(tree, id, spec, { action: { type: "start" } });
    });
    return Effect.catch(typed(started), (error) => {
      services.report(`worker ${id} could not be started: ${error.message}`, error);
      const abandoned = { error: errorOf(error), exit: NOT_STARTED, duration_ms: 0 };
      const input: TreeInput = { type: "worker", worker_id: id, input: { type: "abandoned", ...abandoned } };
      // Without this record, the worker would stay "launching" for ever.
      const taken = untilTaken(tree.input(input), (refusal) => this.tell(`worker ${id}`, refusal));
      return Effect.catchDefect(Effect.asVoid(taken), (defect) =>
        Effect.sync(() => services.defects.tell(`the end of worker ${id}`, defect)),
      );
    });
  }

  /** Takes over a worker of an earlier daemon. */
  recover(tree: Tree, id: string): Effect.Effect<void> {
    const { core } = this;
    const { services, roster } = core;
    const recovered = Effect.gen({ self: this }, function* () {
      const { child } = memberOf(tree.state(), id);
      if (isEnded(child.state) || (!child.open && !rests(child))) return;
      const row = yield* core.rowOf(id);
      const { spec, unlaunchable } = yield* specOf(services, row);
      const observed = child.open ? yield* observe(services, child, spec) : undefined;
      // A sibling that was taken over may have led to a decision about this worker meanwhile. Then the period tries again.
      const now = tree.state().members.get(id)?.child;
      if (now === undefined || roster.live.has(id) || now.incarnation !== child.incarnation) return;
      if (now.open !== child.open || (!now.open && now.state !== child.state)) return;
      const beginning = beginningOf(core, now, observed, unlaunchable);
      if (beginning !== undefined) yield* this.supervise(tree, id, spec, beginning);
    });
    return Effect.catch(typed(recovered), (error) =>
      Effect.sync(() => this.tell(`worker ${id} could not be taken over`, error)),
    );
  }

  /** Releases waiting workers that are to be stopped. */
  letGo(state: TreeState): void {
    const { admission, accounts } = this.core;
    for (const id of state.launching) {
      if (admission.placeOf(id) === undefined && !accounts.isWaiting(id)) continue;
      const supervisor = supervisorOf(state, memberOf(state, id).supervisor);
      const ref = supervisor.children.find((one) => one.worker_id === id);
      if (ref === undefined || isBeingStopped(supervisor, ref)) {
        admission.letGo(id);
        accounts.letGo(id);
      }
    }
  }

  /** Checks the readiness of a launched worker until it is ready or has ended, except during a pause. */
  attend(tree: Tree, id: string, what: ChildInput["type"]): void {
    const child = tree.state().members.get(id)?.child;
    const key = `ready ${id}`;
    if (!child?.open || !child.awaits_ready || child.ready || child.stop !== null || isPaused(child)) {
      this.run(key, Effect.void);
      return;
    }
    if (what !== "launched" && what !== "adopted" && what !== "unpause") return;
    const tell = (input: ChildInput) => Effect.ignore(tree.input({ type: "worker", worker_id: id, input }));
    this.run(
      key,
      Effect.catch(typed(watchReadiness(this.core, child, tell)), (error) =>
        Effect.sync(() => this.tell(`the readiness of worker ${id} cannot be checked`, error)),
      ),
    );
  }

  /** Reports an error to the operator. INTERNAL counts as a defect. */
  tell(what: string, error: HoldfastError): void {
    const { defects, report } = this.core.services;
    if (error.code === "INTERNAL") defects.tell(what, error.cause ?? error);
    else report(`${what}: ${error.message}`, error);
  }

  private supervise(
    tree: Tree,
    id: string,
    given: WorkerSpec,
    beginning: Beginning,
  ): Effect.Effect<void, HoldfastError> {
    const { core } = this;
    return Effect.gen(function* () {
      const adapter = yield* adapterFor(core, { id, kind: given.kind }, beginning.action);
      const spec = specFor(core.services, given);
      const { child } = memberOf(tree.state(), id);
      const decider = new MemberDecider(tree, child);
      const newcomer = { id, spec, ancestors: yield* core.ancestors(spec.parent) };
      const order = core.place();
      const { queued, turn } =
        beginning.action.type !== "start"
          ? core.admission.resume(newcomer, true, order)
          : core.admission.enter(newcomer);
      const under = supervisorsAbove(tree.state(), memberOf(tree.state(), id).supervisor);
      yield* core.roster.supervise({ spec, adapter, child, beginning, order, decider, turn }, under);
      if (queued !== undefined) yield* Effect.ignore(core.commit([queuedRecord(id, queued)]));
    });
  }
}

/**
 * The decider of a tree's member: the tree. A member that its tree has removed keeps its last state until it lives no
 * more.
 */
class MemberDecider implements WorkerDecider {
  private readonly tree: Tree;
  private newest: ChildState;

  constructor(tree: Tree, child: ChildState) {
    this.tree = tree;
    this.newest = child;
  }

  child(): ChildState {
    this.newest = this.tree.state().members.get(this.newest.worker_id)?.child ?? this.newest;
    return this.newest;
  }

  input(...[input, extra, options, then]: Parameters<WorkerDecider["input"]>) {
    const { worker_id } = this.newest;
    const asked = (one: ChildInput): TreeInput => ({ type: "worker", worker_id, input: one });
    const second = ({ commands }: TreeDecision): TreeInput | undefined => {
      const next = then?.({ commands: commands.flatMap((one) => toldTo(worker_id, one)) });
      return next && asked(next);
    };
    return this.tree.input(asked(input), extra, options, then && second);
  }
}

const toldTo = (id: string, command: TreeCommand): readonly ChildCommand[] =>
  command.type === "tell" && command.worker_id === id ? [command.command] : [];

/** The paths from the top of the file down to this supervisor. */
const supervisorsAbove = (state: TreeState, path: string): readonly string[] => {
  const parent = state.supervisors.get(path)?.parent ?? null;
  return parent === null ? [path] : [...supervisorsAbove(state, parent), path];
};
