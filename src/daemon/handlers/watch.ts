/**
 * agent/watch: records from a cursor as progress envelopes, then the cursor to continue at (architecture §4,
 * Readers follow a cursor).
 */
import { Effect } from "effect";
import { cursorOf } from "../../protocol/cursor.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { type Outcome, success } from "../../protocol/outcome.ts";
import type { RecordType } from "../../protocol/records.ts";
import type { RequestData } from "../../protocol/requests.ts";
import type { RuntimeApi, WatchQuery } from "../../runtime/api.ts";
import type { LinePage } from "../../runtime/following/follower.ts";
import type { StreamReply } from "../replies.ts";
import { invalidRequest } from "../request.ts";
import type { RequestHandler } from "./handler.ts";

export const watch: RequestHandler<"agent/watch"> = {
  lifetime: "open",
  run: ({ runtime }, data, emit) => watched(runtime, data, ({ lines }) => emit(lines)),
};

/** Hands the records of a watch to `take`, page by page. */
export const watched = (
  runtime: RuntimeApi,
  data: RequestData<"agent/watch">,
  take: (page: LinePage) => Promise<void> | undefined,
): Effect.Effect<Outcome<StreamReply>, HoldfastError> =>
  Effect.suspend(() => {
    const problems = contradictions(data);
    if (problems.length > 0) return Effect.fail(invalidRequest(problems));
    let records = 0;
    const counted = (page: LinePage): Promise<void> | undefined => {
      records += page.lines.length;
      return take(page);
    };
    const replied = (next: number) => success({ next, records, cursor: cursorOf(runtime.epoch, next) });
    // Ten thousand may wait here, and a generator that waits is larger than what it waits for.
    return Effect.forEach(data.ids, (ref) => runtime.resolve(ref)).pipe(
      Effect.flatMap((ids) => runtime.follow(queryOf(data, ids), counted)),
      Effect.map(replied),
    );
  });

/** No ids means all workers, with or without `all`. */
const contradictions = ({ ids, all, subtree, from, since_ms }: RequestData<"agent/watch">): string[] => {
  const problems: string[] = [];
  if (all && ids.length > 0) problems.push("Give ids or all, not both.");
  if (subtree && ids.length === 0)
    problems.push("Give ids with subtree: without them, all workers are meant.");
  if (from !== undefined && since_ms !== undefined) problems.push("Give from or since_ms, not both.");
  return problems;
};

const queryOf = (data: RequestData<"agent/watch">, ids: readonly string[]): WatchQuery => ({
  follow: data.follow,
  from: data.from,
  since_ms: data.since_ms,
  tail: data.tail,
  until: data.until,
  ids: ids.length > 0 ? ids : undefined,
  subtree: data.subtree,
  filter: {
    // An unknown type name matches no record.
    types: data.types.length > 0 ? (data.types as RecordType[]) : undefined,
    kinds: data.kinds.length > 0 ? data.kinds : undefined,
  },
});
