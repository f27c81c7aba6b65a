/** Sends the records of one request to its client, in the framing of its transport, as fast as the client takes them. */
import { WATCHER_CHUNK_CHARS } from "../base/limits.ts";
import type { Artifactizer } from "../protocol/artifactize.ts";
import {
  type EnvelopeHead,
  encodeEnvelope,
  type ProgressMeta,
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

/** The text of each record of one page, by its place in it: of the record as it is, or of its data where it was too large. */
export interface Framing {
  whole(record: string, at: number): string;
  large(data: object, at: number): string;
}

/** A progress envelope for each record. */
export const inEnvelopes = ({
  head,
  startedAt,
}: Pick<EmittedRequest, "head" | "startedAt">): ((meta?: ProgressMeta) => Framing) => {
  let seq = 0;
  return (meta) => {
    const frame = progressFrame(head, timeSince(startedAt), meta);
    return {
      whole: (record) => progressLine(frame, seq++, record),
      large: (data) => encodeEnvelope(progressEnvelope(head, timeSince(startedAt), seq++, data)),
    };
  };
};

export interface EmitterParts {
  readonly request: Pick<EmittedRequest, "id" | "inlineMax">;
  readonly framing: (meta?: ProgressMeta) => Framing;
  readonly artifactize: Artifactizer;
  readonly outbox: Outbox;
  /** The terminal line of the request has not been sent. */
  readonly isOpen: () => boolean;
}

const NOTHING = (): string => "";

export class Emitter {
  private readonly parts: EmitterParts;

  constructor(parts: EmitterParts) {
    this.parts = parts;
  }

  readonly emit: Emit = (records, meta) => this.sendFrom(0, records, this.parts.framing(meta));

  private sendFrom(begin: number, records: readonly string[], framing: Framing): Promise<void> | undefined {
    const { request, artifactize, outbox, isOpen } = this.parts;
    let at = begin;
    let large: Promise<object> | undefined;
    const made = (): string => {
      let text = "";
      while (at < records.length && text.length < WATCHER_CHUNK_CHARS && large === undefined && isOpen()) {
        const record = records[at] as string;
        large = artifactize.record(record, request.inlineMax);
        if (large === undefined) text += framing.whole(record, at);
        at += 1;
      }
      return text;
    };
    const goOn = async (): Promise<void> => {
      const next = at;
      if (large !== undefined) await this.sendLarge(large, (data) => framing.large(data, next - 1));
      await this.sendFrom(next, records, framing);
    };
    while (at < records.length && isOpen()) {
      const taken = outbox.stream(request.id, made);
      if (taken !== undefined) return taken.then(goOn);
      if (large !== undefined) return goOn();
    }
    // A client that is behind waits without a page of records in memory.
    return isOpen() ? outbox.stream(request.id, NOTHING) : undefined;
  }

  /** Only this watcher waits for the large record. */
  private async sendLarge(large: Promise<object>, framed: (data: object) => string): Promise<void> {
    const { request, outbox, isOpen } = this.parts;
    const data = await large;
    if (isOpen()) await outbox.stream(request.id, () => framed(data));
  }
}
