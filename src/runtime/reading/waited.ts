/** The answer of a wait: how workers ended, or how far they are when the time was up. Pure. */
import { formatDuration } from "../../base/durations.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { statusOf } from "../../protocol/worker-status.ts";
import type { WorkerRow } from "../../store/views.ts";
import type { Now } from "../../supervisor/clocks/now.ts";
import { secondsUntilReset } from "../../supervisor/restart/rate-limit.ts";
import type { WaitReply } from "../replies.ts";
import { deniedOf, errorOf } from "./views.ts";

/** The delays between the incarnations of a worker (protocol-v1.txt, Retry transparency). */
const backoffOf = ({ spec }: WorkerRow): string =>
  `exponential ${formatDuration(spec.backoff_min_ms)}..${formatDuration(spec.backoff_max_ms)}`;

export const waitOf = (row: WorkerRow, wall: Now["wall"]): WaitReply => {
  const error = errorOf(row);
  const retry_after_s =
    error?.code === "RATE_LIMITED" ? secondsUntilReset(error, row.ended_at, wall) : undefined;
  return {
    id: row.id,
    name: row.name,
    status: statusOf(row.state),
    reason: row.reason,
    exit_code: row.exit_code,
    signal: row.signal,
    error,
    end_cause: row.end_cause,
    attempts: row.incarnation,
    ...(row.incarnation > 1 && { backoff: backoffOf(row) }),
    ...(retry_after_s !== undefined && { retry_after_s }),
    ...deniedOf(row),
  };
};

/** A worker that has not ended. `due_in_ms`: time until its next incarnation; null if it does not wait for one. */
export interface ContinuingWorker {
  readonly row: WorkerRow;
  readonly due_in_ms: number | null;
}

/** The error when the time of a wait is up: with the attempts of workers that are restarted, and their longest delay. */
export const tooLong = (going: readonly ContinuingWorker[]): HoldfastError => {
  const again = going.filter(({ row, due_in_ms }) => row.incarnation > 1 || due_in_ms !== null);
  const waits = going.flatMap(({ due_in_ms }) => (due_in_ms === null ? [] : [Math.max(0, due_in_ms)]));
  const [first] = again;
  return new HoldfastError(
    "TIMEOUT",
    "Not all workers ended within the given time; the others keep running.",
    {
      suggestion: "Wait longer with --timeout, or look at them with `agent watch`.",
      ...(first !== undefined && {
        attempts: Math.max(...again.map(({ row }) => row.incarnation)),
        backoff: backoffOf(first.row),
      }),
      ...(waits.length > 0 && { retry_after_s: Math.ceil(Math.max(...waits) / 1_000) }),
      details: { running: going.map(({ row }) => row.id) },
    },
  );
};
