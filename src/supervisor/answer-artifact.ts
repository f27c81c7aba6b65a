/**
 * The final answer of an incarnation as an artifact, where it is over the inline limit: its record has the beginning and the digest
 * (protocol-v1.txt, Artifactization). It is kept before the end is on record, so a record never names what was never there. What is over
 * the capture limit is in the log alone, and the record says so.
 */
import type { AgentCompletion, AnswerArtifact } from "../protocol/completion.ts";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import { CAPTURE_MAX_BYTES, INLINE_MAX_BYTES, READ_PAGE_RECORDS } from "../protocol/limits.ts";
import type { RecordDraft } from "../protocol/records.ts";
import type { EventLog } from "../store/port.ts";
import { errorOf } from "./exits.ts";
import type { Shell } from "./worker.ts";

/** Undefined where the record has room for all of it, and for who has no final answer: a command has its stdout. */
export const keptAnswer = async (
  { id, services, redact }: Shell,
  drafts: readonly RecordDraft[],
  { final_text = "" }: AgentCompletion,
): Promise<AnswerArtifact | undefined> => {
  const { artifacts, capture_max_bytes = CAPTURE_MAX_BYTES } = services;
  if (artifacts === undefined || Buffer.byteLength(final_text) <= INLINE_MAX_BYTES) return undefined;
  let size_bytes = Buffer.byteLength(final_text);
  try {
    const answer = await readAnswer(services.log, id, drafts, capture_max_bytes);
    ({ size_bytes } = answer);
    if (size_bytes > capture_max_bytes)
      throw new HoldfastError(
        "CAPTURE_TOO_LARGE",
        `The answer has ${size_bytes} bytes, and at most ${capture_max_bytes} are captured.`,
      );
    // A secret that the agent printed in pieces is whole here.
    const { digest, ...kept } = await artifacts.put(new TextEncoder().encode(redact.text(answer.text)));
    return { digest, size_bytes: kept.size_bytes };
  } catch (cause) {
    return { digest: null, size_bytes, error: errorOf(asHoldfastError(cause)) };
  }
};

/** The newest one that is kept whole: of the last incarnation that has ended. */
export const artifactOf = (log: EventLog, workerId: string): string | undefined => {
  const ends = log.stream(workerId, ["worker_completed", "worker_failed", "worker_cancelled"]);
  const last = ends.at(-1);
  return last !== undefined && "artifact" in last.payload
    ? (last.payload.artifact?.digest ?? undefined)
    : undefined;
};

interface Answer {
  readonly text: string;
  readonly size_bytes: number;
}

/** The last message to the user of the incarnation that ends, from where its last turn began; a page at a time, others in between. */
const readAnswer = async (
  log: EventLog,
  workerId: string,
  drafts: readonly RecordDraft[],
  max_bytes: number,
): Promise<Answer> => {
  let message: unknown;
  let parts: string[] = [];
  let size_bytes = 0;
  const take = (record: RecordDraft): void => {
    if (record.type !== "agent.event" || record.payload.text === undefined) return;
    const { kind, channel, text } = record.payload;
    const data = record.payload.data as { message_id?: unknown; parent_tool_use_id?: unknown } | undefined;
    if (kind !== "TextOutput" || channel !== "assistant" || data?.parent_tool_use_id !== undefined) return;
    if (data?.message_id !== message) {
      message = data?.message_id;
      parts = [];
      size_bytes = 0;
    }
    size_bytes += Buffer.byteLength(text);
    if (size_bytes <= max_bytes) parts.push(text);
  };
  const begins = log.stream(workerId, ["worker_state_changed", "turn_started"]);
  let cursor = begins.findLast(isBegin)?.seq ?? 0;
  const filter = { worker_ids: [workerId], types: ["agent.event"], kinds: ["TextOutput"] } as const;
  while (cursor < log.head()) {
    const page = log.read(cursor, READ_PAGE_RECORDS, filter);
    for (const record of page.records) take(record);
    if (page.scanned <= cursor) break;
    cursor = page.scanned;
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const draft of drafts) take(draft);
  return { text: parts.join(""), size_bytes };
};

const isBegin = (record: RecordDraft): boolean =>
  record.type === "turn_started" ||
  (record.type === "worker_state_changed" && record.payload.to === "starting");
