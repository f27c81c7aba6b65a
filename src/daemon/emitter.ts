/** Sends the records of one request to its client: progress envelopes, as fast as the client takes them. */
import { WATCHER_CHUNK_CHARS } from "../base/limits.ts";
import type { Artifactizer } from "../protocol/artifactize.ts";
import {
  type EnvelopeHead,
  encodeEnvelope,
  progressEnvelope,
  progressFrame,
  progressLine,
} from "../protocol/envelope-v1.ts";
import { timeSince } from "./answers.ts";
import type { Emit } from "./handlers/handler.ts";
import type { Outbox } from "./outbox.ts";

/** The request whose records are sent. */
export interface EmittedRequest {
  readonly id: string;
  readonly head: EnvelopeHead;
  readonly startedAt: number;
  /** The size that the client accepts inline, in bytes of JSON. */
  readonly inlineMax: number;
}

export class Emitter {
  private readonly request: EmittedRequest;
  private readonly artifactize: Artifactizer;
  private readonly outbox: Outbox;
  /** The terminal line of the request has not been sent. */
  private readonly isOpen: () => boolean;
  private seq = 0;

  constructor(request: EmittedRequest, artifactize: Artifactizer, outbox: Outbox, isOpen: () => boolean) {
    this.request = request;
    this.artifactize = artifactize;
    this.outbox = outbox;
    this.isOpen = isOpen;
  }

  readonly emit: Emit = (records, meta) => {
    const { head, startedAt } = this.request;
    return this.sendFrom(0, records, progressFrame(head, timeSince(startedAt), meta));
  };

  private sendFrom(
    begin: number,
    records: readonly string[],
    frame: ReturnType<typeof progressFrame>,
  ): Promise<void> | undefined {
    const { id, inlineMax } = this.request;
    let at = begin;
    while (at < records.length && this.isOpen()) {
      let text = "";
      let large: Promise<object> | undefined;
      while (at < records.length && text.length < WATCHER_CHUNK_CHARS && large === undefined) {
        const record = records[at++] as string;
        large = this.artifactize.record(record, inlineMax);
        if (large === undefined) text += progressLine(frame, this.seq++, record);
      }
      const taken = text === "" ? undefined : this.outbox.stream(id, text);
      const next = at;
      if (large !== undefined)
        return this.sendLarge(large, taken).then(() => this.sendFrom(next, records, frame));
      if (taken !== undefined) return taken.then(() => this.sendFrom(next, records, frame));
    }
    return undefined;
  }

  /** Only this watcher waits for the large record. */
  private async sendLarge(large: Promise<object>, before: Promise<void> | undefined): Promise<void> {
    const { id, head, startedAt } = this.request;
    const [data] = await Promise.all([large, before]);
    if (!this.isOpen()) return;
    await this.outbox.stream(
      id,
      encodeEnvelope(progressEnvelope(head, timeSince(startedAt), this.seq++, data)),
    );
  }
}
