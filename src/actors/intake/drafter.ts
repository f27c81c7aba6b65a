/**
 * Turns the items of a decoder into drafts of records: masked, within bounds and counted. Its counts go into each
 * checkpoint.
 */
import type { DecodedItem, SpoolName } from "../../adapters/adapter.ts";
import type { AgentEvent } from "../../protocol/agent-event.ts";
import { boundEvent } from "../../protocol/bounds.ts";
import type { DeniedCalls } from "../../protocol/denied.ts";
import { ulidOf } from "../../protocol/ids.ts";
import { type RecordDraft, type RecordPayloads, type Usage, workerStream } from "../../protocol/records.ts";
import type { Redactor } from "../../protocol/redact.ts";
import type { IngestOptions } from "./ingest.ts";
import { NO_CALLS, type OpenCall, openCallsAfter, unendedCall } from "./open-calls.ts";
import {
  type AccountOptions,
  completedTurn,
  deniedAfter,
  NONE_DENIED,
  toolCallsAfter,
  usageSoFar,
} from "./turn-account.ts";

/**
 * The memory of a drafter and its decoder. One serves all streams of an adapter; the newest checkpoint among the streams
 * has it.
 */
export interface Memory {
  readonly batches: number;
  /** Calls since the newest turn was completed. Missing in checkpoints of early versions. */
  readonly tool_calls?: number;
  readonly denied?: readonly DeniedCalls[];
  readonly open_calls?: readonly OpenCall[];
  /** Usage of the open turn so far. */
  readonly spending?: Usage;
  readonly state: unknown;
}

export class Drafter {
  readonly worker_id: string;
  readonly incarnation: number;
  /** Usage of the open turn so far. */
  spending: Usage | undefined;
  private readonly kind: string;
  private readonly stream: string;
  private readonly redact: Redactor;
  private readonly account: AccountOptions;
  private batches: number;
  /** The number of lines for the agent in this batch. */
  private said = 0;
  private toolCalls: number;
  private denied: readonly DeniedCalls[];
  private openCalls: readonly OpenCall[];

  constructor({ adapter, worker_id, opening, redact, account }: IngestOptions, counted: Memory | undefined) {
    const { kind, counts_cached_inside = false } = adapter;
    this.kind = kind;
    this.worker_id = worker_id;
    this.incarnation = opening.incarnation;
    this.stream = workerStream(worker_id);
    this.redact = redact;
    this.account = { counts_cached_inside, ...account };
    this.batches = counted?.batches ?? 0;
    this.toolCalls = counted?.tool_calls ?? 0;
    this.denied = counted?.denied ?? NONE_DENIED;
    this.spending = counted?.spending;
    this.openCalls = counted?.open_calls ?? NO_CALLS;
  }

  beginBatch(): void {
    this.said = 0;
  }

  push(drafts: RecordDraft[], item: DecodedItem): void {
    if (item.type === "reply") {
      this.said += 1;
      drafts.push(this.reply(item, this.own(`line ${this.batches} ${this.said}`)));
      return;
    }
    if (item.type === "turn_usage") {
      this.spending = usageSoFar(item, this.account);
      return;
    }
    if (item.type === "turn_completed") this.spending = undefined;
    if (item.type === "approval_requested" || item.type === "approval_withdrawn") {
      const payload = this.redact.value(item.payload);
      drafts.push(this.draft(item.type, { ...payload, approval_id: this.own(item.payload.approval_id) }));
      return;
    }
    const calls = this.toolCalls;
    const refused = this.denied;
    this.toolCalls = toolCallsAfter(calls, item);
    this.openCalls = openCallsAfter(this.openCalls, item);
    this.denied = deniedAfter(refused, item);
    if (item.type !== "agent.event") {
      const payload =
        item.type === "turn_completed"
          ? completedTurn(item.payload, this.account, calls, refused)
          : item.payload;
      drafts.push(this.draft(item.type, this.redact.value(payload)));
      return;
    }
    const event = redactEvent(item.payload, this.redact);
    for (const bounded of boundEvent(event)) drafts.push(this.draft("agent.event", bounded));
  }

  chunk(
    stream: SpoolName,
    reason: RecordPayloads["worker_log_chunk"]["reason"],
    bytes: number,
    limit_bytes: number,
  ): RecordDraft {
    return this.draft("worker_log_chunk", { stream, truncated: true, reason, bytes, limit_bytes });
  }

  /** Makes a result for each tool call that is still open. */
  unended(): readonly RecordDraft[] {
    const drafts: RecordDraft[] = [];
    for (const call of this.openCalls) this.push(drafts, unendedCall(this.kind, call));
    return drafts;
  }

  /** The counts and the decoder's memory, for the checkpoint of the next batch. */
  checkpointWith(memoryJson: string): string {
    this.batches += 1;
    const { batches, toolCalls, spending, openCalls } = this;
    const denied = JSON.stringify(this.denied);
    const open = spending === undefined ? "" : `,"spending":${JSON.stringify(spending)}`;
    const calls =
      openCalls.length === 0 ? "" : `,"open_calls":${JSON.stringify(this.redact.value(openCalls))}`;
    return `{"batches":${batches},"tool_calls":${toolCalls},"denied":${denied}${open}${calls},"state":${memoryJson}}`;
  }

  private draft(type: RecordDraft["type"], payload: unknown): RecordDraft {
    const { stream, worker_id, incarnation } = this;
    return { type, stream, worker_id, incarnation, payload } as RecordDraft;
  }

  private reply(reply: Extract<DecodedItem, { type: "reply" }>, message_id: string): RecordDraft {
    return this.draft("worker_message", {
      message_id,
      state: "accepted",
      bound: true,
      line: true,
      ...("closes" in reply
        ? { bytes: 0, closes: true }
        : { bytes: Buffer.byteLength(reply.line), text: reply.line }),
    });
  }

  /** Makes a unique id from one of the agent's, which the agent may use again in its next incarnation. */
  private own(id: string): string {
    return ulidOf(`${this.worker_id} ${this.incarnation} ${id}`);
  }
}

/** Secrets never reach the log (protocol-v1.txt, Security invariants); the spool is the declared exception. */
const redactEvent = (event: AgentEvent, redact: Redactor): AgentEvent => {
  const text = event.text === undefined ? undefined : redact.text(event.text);
  const message = event.message === undefined ? undefined : redact.text(event.message);
  const data = event.data === undefined ? undefined : redact.value(event.data);
  if (text === event.text && message === event.message && data === event.data) return event;
  return { ...event, text, message, data } as AgentEvent;
};
