/** The living workers, below the fibers of their supervisors. Their fibers end with the runtime; their agents do not. */
import { Effect, type Scope } from "effect";
import type { Services } from "../actors/ports.ts";
import type { SharedParts } from "../actors/shared.ts";
import {
  type FiberView,
  type SupervisedWorker,
  Supervisor,
  type WorkerFiberEnd,
} from "../actors/supervisor/supervisor.ts";
import { LiveWorker, type Worker, type WorkerEntry } from "../actors/worker/worker.ts";

export interface Roster {
  readonly live: ReadonlyMap<string, Worker>;
  /**
   * Starts the fiber of a worker. `under`: the paths of its supervisors, from the top of its file down; none for a spawned
   * worker.
   */
  supervise(enlisted: WorkerEntry, under?: readonly string[]): Effect.Effect<void>;
  /** Ends the fibers of removed supervisors once they have no worker. */
  prune(isThere: (path: string) => boolean): void;
  /** Resolves when the worker no longer lives, because its life or the runtime has ended. */
  ended(id: string): Effect.Effect<void>;
  /** Lets go of all workers: their agents run on. */
  readonly clear: Effect.Effect<void>;
  /** The current tree of fibers. */
  fibers(): FiberView;
}

export const makeRoster = (
  services: Services,
  shared: SharedParts,
  /** Called for each worker whose life has ended, not for those let go with the runtime. */
  left: (id: string) => void,
): Effect.Effect<Roster, never, Scope.Scope> =>
  Effect.gen(function* () {
    const live = new Map<string, LiveWorker>();
    const endings = new Map<string, Set<() => void>>();
    const root = new Supervisor("root", yield* Effect.scope, shared.fork, services);
    const supervisors = new Map<string, Supervisor>();

    const supervisorAt = (under: readonly string[]): Supervisor =>
      under.reduce((above, path) => {
        const found = supervisors.get(path) ?? above.below(path);
        supervisors.set(path, found);
        return found;
      }, root);

    const leave = (id: string): void => {
      if (!live.delete(id)) return;
      for (const ended of endings.get(id) ?? []) ended();
      endings.delete(id);
    };

    const onEnd = (worker: SupervisedWorker, end: WorkerFiberEnd): void => {
      const { id } = worker;
      // A new life of the same worker may have begun.
      if (live.get(id) !== worker) return;
      if (end.type !== "let_go") left(id);
      leave(id);
      if (end.type === "unrecorded")
        services.defects.tell(`worker ${id}: its end could not be recorded`, end.failure);
    };

    const clear = Effect.sync(() => {
      root.letGoOfAll();
      for (const id of [...live.keys()]) leave(id);
    });
    yield* Effect.addFinalizer(() => clear);

    return {
      live,
      supervise: (enlisted, under = []) =>
        Effect.sync(() => {
          const worker = new LiveWorker(services, shared, enlisted);
          live.set(worker.id, worker);
          supervisorAt(under).start(worker, onEnd);
        }),
      prune: (isThere) => {
        for (const [path, supervisor] of supervisors) {
          if (isThere(path) || !supervisor.isIdle()) continue;
          supervisors.delete(path);
          supervisor.end();
        }
      },
      ended: (id) =>
        Effect.callback<void>((resume) => {
          if (!live.has(id)) return resume(Effect.void);
          const waiters = endings.get(id) ?? new Set();
          const waiter = () => resume(Effect.void);
          waiters.add(waiter);
          endings.set(id, waiters);
          return Effect.sync(() => waiters.delete(waiter));
        }),
      clear,
      fibers: () => root.view(),
    };
  });
