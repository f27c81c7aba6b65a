/** The workers that live: what is done for one ends with the runtime, its agent does not. */
import { Effect, type Scope } from "effect";
import { makeBridge } from "../actors/bridge.ts";
import type { Services } from "../actors/ports.ts";
import type { Sessions } from "../actors/sessions.ts";
import { type Enlisted, Shell, type Worker } from "../actors/worker/worker.ts";
import type { Gaps } from "../supervisor/clocks/gaps.ts";
import type { Accounts } from "./limits/accounts.ts";

export interface Roster {
  readonly live: ReadonlyMap<string, Worker>;
  supervise(enlisted: Enlisted): Effect.Effect<void>;
  /** Resolves when the worker does not live, because its life has ended or the runtime's has. */
  ended(id: string): Effect.Effect<void>;
  /** Lets go of all of them. */
  readonly clear: Effect.Effect<void>;
}

export const makeRoster = (
  services: Services,
  gaps: Gaps,
  accounts: Accounts,
  sessions: Sessions,
  /** Told of each worker whose life is over, not of those that are let go with the runtime. */
  left: (id: string) => void,
  /** Told of each worker that waits without a process. */
  rested: (id: string) => void,
): Effect.Effect<Roster, never, Scope.Scope> =>
  Effect.gen(function* () {
    const bridge = { ...(yield* makeBridge(services.defects)), gaps, accounts, sessions, rested };
    const live = new Map<string, Shell>();
    const endings = new Map<string, Set<() => void>>();

    const leave = ({ id }: Worker, failure?: unknown): void => {
      if (!live.delete(id)) return;
      if (failure !== undefined)
        services.defects.tell(`worker ${id}: its end could not be recorded`, failure);
      for (const ended of endings.get(id) ?? []) ended();
      endings.delete(id);
    };

    const over = (worker: Worker, failure?: unknown): void => {
      if (live.has(worker.id)) left(worker.id);
      leave(worker, failure);
    };

    const clear = Effect.sync(() => {
      for (const worker of live.values()) {
        worker.letGo();
        leave(worker);
      }
    });
    yield* Effect.addFinalizer(() => clear);

    return {
      live,
      supervise: (enlisted) =>
        Effect.sync(() => {
          const worker = new Shell(services, bridge, enlisted, over);
          live.set(worker.id, worker);
          worker.begin();
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
      clear,
    };
  });
