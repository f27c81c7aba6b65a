/** The sessions of a cluster, as the workers of its node ask for them (decision 0087). */
import { Effect, type Scope } from "effect";
import type { Leases } from "../../actors/ports.ts";
import { CLUSTER_ANSWER_MS } from "../../base/limits.ts";
import type { PostgresStore } from "../../cluster/postgres/store.ts";
import type { Rights } from "../rights.ts";
import { refusalOf } from "./refusals.ts";

type SessionStore = Pick<PostgresStore, "takeSession" | "sessionHolder">;

export const sessionsOf =
  (store: SessionStore, node: string): NonNullable<Leases["session"]> =>
  async ({ kind, session_id, placed }) => {
    if (placed !== undefined)
      return store.takeSession({ kind, session_id }, placed).catch((cause: unknown) => {
        throw refusalOf(cause);
      });
    // A worker that is not placed runs also while the database is away. The daemon itself knows who has a session here.
    const looked = Effect.timeout(
      Effect.tryPromise(() => store.sessionHolder({ kind, session_id })),
      CLUSTER_ANSWER_MS,
    );
    const holder = await Effect.runPromise(Effect.catchCause(looked, () => Effect.undefined));
    return holder?.node === node ? undefined : holder;
  };

/** Answers the workers of this machine until the scope ends. */
export const sessionsAsked = (
  rights: Rights,
  sessions: NonNullable<Leases["session"]>,
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => rights.askForSessions(sessions)),
    () => Effect.sync(() => rights.askForSessions(undefined)),
  );
