/** Records of a mailbox as the log would have them, for tests without a log. */

import {
  decideBox,
  EMPTY_BOX,
  evolveBox,
  type MailBox,
  type MailInput,
} from "../../../src/control/mailbox/box.ts";
import type { HoldfastError } from "../../../src/protocol/errors.ts";
import type { LogRecord, RecordDraft } from "../../../src/protocol/records.ts";

const BOOT = "boot";
const WALL_AT_ZERO_MS = Date.UTC(2026, 0, 1);

/** A box, its log and its clock. */
export class BoxHistory {
  box: MailBox = EMPTY_BOX;
  readonly records: LogRecord[] = [];
  mono_ms = 0;

  time() {
    return { boot_id: BOOT, mono_ms: this.mono_ms, wall_ms: WALL_AT_ZERO_MS + this.mono_ms };
  }

  /** Throws where it is refused. */
  input(input: MailInput): readonly LogRecord[] {
    const clock = { boot_id: BOOT, mono_ns: String(BigInt(Math.round(this.mono_ms)) * 1_000_000n) };
    const recorded = decideBox("box", this.box, input, { ...this.time(), clock }).map((draft) =>
      this.recorded(draft),
    );
    for (const record of recorded) this.box = evolveBox(this.box, record, this.time());
    return recorded;
  }

  refusal(input: MailInput): HoldfastError["code"] | undefined {
    try {
      this.input(input);
      return undefined;
    } catch (error) {
      return (error as HoldfastError).code;
    }
  }

  send(message_id: string, over: { readonly ttl_ms?: number; readonly delay_ms?: number } = {}): void {
    const sent = {
      message_id,
      from: "user",
      type: "cmd",
      payload: message_id,
      ttl_ms: 60_000,
      delay_ms: 0,
    } as const;
    this.input({ type: "send", sent: { ...sent, ...over } });
  }

  /** Message and token of each. */
  poll(limit = 1, lease_ms = 1_000): readonly (readonly [string, number])[] {
    return this.input({ type: "poll", limit, lease_ms, by: "user" }).flatMap((record) =>
      record.type === "mailbox_delivered" ? [[record.payload.message_id, record.seq] as const] : [],
    );
  }

  private recorded(draft: RecordDraft): LogRecord {
    const seq = this.records.length + 1;
    const recorded_at = new Date(WALL_AT_ZERO_MS + this.mono_ms).toISOString();
    const record = {
      id: `r${seq}`,
      correlation_id: `r${seq}`,
      causation_id: `r${seq}`,
      ...draft,
      seq,
      version: seq,
      recorded_at,
    } as LogRecord;
    this.records.push(record);
    return record;
  }
}
