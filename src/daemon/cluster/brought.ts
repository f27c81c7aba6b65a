/** The session, the restarts and the open turn that a worker brings to its next node, by the copied records of its last run (decision 0082). */
import { CLUSTER_BROUGHT_RECORDS_MAX } from "../../base/limits.ts";
import type { BroughtRows } from "../../cluster/postgres/answers.ts";
import type { LogRecord } from "../../protocol/records.ts";
import { RESTART_BY_USER, RESTART_ENDED, restartCause } from "../../protocol/restart-cause.ts";
import type { Brought } from "../../protocol/worker.ts";
import { interruptedBy } from "./interrupted.ts";

/**
 * Ages are differences on the clock of that node, up to the newest record that it copied: no clocks of two machines are compared.
 * A restart is thus never older here than it is, so a window may count it for longer, and never for less.
 */
export const broughtBy = ({ newest, records, turn }: BroughtRows): Brought => {
  const until = newest === null ? 0 : timeOf(JSON.parse(newest));
  const ages: number[] = [];
  // Null once a newer record says that it is gone.
  let session_id: string | null | undefined;
  let isWindowOver = false;
  for (const text of records) {
    const record: LogRecord = JSON.parse(text);
    const age = Math.max(0, until - timeOf(record));
    switch (record.type) {
      case "session_started":
        if (session_id === undefined) session_id = record.payload.session_id;
        break;
      case "session_abandoned":
        if (session_id === undefined) session_id = null;
        break;
      case "worker_restart_scheduled": {
        const cause = restartCause(record.payload);
        // A start by name begins with an empty window.
        isWindowOver ||= cause === RESTART_BY_USER;
        if (cause === RESTART_ENDED && !isWindowOver) ages.push(age);
        break;
      }
      case "worker_spawn_requested": {
        const earlier = record.payload.spec.placed?.brought;
        if (session_id === undefined) session_id = earlier?.session_id;
        if (!isWindowOver) ages.push(...(earlier?.restarts_ago_ms ?? []).map((ago) => ago + age));
        break;
      }
      default:
    }
  }
  const restarts_ago_ms = ages.slice(0, CLUSTER_BROUGHT_RECORDS_MAX);
  const interrupted = interruptedBy(turn);
  return {
    ...(session_id == null ? {} : { session_id }),
    ...(interrupted === undefined ? {} : { interrupted }),
    restarts_ago_ms,
  };
};

const timeOf = ({ recorded_at }: Pick<LogRecord, "recorded_at">): number => Date.parse(recorded_at);
