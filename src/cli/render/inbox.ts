/** The table of `agent inbox`, and the text of an answer. */
import type { HoldView } from "../../runtime/replies.ts";
import { oneLine, type Paint, table } from "./terminal.ts";
import { duration } from "./units.ts";

/** The last column: a terminal cuts it at its edge; a pipe gets all of it. */
const QUESTION_MAX_CHARS = 16_384;

/** With several hosts, the host is a part of it. */
const FOR_COLUMNS = 100;

const OTHERWISE = { allow: "allowed", deny: "denied", stop: "stopped" } as const;

const subjectOf = ({ worker, worker_id, supervisor }: HoldView): string =>
  worker ?? worker_id ?? supervisor ?? "";

/** A row of several hosts bears its host. */
type ShownHold = HoldView & { readonly host?: string };

/** The name that `agent answer` takes: the worker or supervisor if it has only one hold, else the id of the hold. */
const ref = (hold: ShownHold, holds: readonly ShownHold[]): string => {
  const isSame = (other: ShownHold): boolean =>
    other.host === hold.host && subjectOf(other) === subjectOf(hold);
  const name = holds.filter(isSame).length === 1 ? subjectOf(hold) : hold.id;
  return hold.host === undefined ? name : `${hold.host}/${name}`;
};

const deadline = ({ expires_at, otherwise }: HoldView, now: number): string =>
  expires_at === null || otherwise === null
    ? ""
    : `${OTHERWISE[otherwise]} in ${duration(Math.max(0, Date.parse(expires_at) - now))}`;

export const inboxText = (
  { holds }: { readonly holds: readonly ShownHold[] },
  {
    paint,
    now,
    columns,
  }: { readonly paint: Paint; readonly now: number; readonly columns?: number | undefined },
): string => {
  if (holds.length === 0) return "";
  const head = ["FOR", "ANSWERS", "AGE", "", "QUESTION"].map((cell) => paint("dim", cell));
  const rows = holds.map((hold) => [
    oneLine(ref(hold, holds), FOR_COLUMNS),
    paint("warn", hold.answers.join("|")),
    duration(Math.max(0, now - Date.parse(hold.since))),
    deadline(hold, now),
    oneLine(hold.question, QUESTION_MAX_CHARS),
  ]);
  return table([head, ...rows], { fit: columns });
};
