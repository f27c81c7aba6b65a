/** Readers that follow the log: by pages handed over, or as a stream of records. */
import { Effect, Stream } from "effect";
import { attempt } from "../../actors/machine/attempt.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { LogRecord } from "../../protocol/records.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { RecordFilter } from "../../store/event-log.ts";
import type { WorkerRow } from "../../store/views.ts";
import type { RuntimeApi, WatchQuery } from "../api.ts";
import type { Core } from "../core.ts";
import { withDescendants } from "../descendants.ts";
import { seqOf, tailOf } from "../following/cursor.ts";
import { type Follow, followed, pages } from "../following/follower.ts";

/** `isOver`: the runtime has ended, so readers of the live tail have nothing to wait for. */
export const makeWatching = (core: Core, isOver: () => boolean): Pick<RuntimeApi, "follow" | "watch"> => {
  const { find, tail, wallMs } = core;
  const { log, views } = core.services;
  const followOf = (query: WatchQuery): Effect.Effect<Follow, HoldfastError> =>
    Effect.gen(function* () {
      const ids =
        query.ids === undefined
          ? undefined
          : yield* Effect.forEach(query.ids, (ref) => Effect.map(find(ref), (row) => row.id));
      const since = yield* attempt(() =>
        query.from === undefined
          ? query.since_ms === undefined
            ? undefined
            : log.seqAt(wallMs() - query.since_ms) - 1
          : seqOf(log, query.from),
      );
      // A worker is in the views as soon as its first record is in the log.
      const isGrowing = query.subtree === true && ids !== undefined;
      const idsNow = () => (isGrowing ? withDescendants(views, ids) : ids);
      const filterNow = (): RecordFilter => {
        const worker_ids = idsNow();
        return {
          ...query.filter,
          ...(worker_ids === undefined ? {} : { worker_ids }),
          ...(query.streams === undefined ? {} : { streams: query.streams }),
        };
      };
      const filter = filterNow();
      const from =
        query.tail === undefined ? (since ?? log.head()) : yield* tailOf(log, filter, since ?? 0, query.tail);
      const haveEnded = () => (idsNow() ?? []).every((id) => isEnded((views.worker(id) as WorkerRow).state));
      return {
        from,
        filter,
        filterNow: isGrowing ? filterNow : undefined,
        until: query.until,
        isOver: () => !query.follow && haveEnded(),
        isCut: isOver,
      };
    });
  return {
    follow: (query, take) => Effect.flatMap(followOf(query), (what) => followed(tail, what, take)),
    watch: (query) =>
      Stream.flattenIterable(
        Stream.map(Stream.unwrap(Effect.map(followOf(query), (what) => pages(tail, what))), (page) =>
          page.lines.map((line) => JSON.parse(line) as LogRecord),
        ),
      ),
  };
};
