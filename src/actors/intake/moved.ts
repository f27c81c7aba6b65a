/** Output of a worker that retention removed from the log, and where a person can find it now. */
import { HoldfastError } from "../../protocol/errors.ts";
import type { RecordPayloads } from "../../protocol/records.ts";
import type { EventLog } from "../../store/event-log.ts";

export type GapPayload = RecordPayloads["log_gap"];

export interface MovedOutput {
  readonly records: number;
  /** Files in `archive/` of the state directory; empty if everything was removed without an archive. */
  readonly archives: readonly string[];
  /** For `agent db export --from --to`, which reads the archives too. */
  readonly from_seq: number;
  readonly to_seq: number;
}

export const movedBy = (gaps: readonly GapPayload[]): MovedOutput | null => {
  const [first] = gaps;
  if (first === undefined) return null;
  return {
    records: gaps.reduce((sum, { records }) => sum + records, 0),
    archives: [...new Set(gaps.flatMap(({ archive }) => archive ?? []))],
    from_seq: first.from_seq,
    to_seq: Math.max(...gaps.map(({ to_seq }) => to_seq)),
  };
};

/** The moved output of all incarnations of a worker; null if none was moved. */
export const movedOf = (log: EventLog, workerId: string): MovedOutput | null =>
  movedBy(
    log
      .stream(workerId, ["log_gap"])
      .flatMap((record) => (record.type === "log_gap" ? [record.payload] : [])),
  );

export const movedError = (workerId: string, moved: MovedOutput): HoldfastError => {
  const { archives, from_seq, to_seq } = moved;
  const many = archives.length > 1 ? ` and ${archives.length - 1} more` : "";
  return archives[0] === undefined
    ? new HoldfastError(
        "OUTPUT_NOT_FOUND",
        `The output of worker ${workerId} was removed from the log, without an archive.`,
        {
          suggestion: `See whether its raw output is still kept: \`agent logs ${workerId} --raw\`.`,
          details: { ...moved },
        },
      )
    : new HoldfastError(
        "OUTPUT_NOT_FOUND",
        `The output of worker ${workerId} was moved out of the log, to archive/${archives[0]}${many}.`,
        {
          suggestion: `Read it there: \`agent db export --from ${from_seq} --to ${to_seq}\` prints these records from the archive.`,
          details: { ...moved },
        },
      );
};
