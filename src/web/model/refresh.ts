/** When a shown answer is asked for again. Pure. */
import { WEB_REFRESH_MAX_MS, WEB_REFRESH_MIN_MS, WEB_REFRESH_SHARE } from "../../base/limits.ts";
import type { RecordType } from "../../protocol/records.ts";

/** The wait after an answer that took this long: a large answer is asked for less often, so that it costs a small share of the time. */
export const waitAfter = (took_ms: number): number =>
  Math.min(WEB_REFRESH_MAX_MS, Math.max(WEB_REFRESH_MIN_MS, took_ms * WEB_REFRESH_SHARE));

/** Records that change no row of a worker: most of the log. */
const QUIET: ReadonlySet<RecordType> = new Set<RecordType>([
  "agent.event",
  "worker_heartbeat",
  "worker_log_chunk",
  "worker_message",
  "token_created",
  "token_revoked",
  "token_expired",
]);

export const changesWorkers = ({ type }: { readonly type: RecordType }): boolean => !QUIET.has(type);
