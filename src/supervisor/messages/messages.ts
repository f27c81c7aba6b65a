/**
 * Decides the next step for the messages to one agent, from their rows and the length of its stdin file. Pure.
 *
 *   accepted ── its bytes are in the file ──▶ delivered ── the agent shows it ──▶ acknowledged
 *      │                                          └── the worker ended before ──▶ unknown
 *      └── the worker ended before ──▶ undeliverable
 *
 * Only one message is written at a time, and the next one only after its delivery is on record. So the file is at most one
 * message ahead of the log, and after a crash its length says whether that message is whole, torn or missing.
 */
import { ulidOf } from "../../protocol/ids.ts";
import type { MessageRow } from "../../protocol/message-row.ts";
import { type MessageStep, type RecordDraft, workerStream } from "../../protocol/records.ts";

/**
 * The prompt of an agent that acknowledges messages is also a message. In a dialogue, the same prompt of a worker is always
 * the same message. Without a dialogue, each incarnation gets the prompt again.
 */
export const promptId = (worker_id: string, prompt: string, incarnation?: number): string =>
  ulidOf(incarnation === undefined ? `${worker_id} ${prompt}` : `${worker_id} ${incarnation} ${prompt}`);

/**
 * The next message for this incarnation: one that waits, or that an earlier incarnation did not acknowledge. Lines of the
 * protocol come first, because no message may reach the agent before them; then the prompt.
 */
export const nextMessage = (
  open: readonly MessageRow[],
  incarnation: number,
  prompt: string | undefined,
): MessageRow | undefined => owedTo(open, incarnation, prompt)[0];

/** All messages for this incarnation, in the order of delivery. */
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

/** Whether the bytes in the file beyond the log are a beginning of this message, or begin with it. */
export const isBegunBy = (there: Uint8Array, bytes: Uint8Array): boolean => {
  const known = Math.min(there.length, bytes.length);
  return Buffer.compare(there.subarray(0, known), bytes.subarray(0, known)) === 0;
};

/** A message of this incarnation that is delivered but not acknowledged. Lines of the protocol do not count. */
export const isUnderWay = (open: readonly MessageRow[], incarnation: number): boolean =>
  open.some(
    (row) => row.state === "delivered" && row.incarnation === incarnation && !row.line && !row.closes,
  );

/** Ends messages that were bound to another incarnation and can no longer reach it. */
export const outlived = (open: readonly MessageRow[], incarnation: number): readonly RecordDraft[] =>
  open
    .filter(({ bound }) => bound !== null && bound !== incarnation)
    .map((row) => ({
      ...messageDraft(row.worker_id, row.message_id, lastWord(row)),
      id: endOf(row),
    }));

/** The step that accepted the message. */
export type AcceptedStep = Extract<MessageStep, { readonly state: "accepted" }>;

/**
 * Whether an interrupt comes too late and would end another turn. Its own turn is over; or `isOld`: an earlier daemon
 * accepted it, and the agent's output since then has not been read.
 */
export const isLate = (accepted: AcceptedStep, isOld: boolean, openTurn: number | undefined): boolean =>
  accepted.purpose === "interrupt" && (isOld || accepted.turn !== openTurn);

export type HandOver =
  /** The first `written` bytes are in the file: the daemon that wrote them died. */
  | { readonly type: "write"; readonly written: number }
  /** All of it is in the file, and only its record is missing. */
  | { readonly type: "record" }
  /** Its agent has ended, so the next incarnation gets it, if there is one. */
  | { readonly type: "keep" };

/** `end`: the length of the file according to the log. `size`: its actual length. */
export const handOver = (bytes: number, end: number, size: number, isAlive: boolean): HandOver => {
  const written = Math.max(0, size - end);
  if (written >= bytes) return { type: "record" };
  return isAlive ? { type: "write", written } : { type: "keep" };
};

/** Between two turns, with no message open, an agent is not stuck: it waits for a message. */
export const isWaiting = (open: readonly MessageRow[], isInTurn: boolean): boolean =>
  !isInTurn && open.every(({ closes }) => closes);

export type MessageDraft = RecordDraft & { readonly type: "worker_message" };

export const messageDraft = (worker_id: string, message_id: string, step: MessageStep): MessageDraft => ({
  type: "worker_message",
  stream: workerStream(worker_id),
  worker_id,
  payload: { message_id, ...step },
});

/** A line of the agent's protocol for this incarnation only: `text` with its line end, or the closing of the input. */
export const lineDraft = (
  worker_id: string,
  message_id: string,
  line:
    | { readonly text: string; readonly purpose: "answer" }
    | {
        readonly text: string;
        readonly purpose: "interrupt";
        readonly turn: number;
        readonly by?: string | undefined;
      }
    | { readonly closes: true },
): MessageDraft =>
  messageDraft(worker_id, message_id, {
    state: "accepted",
    bytes: "text" in line ? Buffer.byteLength(line.text) : 0,
    ...line,
    bound: true,
    line: true,
  });

/** The id of the record of the end, so that a repeat adds no second record. A prompt that was accepted again gets another id. */
const endOf = ({ message_id, seq }: MessageRow): string => `message:${message_id}:ended:${seq}`;

/** The ends of messages that are still open when their worker has ended. A repeat adds no second record. */
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
