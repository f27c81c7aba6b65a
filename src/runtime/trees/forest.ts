/** All trees of the daemon: each one's shell, what its decisions start, and who owns which name. */
import { Effect, FiberMap, type Scope, Semaphore } from "effect";
import { untilTaken } from "../../actors/deciding/until-taken.ts";
import { eventOf, type WorkerDecider } from "../../actors/deciding/worker-decider.ts";
import { containing } from "../../actors/defects.ts";
import { attempt, attemptAsync, typed } from "../../actors/machine/attempt.ts";
import type { Beginning } from "../../actors/worker/worker.ts";
import { BOOT_LOOKS_MAX, RECONCILE_PERIOD_MS } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import type { TreeSpec } from "../../protocol/tree.ts";
import type { StopHow } from "../../protocol/tree-records.ts";
import { isEnded, type WorkerSpec } from "../../protocol/worker.ts";
import type { WorkerRow } from "../../store/port.ts";
import { reconcile } from "../../supervisor/boot/reconcile.ts";
import { errorOf, NOT_STARTED } from "../../supervisor/child/exits.ts";
import type { ChildState } from "../../supervisor/child/inputs.ts";
import { isPaused } from "../../supervisor/holds/pause.ts";
import { isBeingStopped } from "../../supervisor/tree/decide.ts";
import { emptyTree } from "../../supervisor/tree/evolve.ts";
import type { TreeCommand, TreeInput } from "../../supervisor/tree/inputs.ts";
import { notRunning, restartRefusal } from "../../supervisor/tree/refusals.ts";
import { memberOf, rests, supervisorOf, type TreeState, topOf } from "../../supervisor/tree/state.ts";
import { adapterFor, observe, specFor, specOf } from "../boot/boot.ts";
import type { Core } from "../core.ts";
import { foldTree, treeHistory } from "../fold.ts";
import { queuedRecord } from "../limits/admission.ts";
import type { AppliedReply } from "../replies.ts";
import { makeApplying } from "./applying.ts";
import { watchReadiness } from "./readiness.ts";
import { makeTree, type Tree } from "./shell.ts";

/** A supervisor of a file, as people name it. */
export interface Place {
  readonly tree: Tree;
  readonly supervisor: string;
}

export interface Forest {
  readonly trees: () => readonly Tree[];
  /** The tree of a worker, by the path of its supervisor. */
  treeOf(supervisor: string): Tree | undefined;
  /** The tree that decides for a worker; undefined for one of its own, and for one that its tree has forgotten. */
  treeWith(row: WorkerRow): Tree | undefined;
  apply(
    spec: TreeSpec,
    options: { readonly dry_run: boolean; readonly by: string },
  ): Effect.Effect<AppliedReply, HoldfastError>;
  ask(
    tree: Tree,
    path: string,
    what: "kill" | "restart" | "down",
    by: string,
    reason: string,
    how?: StopHow,
  ): Effect.Effect<void, HoldfastError>;
  /** A new child of a dynamic supervisor. */
  add(id: string, spec: WorkerSpec, requested: RecordDraft): Effect.Effect<void, HoldfastError>;
  /** At boot: every tree that was not taken down, with its workers. Ids of those are answered: nobody else recovers them. */
  readonly recover: Effect.Effect<ReadonlySet<string>, HoldfastError>;
  /** Runs for as long as the runtime: every tree is planned on a period. */
  readonly reconciling: Effect.Effect<never>;
  /** Resolves at the first decision about the tree after this call; fails once nobody decides any more. */
  next(tree: Tree): Effect.Effect<void, HoldfastError>;
  /** The runtime ends: nothing is decided any more, and nobody waits for it. */
  readonly close: Effect.Effect<void>;
}

