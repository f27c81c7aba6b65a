/** A request that answers with records of one stream of the log, and goes on with what comes. */
import { Effect } from "effect";
import { cursorOf, type StartCursor } from "../../protocol/cursor.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { type Outcome, success } from "../../protocol/outcome.ts";
import type { RuntimeApi } from "../../runtime/api.ts";
import type { TakePage } from "../../runtime/following/follower.ts";
import type { StreamReply } from "../replies.ts";
import { invalidRequest } from "../request.ts";
import type { Emit, HandlerServices } from "./handler.ts";

interface StreamQuery {
  readonly from?: StartCursor | undefined;
  readonly since_ms?: number | undefined;
}

export const recordStream = <Query extends StreamQuery>(
  follow: (runtime: RuntimeApi, query: Query, take: TakePage) => Effect.Effect<number, HoldfastError>,
) => ({
  lifetime: "open" as const,
  run: (
    { runtime }: HandlerServices,
    query: Query,
    emit: Emit,
  ): Effect.Effect<Outcome<StreamReply>, HoldfastError> =>
    Effect.gen(function* () {
      if (query.from !== undefined && query.since_ms !== undefined)
        return yield* Effect.fail(invalidRequest(["Give from or since_ms, not both."]));
      let records = 0;
      const next = yield* follow(runtime, query, ({ lines }) => {
        records += lines.length;
        return emit(lines);
      });
      return success({ next, records, cursor: cursorOf(runtime.epoch, next) });
    }),
});
