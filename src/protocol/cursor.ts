/**
 * A cursor of the log as clients keep it: `EPOCH:SEQ`. A seq alone is taken too, and means one of the history that the log has now;
 * with its epoch it is refused where an older copy of the log was put back meanwhile and the seq names another record.
 */
export const CURSOR = /^([\w-]{1,64}):(\d{1,15})$/;

/** A seq alone, or a cursor. */
export type From = number | string;

export const cursorOf = (epoch: string, seq: number): string => `${epoch}:${seq}`;

/** A malformed cursor counts as none: whoever took it has checked it. */
export const partsOf = (from: From): { readonly epoch: string | undefined; readonly seq: number } => {
  if (typeof from === "number") return { epoch: undefined, seq: from };
  const [, epoch, seq] = CURSOR.exec(from) ?? [];
  return { epoch, seq: Number(seq) };
};

/** `older`: it ends before what was durable. `other`: it is another history. `copied`: it has all, in another file. */
export interface Break {
  readonly why: "older" | "other" | "copied";
  /** The last record that both histories have. */
  readonly up_to: number;
  /** Records that were durable and are gone, at least; null where nobody can tell. */
  readonly lost: number | null;
}

/** For people: daemon.log, the doctor, the check. */
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
        : `Another event log is in the place of the one that was there, which had ${lost} records, at least.`;
    case "copied":
      return "The event log was copied or moved: it is another file, and has all that was known to be durable.";
  }
};
