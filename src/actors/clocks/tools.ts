/** Reads the open tool calls of an incarnation from the log, for a daemon that did not see them begin. */

import { Effect } from "effect";
import type { RunId } from "../../adapters/spawner.ts";
import type { RecordFilter } from "../../store/event-log.ts";
import { afterRecord } from "../../supervisor/clocks/clocks.ts";
import type { Journal } from "../deciding/journal.ts";

/** Each call counts from `now`, because no daemon timed it before. */
export const toolsInFlight = (
  journal: Pick<Journal, "ask" | "records">,
  { worker_id, incarnation }: RunId,
  now: number,
): Effect.Effect<ReadonlyMap<string, number>> =>
  Effect.gen(function* () {
    const filter: RecordFilter = {
      worker_ids: [worker_id],
      types: ["turn_completed"],
      kinds: ["ToolCall", "ToolResult"],
    };
    const spawned = yield* journal.ask(({ log }) => log.stream(worker_id, ["worker_spawned"]));
    const from = spawned.find((record) => record.incarnation === incarnation)?.seq ?? 0;
    let tools: ReadonlyMap<string, number> = new Map();
    yield* journal.records(from, filter, (record) => {
      tools = afterRecord(tools, record, now);
    });
    return tools;
  });
