/**
 * The next step for the messages to one agent, decided from their rows and from how far its stdin file is written. Pure.
 *
 *   accepted ── its bytes are in the file ──▶ delivered ── the agent shows it ──▶ acknowledged
 *      │                                          └── the worker ended before ──▶ unknown
 *      └── the worker ended before ──▶ undeliverable
 *
 * Only one message is written at a time, and the next one not before its delivery is on record. So the file is never
 * further than one message ahead of the log: after a crash its length says whether that one is whole, torn, or not there.
 */
import { ulidOf } from "../../protocol/ids.ts";
import type { MessageRow } from "../../protocol/message-row.ts";
import { type MessageStep, type RecordDraft, workerStream } from "../../protocol/records.ts";

/**
 * The prompt of an agent that acknowledges is a message too. The same prompt of the same worker is the same message, in a
 * conversation; where the prompt is all that is said, each incarnation is told it anew.
 */
export const promptId = (worker_id: string, prompt: string, incarnation?: number): string =>
  ulidOf(incarnation === undefined ? `${worker_id} ${prompt}` : `${worker_id} ${incarnation} ${prompt}`);

/**
 * The messages that this incarnation is owed: a message that waits, or that an earlier one did not acknowledge. Lines of the protocol
 * first, since no message may reach the agent before them; then the prompt.
 */
export const nextMessage = (
  open: readonly MessageRow[],
  incarnation: number,
  prompt: string | undefined,
): MessageRow | undefined => owedTo(open, incarnation, prompt)[0];

/** All that it is owed, in the order in which it is handed over. */
export const owedTo = (
  open: readonly MessageRow[],
  incarnation: number,
  prompt: string | undefined,
): readonly MessageRow[] => {
  const owed = open.filter((row) =>
    row.bound === null
      ? row.state === "accepted" || row.incarnation !== incarnation
      : row.state === "accepted" && row.bound === incarnation,
  );
  const rank = (row: MessageRow): number => (row.line ? 0 : row.message_id === prompt ? 1 : 2);
  return owed.sort((a, b) => rank(a) - rank(b) || a.seq - b.seq);
};

/** Whether what is in the file beyond the log is the beginning of these bytes, or begins with them. */
export const isBegunBy = (there: Uint8Array, bytes: Uint8Array): boolean => {
  const known = Math.min(there.length, bytes.length);
  return Buffer.compare(there.subarray(0, known), bytes.subarray(0, known)) === 0;
};

/** A message of this incarnation that its agent has, and has not acknowledged. Lines of the protocol are no messages. */
export const isUnderWay = (open: readonly MessageRow[], incarnation: number): boolean =>
  open.some(
    (row) => row.state === "delivered" && row.incarnation === incarnation && !row.line && !row.closes,
  );

/** The end of those that were for another incarnation only: nobody is left to hear them. */
export const outlived = (open: readonly MessageRow[], incarnation: number): readonly RecordDraft[] =>
  open
    .filter(({ bound }) => bound !== null && bound !== incarnation)
    .map((row) => ({
      ...messageDraft(row.worker_id, row.message_id, lastWord(row)),
      id: endOf(row),
    }));

/** The part that was accepted as a message. */
export type Accepted = Extract<MessageStep, { readonly state: "accepted" }>;

/**
 * An interrupt that would end another turn than it was meant for: that one is over, or `isOld`, an earlier daemon was asked for it,
 * and nobody has read yet what the agent did since.
 */
export const isLate = (accepted: Accepted, isOld: boolean, openTurn: number | undefined): boolean =>
  accepted.purpose === "interrupt" && (isOld || accepted.turn !== openTurn);

export type HandOver =
  /** The first `written` bytes of it are in the file: the daemon that wrote them died. */
  | { readonly type: "write"; readonly written: number }
  /** All of it is in the file, and only the record is missing. */
  | { readonly type: "record" }
  /** Its agent has ended: the next incarnation gets it, if there is one. */
  | { readonly type: "keep" };

/** `end` is the byte up to which the log accounts for the file, `size` the length of the file. */
export const handOver = (bytes: number, end: number, size: number, isAlive: boolean): HandOver => {
  const written = Math.max(0, size - end);
  if (written >= bytes) return { type: "record" };
  return isAlive ? { type: "write", written } : { type: "keep" };
};

/** Between two turns, with nothing on its way, an agent is not stuck: it waits for a message. */
export const isWaiting = (open: readonly MessageRow[], isInTurn: boolean): boolean =>
  !isInTurn && open.every(({ closes }) => closes);

export type MessageDraft = RecordDraft & { readonly type: "worker_message" };

export const messageDraft = (worker_id: string, message_id: string, step: MessageStep): MessageDraft => ({
  type: "worker_message",
  stream: workerStream(worker_id),
  worker_id,
  payload: { message_id, ...step },
});

/** A line of the agent's protocol, for this incarnation alone: `text` with its line end, or the end of the input. */
export const lineDraft = (
  worker_id: string,
  message_id: string,
  line:
    | { readonly text: string; readonly purpose: "answer" }
    | { readonly text: string; readonly purpose: "interrupt"; readonly turn: number }
    | { readonly closes: true },
): MessageDraft =>
  messageDraft(worker_id, message_id, {
    state: "accepted",
    bytes: "text" in line ? Buffer.byteLength(line.text) : 0,
    ...line,
    bound: true,
    line: true,
  });

/** Told twice, it is one record; a prompt that was accepted again has another end. */
const endOf = ({ message_id, seq }: MessageRow): string => `message:${message_id}:ended:${seq}`;

/** The end of messages that are open when their worker has ended. Told twice, it is one record. */
export const lastWords = (open: readonly MessageRow[]): readonly RecordDraft[] =>
  open.map((row) => ({
    ...messageDraft(row.worker_id, row.message_id, lastWord(row)),
    id: endOf(row),
  }));

const lastWord = ({ state, closes }: MessageRow): MessageStep =>
  closes && state === "delivered"
    ? { state: "acknowledged", turn: null, closes: true }
    : state === "accepted"
      ? { state: "undeliverable", reason: "The worker ended before the message could be delivered." }
      : { state: "unknown", reason: "The agent ended before it acknowledged the message." };
