/**
 * Holds the session of a worker before its agent runs, and ends an agent that is in a session held by another worker.
 */
import { Effect, Result } from "effect";
import { CLUSTER_RETRY_MS } from "../../base/limits.ts";
import { sessionInUseAt } from "../../protocol/asked-session.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { attemptAsync } from "../machine/attempt.ts";
import type { Leases } from "../ports.ts";
import type { Resumer } from "../sessions.ts";
import type { LiveWorker } from "./worker.ts";

/** Called when the agent has told its session, or a boot has found the agent in one. */
export const holdSession = (worker: LiveWorker, session_id: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    const refused = worker.shared.sessions.claim(worker, session_id);
    if (refused !== undefined) return taken(worker, session_id, refused);
    // A cluster that does not answer holds up no agent.
    worker.fork(
      Effect.flatMap(
        refusalAtLast(worker, session_id, () => false),
        (late) => (late === undefined ? Effect.void : taken(worker, session_id, late)),
      ),
    );
    return Effect.void;
  });

const taken = (worker: LiveWorker, session_id: string, refused: HoldfastError): Effect.Effect<void> => {
  const holder = String(refused.info.details?.holder);
  return worker.journal.fact({ type: "session_taken", session_id, holder });
};

/** Claims the session at a boot. If the store cannot be read now, the next start asks again. */
export const keepSession = (worker: LiveWorker): void => {
  const { sessions } = worker.shared;
  try {
    sessions.claim(worker, sessions.known(worker));
  } catch {
    // The next reader of the log reports it.
  }
};

/** Takes the session in the cluster, if this machine is a node of one. The answer is the refusal. */
export const refusalInCluster = (
  leases: Leases | undefined,
  { spec, adapter }: Pick<Resumer, "spec" | "adapter">,
  session_id: string | undefined,
): Effect.Effect<HoldfastError | undefined, HoldfastError> => {
  if (leases?.session === undefined || session_id === undefined || adapter.sessions_under === undefined)
    return Effect.undefined;
  const { kind, name, placed } = spec;
  const isItself = placed !== undefined && name === placed.worker;
  const asked = { kind, session_id, placed: isItself ? placed : undefined };
  return Effect.map(
    attemptAsync(async () => leases.session?.(asked)),
    (held) => held && sessionInUseAt(session_id, held.worker, held.node),
  );
};

/** Asks until it is known, or until `isOver` says so. */
export const refusalAtLast = (
  worker: LiveWorker,
  session_id: string | undefined,
  isOver: () => boolean,
): Effect.Effect<HoldfastError | undefined> =>
  Effect.gen(function* () {
    while (!isOver()) {
      const asked = yield* Effect.result(refusalInCluster(worker.services.leases, worker, session_id));
      if (Result.isSuccess(asked)) return asked.success;
      yield* Effect.sleep(CLUSTER_RETRY_MS);
    }
    return undefined;
  });
