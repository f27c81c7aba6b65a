/** Searches the log by words, within the wanted workers and time. */
import { Effect } from "effect";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import { cursorOf } from "../../protocol/cursor.ts";
import type { SearchHit } from "../../protocol/replies/search.ts";
import type { FoundRecord } from "../../store/search.ts";
import type { RuntimeApi } from "../api.ts";
import type { Core } from "../core.ts";
import { seqOf } from "../following/cursor.ts";

export const hitOf = ({ record, text, marks }: FoundRecord, worker_name: string | null): SearchHit => ({
  seq: record.seq,
  recorded_at: record.recorded_at,
  type: record.type,
  kind: record.type === "agent.event" ? record.payload.kind : null,
  stream: record.stream,
  worker_id: record.worker_id ?? null,
  worker_name,
  incarnation: record.incarnation ?? null,
  text,
  marks,
});

export const searchOf =
  ({ find, wallMs, services: { log, views } }: Core): RuntimeApi["search"] =>
  ({ text, workers, types, since_ms, cursor, limit }) =>
    Effect.gen(function* () {
      const worker_ids = yield* Effect.forEach(workers, (ref) => Effect.map(find(ref), (row) => row.id));
      const before = yield* attempt(() =>
        cursor === undefined ? Number.MAX_SAFE_INTEGER : seqOf(log, cursor),
      );
      const after = yield* attempt(() => (since_ms === undefined ? 0 : log.seqAt(wallMs() - since_ms) - 1));
      const query = { text, worker_ids, types, after, before, limit };
      const { found, next } = yield* attemptAsync(() => views.search(query));
      const nameOf = ({ record: { worker_id } }: FoundRecord): string | null =>
        worker_id === undefined ? null : (views.worker(worker_id)?.name ?? null);
      const hits = yield* attempt(() => found.map((one) => hitOf(one, nameOf(one))));
      return { hits, ...(next === null ? {} : { cursor: cursorOf(log.epoch, next) }) };
    });
