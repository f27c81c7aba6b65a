/** The workers that live, below the fibers of their supervisors: what is done for one ends with the runtime, its agent does not. */
import { Effect, type Scope } from "effect";
import type { Bridge } from "../actors/bridge.ts";
import type { Services } from "../actors/ports.ts";
import {
  type FiberView,
  type SupervisedWorker,
  Supervisor,
  type WorkerFiberEnd,
} from "../actors/supervisor/supervisor.ts";
import { Shell, type Worker, type WorkerEntry } from "../actors/worker/worker.ts";

export interface Roster {
  readonly live: ReadonlyMap<string, Worker>;
  /** `under`: the paths of its supervisors, from the top of its file down; none for a worker that was spawned. */
  supervise(enlisted: WorkerEntry, under?: readonly string[]): Effect.Effect<void>;
  /** Ends the fibers of supervisors that are no more, once they have no worker. */
  prune(isThere: (path: string) => boolean): void;
  /** Resolves when the worker does not live, because its life has ended or the runtime's has. */
  ended(id: string): Effect.Effect<void>;
  /** Lets go of all of them. */
  readonly clear: Effect.Effect<void>;
  /** The tree of fibers as it stands. */
  fibers(): FiberView;
}

export const makeRoster = (
  services: Services,
  bridge: Bridge,
  /** Told of each worker whose life is over, not of those that are let go with the runtime. */
  left: (id: string) => void,
): Effect.Effect<Roster, never, Scope.Scope> =>
  Effect.gen(function* () {
    const live = new Map<string, Shell>();
    const endings = new Map<string, Set<() => void>>();
    const root = new Supervisor("root", yield* Effect.scope, bridge.fork, services);
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
      // Another life of the same worker may have begun.
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
          const worker = new Shell(services, bridge, enlisted);
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
