/** All trees of the daemon: their deciders, the effects of their decisions, and the owners of names. */
import { Effect, FiberMap, type Scope, Semaphore } from "effect";
import { eventOf } from "../../actors/deciding/worker-decider.ts";
import { containing } from "../../actors/defects.ts";
import { attempt } from "../../actors/machine/attempt.ts";
import { BOOT_LOOKS_MAX, RECONCILE_PERIOD_MS } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import type { TreeSpec } from "../../protocol/tree.ts";
import type { StopHow } from "../../protocol/tree-records.ts";
import { isEnded, type WorkerSpec } from "../../protocol/worker.ts";
import type { WorkerRow } from "../../store/views.ts";
import { emptyTree } from "../../supervisor/tree/evolve.ts";
import type { TreeCommand, TreeInput } from "../../supervisor/tree/inputs.ts";
import { notRunning, restartRefusal } from "../../supervisor/tree/refusals.ts";
import { rests, supervisorOf, type TreeState, topOf } from "../../supervisor/tree/state.ts";
import { specOf } from "../boot/boot.ts";
import type { Core } from "../core.ts";
import { foldTree, treeHistory } from "../fold.ts";
import type { AppliedReply } from "../replies.ts";
import { Applying, type ApplyOptions } from "./applying.ts";
import { Members, type RunInScope } from "./members.ts";
import { makeTree, type Tree } from "./tree-decider.ts";

/** A supervisor of a file that a person has named. */
export interface SupervisorPlace {
  readonly tree: Tree;
  readonly supervisor: string;
}

export const makeForest = (core: Core): Effect.Effect<Forest, never, Scope.Scope> =>
  Effect.gen(function* () {
    const forest = new Forest(core, yield* FiberMap.makeRuntime<never, string>());
    core.nameSupervisors((path) => forest.treeOf(path) !== undefined);
    core.accounts.plant((path) => {
      const tree = forest.treeOf(path);
      const state = tree?.state().supervisors.get(path);
      return tree === undefined || state === undefined ? undefined : { tree: tree.name, state };
    });
    yield* Effect.addFinalizer(() => forest.close);
    return forest;
  });

export class Forest {
  private readonly core: Core;
  private readonly run: RunInScope;
  private readonly members: Members;
  private readonly files: Applying;
  private readonly planted = new Map<string, Tree>();
  /** Callers that wait for the next decision about a tree, by its name. */
  private readonly waiting = new Map<string, Set<() => void>>();
  private readonly applying = Semaphore.makeUnsafe(1);
  private isClosed = false;

  constructor(core: Core, run: RunInScope) {
    this.core = core;
    this.run = run;
    this.members = new Members(core, run);
    this.files = new Applying(core, { find: (name) => this.planted.get(name), all: () => this.trees() });
  }

  trees(): readonly Tree[] {
    return [...this.planted.values()];
  }

  /** The tree that has the supervisor with this path. */
  treeOf(supervisor: string): Tree | undefined {
    for (const tree of this.planted.values()) if (tree.state().supervisors.has(supervisor)) return tree;
    return undefined;
  }

  /** The tree that decides for a worker; undefined for a worker outside of trees, and for one that its tree has removed. */
  treeWith({ id, supervisor }: WorkerRow): Tree | undefined {
    const tree = this.treeOf(supervisor);
    return tree?.state().members.has(id) === true ? tree : undefined;
  }

  // --- what is asked for

  apply(spec: TreeSpec, options: ApplyOptions): Effect.Effect<AppliedReply, HoldfastError> {
    const applied = Effect.gen({ self: this }, function* () {
      const known = this.planted.get(spec.name);
      const tree = known ?? this.plant(emptyTree(spec.name));
      const changes = yield* this.files.apply(tree, spec, options);
      if (!options.dry_run && known === undefined) this.planted.set(spec.name, tree);
      const state = tree.state();
      const phase = state.supervisors.size === 0 ? "terminated" : topOf(state).phase;
      return { tree: spec.name, changes, state: phase };
    });
    return this.applying.withPermits(1)(applied);
  }