export const makeForest = (core: Core): Effect.Effect<Forest, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { services, roster } = core;
    const { log, report } = services;
    const trees = new Map<string, Tree>();
    const waiting = new Map<string, Set<() => void>>();
    const run = yield* FiberMap.makeRuntime<never, string>();
    const applying = Semaphore.makeUnsafe(1);

    const told = (what: string) => (error: HoldfastError) =>
      Effect.sync(() =>
        error.code === "INTERNAL"
          ? services.defects.tell(what, error.cause ?? error)
          : report(`${what}: ${error.message}`, error),
      );

    const plan = (tree: Tree): Effect.Effect<void> =>
      Effect.catch(
        Effect.asVoid(tree.input({ type: "plan" })),
        told(`tree ${tree.name} could not be planned`),
      );

    // --- its workers

    const deciderOf = (tree: Tree, id: string, forgotten: { child: ChildState }): WorkerDecider => ({
      // A worker that its tree has forgotten keeps what it was until its shell is gone.
      child: () => {
        const child = tree.state().members.get(id)?.child;
        if (child !== undefined) forgotten.child = child;
        return forgotten.child;
      },
      input: (input, extra, options) => tree.input({ type: "worker", worker_id: id, input }, extra, options),
    });

    const supervise = (tree: Tree, id: string, given: WorkerSpec, beginning: Beginning) =>
      Effect.gen(function* () {
        const adapter = yield* adapterFor(core, { id, kind: given.kind }, beginning.action);
        const spec = specFor(services, given);
        const { child } = memberOf(tree.state(), id);
        const decider = deciderOf(tree, id, { child });
        const newcomer = { id, spec, ancestors: yield* core.ancestors(spec.parent) };
        const order = core.place();
        const { queued, turn } =
          beginning.action.type !== "start"
            ? core.admission.resume(newcomer, true, order)
            : core.admission.enter(newcomer);
        const { supervisor } = memberOf(tree.state(), id);
        const under = supervisorsAbove(tree.state(), supervisor);
        yield* roster.supervise({ spec, adapter, child, beginning, order, decider, turn }, under);
        if (queued !== undefined) yield* Effect.ignore(core.commit([queuedRecord(id, queued)]));
      });

    /** A new shell for a worker whose last one has ended, or is about to. */
    const start = (tree: Tree, id: string): Effect.Effect<void> =>
      Effect.gen(function* () {
        yield* roster.ended(id);
        const spec = yield* attemptAsync(() => services.files.load(id));
        if (!tree.state().launching.has(id)) return;
        yield* supervise(tree, id, spec, { action: { type: "start" } });
      }).pipe(
        typed,
        Effect.catch((error) => {
          report(`worker ${id} could not be started: ${error.message}`, error);
          const input: TreeInput = {
            type: "worker",
            worker_id: id,
            input: { type: "abandoned", error: errorOf(error), exit: NOT_STARTED, duration_ms: 0 },
          };
          // It would stay "launching" for ever if the store could not take this.
          return Effect.catchDefect(untilTaken(tree.input(input), told(`worker ${id}`)), (defect) =>
            Effect.sync(() => services.defects.tell(`the end of worker ${id}`, defect)),
          );
        }),
      );

    const carryOut = (command: TreeCommand, tree: Tree): void => {
      switch (command.type) {
        case "tell":
          roster.live.get(command.worker_id)?.tell(eventOf(command.command));
          return;
        case "start":
          run(`start ${command.worker_id}`, start(tree, command.worker_id));
          return;
        case "wake": {
          const wait = Math.max(0, command.at_ms - core.monoMs());
          run(`wake ${tree.name}`, Effect.andThen(Effect.sleep(wait), plan(tree)));
          return;
        }
      }
    };

    const onDecided = (input: TreeInput, tree: Tree): void => {
      if (input.type === "worker") attend(tree, input.worker_id, input.input.type);
      const state = tree.state();
      letGo(state);
      if (state.supervisors.size === 0 && trees.get(tree.name) === tree) {
        trees.delete(tree.name);
        core.accounts.forget(tree.name);
      }
      if (input.type !== "worker") roster.prune((path) => treeOf(path) !== undefined);
      wake(tree.name);
    };

    /** A woken waiter may wait again at once: for the next decision, not for this one. */
    const wake = (name: string): void => {
      const woken = waiting.get(name) ?? [];
      waiting.delete(name);
      for (const waiter of woken) waiter();
    };
    let closed = false;
    const close = Effect.sync(() => {
      closed = true;
      for (const name of [...waiting.keys()]) wake(name);
    });
    yield* Effect.addFinalizer(() => close);

    /** A worker that waits for a slot and is to be stopped does not wait any more. */
    const letGo = (state: TreeState): void => {
      for (const id of state.launching) {
        if (core.admission.placeOf(id) === undefined && !core.accounts.isWaiting(id)) continue;
        const supervisor = supervisorOf(state, memberOf(state, id).supervisor);
        const ref = supervisor.children.find((one) => one.worker_id === id);
        if (ref === undefined || isBeingStopped(supervisor, ref)) {
          core.admission.letGo(id);
          core.accounts.letGo(id);
        }
      }
    };

    /** From the launch to its readiness or its end somebody looks whether it is ready, but while it is paused. */
    const attend = (tree: Tree, id: string, what: string): void => {
      const child = tree.state().members.get(id)?.child;
      const key = `ready ${id}`;
      if (!child?.open || !child.awaits_ready || child.ready || child.stop !== null || isPaused(child)) {
        run(key, Effect.void);
        return;
      }
      if (what !== "launched" && what !== "adopted" && what !== "unpause") return;
      const tell = (input: Parameters<WorkerDecider["input"]>[0]) =>
        Effect.ignore(tree.input({ type: "worker", worker_id: id, input }));
      run(
        key,
        Effect.catch(
          typed(watchReadiness(core, child, tell)),
          told(`the readiness of worker ${id} cannot be told`),
        ),
      );
    };

    const plant = (state: TreeState): Tree => makeTree(core, state, carryOut, onDecided);
    const treeOf = (supervisor: string): Tree | undefined => {
      for (const tree of trees.values()) if (tree.state().supervisors.has(supervisor)) return tree;
      return undefined;
    };

    core.nameSupervisors((path) => treeOf(path) !== undefined);
    core.accounts.plant((path) => {
      const tree = treeOf(path);
      const state = tree?.state().supervisors.get(path);
      return tree === undefined || state === undefined ? undefined : { tree: tree.name, state };
    });

    // --- boot

    const recoverWorker = (tree: Tree, id: string) =>
      Effect.gen(function* () {
        const { child } = memberOf(tree.state(), id);
        if (isEnded(child.state) || (!child.open && !rests(child))) return;
        const row = yield* core.rowOf(id);
        const { spec, unlaunchable } = yield* specOf(services, row);
        const observed = child.open ? yield* observe(services, child) : undefined;
        // Meanwhile a sibling that was taken over may have led to a decision about this one: the period looks again.
        const now = tree.state().members.get(id)?.child;
        if (now === undefined || roster.live.has(id) || now.incarnation !== child.incarnation) return;
        if (now.open !== child.open || (!now.open && now.state !== child.state)) return;
        const action = reconcile(now, observed?.kind ?? "not_begun", core.monoMs());
        if (action.type === "leave") return;
        yield* supervise(tree, id, spec, {
          action,
          ...(observed !== undefined && "run" in observed ? { run: observed.run } : {}),
          ...(observed?.kind === "finished" ? { exit: observed.exit } : {}),
          ...(unlaunchable === undefined ? {} : { unlaunchable }),
        });
      }).pipe(typed, Effect.catch(told(`worker ${id} could not be taken over`)));

    /** Whose process could not be looked at in the boot is looked up again; then what the tree needs is planned. */
    const reconcileTree = (tree: Tree): Effect.Effect<void> =>
      Effect.gen(function* () {
        for (const [id, { child }] of tree.state().members)
          if ((child.open || rests(child)) && !roster.live.has(id) && !tree.state().launching.has(id))
            yield* recoverWorker(tree, id);
        yield* plan(tree);
      });

    const recoverTree = (name: string) =>
      Effect.gen(function* () {
        const history = yield* attempt(() => treeHistory(log, name));
        const rows = yield* attempt(() => log.workersUnder(history.supervisors));
        const specs = new Map<string, WorkerSpec>();
        for (const row of rows)
          if (!isEnded(row.state)) specs.set(row.id, (yield* specOf(services, row)).spec);
        const now = { boot_id: services.boot_id, mono_ms: core.monoMs(), wall_ms: core.wallMs() };
        const state = yield* attempt(() =>
          foldTree(log, history, rows, (row) => specs.get(row.id) ?? row.spec, now),
        );
        const tree = plant(state);
        trees.set(name, tree);
        const members = rows.filter((row) => state.members.has(row.id));
        // Also those that their supervisor holds: they will go on in their sessions.
        for (const { id, kind, state: at } of members) {
          const [adapter, spec] = [services.adapterFor(kind), specs.get(id)];
          if (!isEnded(at) && adapter !== undefined && spec !== undefined)
            yield* attempt(() => core.sessions.rest({ id, spec, adapter }));
        }
        yield* Effect.forEach(members, ({ id }) => recoverWorker(tree, id), {
          concurrency: BOOT_LOOKS_MAX,
          discard: true,
        });
        yield* plan(tree);
        return members.map(({ id }) => id);
      });

    const recover = Effect.gen(function* () {
      const found = yield* attempt(() => log.trees());
      if (found.length === 0) return new Set<string>();
      const ids = new Set<string>();
      for (const { name } of found)
        for (const id of yield* Effect.catch(recoverTree(name), (error) =>
          Effect.as(told(`tree ${name} could not be taken over`)(error), []),
        ))
          ids.add(id);
      return ids;
    });

    // --- what is asked for

    const applyTree = makeApplying(core, { find: (name) => trees.get(name), all: () => [...trees.values()] });
    const apply: Forest["apply"] = (spec, options) =>
      applying.withPermits(1)(
        Effect.gen(function* () {
          const known = trees.get(spec.name);
          const tree = known ?? plant(emptyTree(spec.name));
          const changes = yield* applyTree(tree, spec, options);
          if (!options.dry_run && known === undefined) trees.set(spec.name, tree);
          const state = tree.state();
          const phase = state.supervisors.size === 0 ? "terminated" : topOf(state).phase;
          return { tree: spec.name, changes, state: phase };
        }),
      );

    const ask: Forest["ask"] = (tree, supervisor, what, by, reason, how) =>
      Effect.asVoid(
        tree.change((state) => {
          const refused = what === "restart" ? restartRefusal(state, supervisor) : undefined;
          if (refused !== undefined) return Effect.fail(refused);
          return Effect.succeed<TreeInput>({
            type: "ask",
            what,
            supervisor,
            by,
            reason,
            ...(how && { how }),
          });
        }),
      );

    const add: Forest["add"] = (id, spec, requested) =>
      Effect.gen(function* () {
        const tree = treeOf(spec.supervisor);
        if (tree === undefined)
          return yield* Effect.fail(
            new HoldfastError("WORKER_NOT_FOUND", `There is no supervisor "${spec.supervisor}".`, {
              suggestion: "See the supervisors with `agent tree`; `root` is always there.",
            }),
          );
        yield* tree.change((state) => {
          const { config, phase, path } = supervisorOf(state, spec.supervisor);
          if (config.strategy !== "dynamic")
            return Effect.fail(
              new HoldfastError("INVALID_STATE", `The children of ${path} are those of its file.`, {
                suggestion:
                  "Add the worker to the file and run `agent up`, or spawn it under a dynamic supervisor.",
              }),
            );
          if (phase !== "running") return Effect.fail(notRunning(path, phase));
          return Effect.succeed<TreeInput>({ type: "add", worker_id: id, requested });
        });
      });

    return {
      trees: () => [...trees.values()],
      treeOf,
      treeWith: ({ id, supervisor }) => {
        const tree = treeOf(supervisor);
        return tree?.state().members.has(id) === true ? tree : undefined;
      },
      apply,
      ask,
      add,
      recover,
      close,
      reconciling: Effect.forever(
        Effect.andThen(
          Effect.sleep(RECONCILE_PERIOD_MS),
          Effect.suspend(() =>
            Effect.forEach(
              [...trees.values()],
              (tree) => containing(services.defects, `tree ${tree.name} on its period`, reconcileTree(tree)),
              { discard: true },
            ),
          ),
        ),
      ),
      next: (tree) =>
        Effect.callback<void, HoldfastError>((resume) => {
          if (closed) return resume(Effect.fail(shutDownMeanwhile(tree.name)));
          // Taken down meanwhile: nothing is decided about it any more.
          if (trees.get(tree.name) !== tree) return resume(Effect.void);
          const waiters = waiting.get(tree.name) ?? new Set();
          const waiter = () => resume(Effect.void);
          waiters.add(waiter);
          waiting.set(tree.name, waiters);
          return Effect.sync(() => waiters.delete(waiter));
        }),
    };
  });

const shutDownMeanwhile = (name: string) =>
  new HoldfastError("UNAVAILABLE", `The runtime was shut down before tree ${name} was where it should be.`, {
    suggestion: "The next daemon goes on with it; ask again there.",
  });

/** From the top of its file down to this one. */
const supervisorsAbove = (state: TreeState, path: string): readonly string[] => {
  const parent = state.supervisors.get(path)?.parent ?? null;
  return parent === null ? [path] : [...supervisorsAbove(state, parent), path];
};

/** By its path, or by the tree's name for its top. */
export const findSupervisor = (forest: Forest, ref: string): Place | undefined => {
  const tree = forest.treeOf(ref);
  return tree === undefined ? undefined : { tree, supervisor: ref };
};
