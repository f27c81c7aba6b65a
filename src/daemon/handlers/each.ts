/** Commands with one result for each worker. */
import { Effect } from "effect";
import type { Caller } from "../../protocol/caller.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { failure, type Outcome, success } from "../../protocol/outcome.ts";
import type { RequestData } from "../../protocol/requests.ts";
import type { PerWorker, RuntimeApi } from "../../runtime/api.ts";
import type { HandlerServices, RequestHandler } from "./handler.ts";

type PerWorkerRequest =
  | "agent/kill"
  | "agent/restart"
  | "agent/pause"
  | "agent/unpause"
  | "agent/archive"
  | "worktree/remove"
  | "jobs/cancel";

/** A command with one result for each worker. `done` completes the sentence "could not be …". */
export const each = <N extends PerWorkerRequest>(
  done: string,
  call: (
    runtime: RuntimeApi,
    data: RequestData<N> & { readonly caller: Caller },
    services: HandlerServices,
  ) => Effect.Effect<readonly PerWorker[], HoldfastError>,
): RequestHandler<N> => ({
  lifetime: "command",
  run: (services, data) =>
    Effect.map(call(services.runtime, { ...data, caller: services.caller() }, services), (results) =>
      perWorker(done, results),
    ),
});

/**
 * One result for each id. If some fail the error is PARTIAL_FAILURE; a single id fails with its own
 * error.
 */
const perWorker = (
  done: string,
  results: readonly PerWorker[],
): Outcome<{ results: readonly PerWorker[] }> => {
  const failed = results.filter((result) => !result.ok);
  if (failed.length === 0) return success({ results });
  const only = results.length === 1 ? failed[0]?.error : undefined;
  const error = only
    ? new HoldfastError(only.code, only.message, { suggestion: only.suggestion })
    : new HoldfastError(
        "PARTIAL_FAILURE",
        `${failed.length} of ${results.length} workers could not be ${done}.`,
      );
  return { ...failure(error), value: { results } };
};
