/**
 * A cursor of the log as clients keep it: `EPOCH:SEQ`. A seq alone is also accepted and belongs to the current history of
 * the log. With an epoch, the daemon can refuse a cursor of a history that an older copy of the log has replaced: its seq
 * now names another record.
 */
export const CURSOR = /^([\w-]{1,64}):(\d{1,15})$/;

/** A seq alone, or a cursor. */
export type StartCursor = number | string;

export const cursorOf = (epoch: string, seq: number): string => `${epoch}:${seq}`;

/** A malformed cursor counts as none: the caller has checked it. */
export const partsOf = (from: StartCursor): { readonly epoch: string | undefined; readonly seq: number } => {
  if (typeof from === "number") return { epoch: undefined, seq: from };
  const [, epoch, seq] = CURSOR.exec(from) ?? [];
  return { epoch, seq: Number(seq) };
};

/**
 * How the history of the log broke. `older`: it ends before records that were durable. `other`: it is another history.
 * `copied`: it is another file with all records.
 */
export interface Break {
  readonly why: "older" | "other" | "copied";
  /** The seq of the last record that both histories have. */
  readonly up_to: number;
  /** How many durable records are gone, at least; null if unknown. */
  readonly lost: number | null;
}

/** For people: in daemon.log, the doctor and the check. */
export const breakSentence = ({ why, up_to, lost }: Break): string => {
  switch (why) {
    case "older": {
      const gone =
        lost === null
          ? "the records after it are gone"
          : lost === 1
            ? `1 record after ${up_to}, at least, is gone`
            : `${lost} records after ${up_to}, at least, are gone`;
      return `An older copy of the event log was put back: ${gone}.`;
    }
    case "other":
      return lost === null
        ? "Another history of the event log was put in its place."
        : `Another event log is in the place of the previous one, which had at least ${lost} records.`;
    case "copied":
      return "The event log was copied or moved: it is another file, and has all records that were known to be durable.";
  }
};
