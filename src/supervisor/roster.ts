/** The workers that live: each one's fiber is in the runtime's scope and dies with it, its agent does not. */
import { Cause, Effect, Exit, FiberMap, type Scope } from "effect";
import type { Services } from "./services.ts";
import { type Enlisted, makeWorker, type Worker } from "./worker.ts";

export interface Roster {
  readonly live: ReadonlyMap<string, Worker>;
  supervise(enlisted: Enlisted): Effect.Effect<void>;
  /** Resolves when the worker does not live, because its life has ended or the runtime's has. */
  ended(id: string): Effect.Effect<void>;
  /** Lets go of all of them. */
  readonly clear: Effect.Effect<void>;
}

export const makeRoster = (services: Services): Effect.Effect<Roster, never, Scope.Scope> =>
  Effect.map(FiberMap.make<string>(), (fibers) => {
    const live = new Map<string, Worker>();
    const endings = new Map<string, Set<() => void>>();

    const leave = (id: string, exit: Exit.Exit<void>): void => {
      live.delete(id);
      if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) {
        services.report(`worker ${id}: its end could not be recorded`, Cause.squash(exit.cause));
      }
      for (const ended of endings.get(id) ?? []) ended();
      endings.delete(id);
    };

    return {
      live,
      supervise: (enlisted) =>
        Effect.suspend(() => {
          const worker = makeWorker(services, enlisted);
          live.set(worker.id, worker);
          const life = Effect.onExit(worker.life, (exit) => Effect.sync(() => leave(worker.id, exit)));
          return Effect.asVoid(FiberMap.run(fibers, worker.id, life));
        }),
      ended: (id) =>
        Effect.callback<void>((resume) => {
          if (!live.has(id)) return resume(Effect.void);
          const waiters = endings.get(id) ?? new Set();
          const waiter = () => resume(Effect.void);
          waiters.add(waiter);
          endings.set(id, waiters);
          return Effect.sync(() => waiters.delete(waiter));
        }),
      clear: FiberMap.clear(fibers),
    };
  });
