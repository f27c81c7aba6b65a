/** Finds the seq at which a reader begins: the given cursor, or before the newest records. */
import { Effect } from "effect";
import { newestSeqs } from "../../actors/deciding/paging.ts";
import { breakSentence, cursorOf, partsOf, type StartCursor } from "../../protocol/cursor.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { EventLog, RecordFilter } from "../../store/event-log.ts";
import { isOfHistory } from "../../store/history.ts";

/**
 * Refuses a seq after the end of the log. Such a log was longer once: a backup was copied back, or a power loss took its
 * end. A reader that waited there would miss what is recorded meanwhile.
 */
const refuseFuture = (log: EventLog, from: number): void => {
  const head = log.head();
  if (from <= head) return;
  throw new HoldfastError(
    "CURSOR_UNKNOWN",
    `The log ends at record ${head}, and ${from} is after it: the cursor is of another log, or this one is an older copy.`,
    {
      suggestion: `To continue from the end of this log: \`--from ${head}\`; to read all of it: \`--from 0\`.`,
      details: { from, head },
    },
  );
};

/** Refuses a cursor of another history. After a restore the same seqs name other records. */
const refuseOther = (log: EventLog, epoch: string, from: number): void => {
  if (isOfHistory(log, epoch, from)) return;
  const ended = log.former.find((one) => one.epoch === epoch);
  throw new HoldfastError(
    "CURSOR_UNKNOWN",
    ended === undefined
      ? `The cursor ${epoch}:${from} is of another log, or of a history that this one does not know: its epoch is ${log.epoch}.`
      : `The cursor is at record ${from} of a history that ended at record ${ended.up_to}. ${breakSentence(ended)}`,
    {
      suggestion:
        ended === undefined
          ? "To read all of this log: `--from 0`."
          : `To continue where this log differs from what you have read: \`--from ${cursorOf(log.epoch, ended.up_to)}\`; to read all of it: \`--from 0\`.`,
      details: { from, epoch, log_epoch: log.epoch, head: log.head(), up_to: ended?.up_to ?? null },
    },
  );
};

/** The seq after which a reader goes on. Throws CURSOR_UNKNOWN if the log does not have that place. */
export const seqOf = (log: EventLog, from: StartCursor): number => {
  const { epoch, seq } = partsOf(from);
  if (!Number.isSafeInteger(seq) || seq < 0)
    throw new HoldfastError("INVALID_REQUEST", "The place to read from is neither a seq nor a cursor.", {
      suggestion: "Give the `seq` of a record (0 is the beginning), or a cursor `EPOCH:SEQ`.",
    });
  if (epoch !== undefined) refuseOther(log, epoch, seq);
  refuseFuture(log, seq);
  return seq;
};

/** The seq before the newest `count` records that match the filter, but not before `since`. */
export const tailOf = (
  log: Pick<EventLog, "head" | "readLines">,
  filter: RecordFilter,
  since: number,
  count: number,
): Effect.Effect<number, HoldfastError> => {
  const head = log.head();
  return Effect.map(newestSeqs(log, filter, { since, count }), ([oldest]) =>
    oldest === undefined ? head : oldest - 1,
  );
};