  ask(
    tree: Tree,
    supervisor: string,
    what: "kill" | "restart" | "down",
    by: string,
    reason: string,
    how?: StopHow,
  ): Effect.Effect<void, HoldfastError> {
    return Effect.asVoid(
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
  }

  /** Adds a child to a dynamic supervisor. */
  add(id: string, spec: WorkerSpec, requested: RecordDraft): Effect.Effect<void, HoldfastError> {
    const tree = this.treeOf(spec.supervisor);
    if (tree === undefined) return Effect.fail(noSupervisor(spec.supervisor));
    return Effect.asVoid(
      tree.change((state) => {
        const { config, phase, path } = supervisorOf(state, spec.supervisor);
        if (config.strategy !== "dynamic") return Effect.fail(notDynamic(path));
        if (phase !== "running") return Effect.fail(notRunning(path, phase));
        return Effect.succeed<TreeInput>({ type: "add", worker_id: id, requested });
      }),
    );
  }

  /** Resolves at the next decision about the tree. Fails once the runtime decides nothing more. */
  next(tree: Tree): Effect.Effect<void, HoldfastError> {
    return Effect.callback((resume) => {
      if (this.isClosed) return resume(Effect.fail(shutDownMeanwhile(tree.name)));
      // The tree was taken down meanwhile: no further decision follows.
      if (this.planted.get(tree.name) !== tree) return resume(Effect.void);
      const waiters = this.waiting.get(tree.name) ?? new Set();
      const waiter = () => resume(Effect.void);
      waiters.add(waiter);
      this.waiting.set(tree.name, waiters);
      return Effect.sync(() => waiters.delete(waiter));
    });
  }

  /** Ends all decisions: callers that wait for one fail. */
  readonly close: Effect.Effect<void> = Effect.sync(() => {
    this.isClosed = true;
    for (const name of [...this.waiting.keys()]) this.wake(name);
  });

  // --- boot and period

  /**
   * At boot: takes over every tree that was not taken down, with its workers. Returns their ids, because nothing else
   * recovers them.
   */
  readonly recover: Effect.Effect<ReadonlySet<string>, HoldfastError> = Effect.gen(
    { self: this as Forest },
    function* () {
      const { views } = this.core.services;
      const ids = new Set<string>();
      for (const { name } of yield* attempt(() => views.trees())) {
        const recovered = Effect.catch(this.recoverTree(name), (error) => {
          this.members.tell(`tree ${name} could not be taken over`, error);
          return Effect.succeed([]);
        });
        for (const id of yield* recovered) ids.add(id);
      }
      return ids;
    },
  );

  /** Plans every tree on a period, as long as the runtime. */
  readonly reconciling: Effect.Effect<never> = Effect.forever(
    Effect.andThen(
      Effect.sleep(RECONCILE_PERIOD_MS),
      Effect.suspend(() =>
        Effect.forEach(
          this.trees(),
          (tree) =>
            containing(
              this.core.services.defects,
              `tree ${tree.name} on its period`,
              this.reconcileTree(tree),
            ),
          { discard: true },
        ),
      ),
    ),
  );

  /** Recovers the workers whose process could not be looked up at boot, then plans what the tree needs. */
  private reconcileTree(tree: Tree): Effect.Effect<void> {
    const { live } = this.core.roster;
    return Effect.gen({ self: this }, function* () {
      for (const [id, { child }] of tree.state().members)
        if ((child.open || rests(child)) && !live.has(id) && !tree.state().launching.has(id))
          yield* this.members.recover(tree, id);
      yield* this.plan(tree);
    });
  }

  private recoverTree(name: string): Effect.Effect<readonly string[], HoldfastError> {
    const { services, monoMs, wallMs } = this.core;
    const { log, views, boot_id } = services;
    return Effect.gen({ self: this }, function* () {
      const history = yield* attempt(() => treeHistory(log, name));
      const rows = yield* attempt(() => views.workersUnder(history.supervisors));
      const specs = new Map<string, WorkerSpec>();
      for (const row of rows) if (!isEnded(row.state)) specs.set(row.id, (yield* specOf(services, row)).spec);
      const now = { boot_id, mono_ms: monoMs(), wall_ms: wallMs() };
      const state = yield* attempt(() =>
        foldTree(log, history, rows, (row) => specs.get(row.id) ?? row.spec, now),
      );
      const tree = this.plant(state);
      this.planted.set(name, tree);
      const members = rows.filter((row) => state.members.has(row.id));
      for (const row of members) yield* this.keepSession(row, specs.get(row.id));
      yield* Effect.forEach(members, ({ id }) => this.members.recover(tree, id), {
        concurrency: BOOT_LOOKS_MAX,
        discard: true,
      });
      yield* this.plan(tree);
      return members.map(({ id }) => id);
    });
  }

  /** Claims the session of a worker, even of one between two starts: it will resume the session. */
  private keepSession(
    { id, kind, state }: WorkerRow,
    spec: WorkerSpec | undefined,
  ): Effect.Effect<void, HoldfastError> {
    const { services, sessions } = this.core;
    const adapter = services.adapterFor(kind);
    if (isEnded(state) || adapter === undefined || spec === undefined) return Effect.void;
    return attempt(() => sessions.rest({ id, spec, adapter }));
  }

  // --- what its decisions start

  private plant(state: TreeState): Tree {
    return makeTree(
      this.core,
      state,
      (command, tree) => this.carryOut(command, tree),
      (input, tree) => this.onDecided(input, tree),
    );
  }

  private plan(tree: Tree): Effect.Effect<void> {
    return Effect.catch(Effect.asVoid(tree.input({ type: "plan" })), (error) =>
      Effect.sync(() => this.members.tell(`tree ${tree.name} could not be planned`, error)),
    );
  }

  private carryOut(command: TreeCommand, tree: Tree): void {
    switch (command.type) {
      case "tell":
        this.core.roster.live.get(command.worker_id)?.tell(eventOf(command.command));
        return;
      case "start":
        this.run(`start ${command.worker_id}`, this.members.start(tree, command.worker_id));
        return;
      case "wake": {
        const wait = Math.max(0, command.at_ms - this.core.monoMs());
        this.run(`wake ${tree.name}`, Effect.andThen(Effect.sleep(wait), this.plan(tree)));
        return;
      }
    }
  }

  private onDecided(input: TreeInput, tree: Tree): void {
    if (input.type === "worker") this.members.attend(tree, input.worker_id, input.input.type);
    const state = tree.state();
    this.members.letGo(state);
    if (state.supervisors.size === 0 && this.planted.get(tree.name) === tree) {
      this.planted.delete(tree.name);
      this.core.accounts.forget(tree.name);
    }
    if (input.type !== "worker") this.core.roster.prune((path) => this.treeOf(path) !== undefined);
    this.wake(tree.name);
  }

  /** Remove the callers first: a woken one may wait again at once, for the next decision. */
  private wake(name: string): void {
    const woken = this.waiting.get(name) ?? [];
    this.waiting.delete(name);
    for (const waiter of woken) waiter();
  }
}

const noSupervisor = (path: string): HoldfastError =>
  new HoldfastError("WORKER_NOT_FOUND", `There is no supervisor "${path}".`, {
    suggestion: "See the supervisors with `agent tree`; `root` is always there.",
  });

const notDynamic = (path: string): HoldfastError =>
  new HoldfastError("INVALID_STATE", `The children of ${path} are set by its file.`, {
    suggestion: "Add the worker to the file and run `agent up`, or spawn it under a dynamic supervisor.",
  });

const shutDownMeanwhile = (name: string): HoldfastError =>
  new HoldfastError(
    "UNAVAILABLE",
    `The runtime was shut down before tree ${name} reached its planned state.`,
    {
      suggestion: "The next daemon continues it; ask again there.",
    },
  );

/** Finds a supervisor by its path; the tree's name is the path of its top. */
export const findSupervisor = (forest: Forest, ref: string): SupervisorPlace | undefined => {
  const tree = forest.treeOf(ref);
  return tree === undefined ? undefined : { tree, supervisor: ref };
};
