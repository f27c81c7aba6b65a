/**
 * The sending side of one connection. Answers are sent at once, and streams as fast as the client takes them.
 * If a client is behind on its answers, its requests are not read (promise R15).
 */
import type { Defects } from "../actors/defects.ts";
import { crashPoint } from "../base/crash-point.ts";
import { ANSWERS_CHUNK_CHARS, WATCHER_BUFFER_MAX_BYTES } from "../base/limits.ts";
import { type EnvelopeHead, encodeTerminal } from "../protocol/envelope-v1.ts";
import { asHoldfastError } from "../protocol/errors.ts";
import { failure, type Outcome } from "../protocol/outcome.ts";
import { timeSince } from "./answers.ts";

interface Chunk {
  /** The id of the request. */
  readonly id: string;
  readonly made: () => string;
  readonly taken: () => void;
  readonly failed: (cause: unknown) => void;
}

/** The destination of answers: a socket, or the body of an HTTP response. `drain` of it calls `drained`. */
export interface Sink {
  readonly writable: boolean;
  readonly writableNeedDrain: boolean;
  /** Bytes that are not taken yet. */
  readonly writableLength: number;
  write(text: string): unknown;
  /** Reads no more requests until the answers are taken. */
  pause(): unknown;
}

/** The terminal line of a request. */
export const terminalLine = (
  defects: Defects,
  head: EnvelopeHead,
  outcome: Outcome<object>,
  startedAt: number,
): string => {
  try {
    return encodeTerminal(head, timeSince(startedAt), outcome);
  } catch (cause) {
    defects.tell(`the answer to ${head.command} is not JSON`, cause);
    return encodeTerminal(head, timeSince(startedAt), failure(asHoldfastError(cause)));
  }
};

export class Outbox {
  private readonly socket: Sink;
  private readonly defects: Defects;
  /** Chunks of streams that wait until the client has taken the data before them. */
  private readonly waiting: Chunk[] = [];
  /** Answers that are not written yet. */
  private gathered = "";
  private isFlushing = false;

  constructor(socket: Sink, defects: Defects) {
    this.socket = socket;
    this.defects = defects;
  }

  answer(head: EnvelopeHead, outcome: Outcome<object>, startedAt: number): void {
    this.send(this.lineOf(head, outcome, startedAt));
  }

  /** The terminal line of a request. */
  lineOf(head: EnvelopeHead, outcome: Outcome<object>, startedAt: number): string {
    return terminalLine(this.defects, head, outcome, startedAt);
  }

  send(line: string): void {
    if (!this.socket.writable) return;
    crashPoint("answer-before");
    this.gathered += line;
    if (this.gathered.length > ANSWERS_CHUNK_CHARS) this.flush();
    else this.flushSoon();
    crashPoint("answer-after");
    // Answers are not delayed, so the client's next requests must wait.
    if (this.isBehind()) this.socket.pause();
  }

  /** The client has not taken its answers, so no more of its requests are read. */
  isBehind(): boolean {
    return this.socket.writableLength > WATCHER_BUFFER_MAX_BYTES;
  }

  /** Sends the gathered answers now. */
  flush(): void {
    if (this.gathered === "") return;
    const text = this.gathered;
    this.gathered = "";
    this.socket.write(text);
  }

  /**
   * Undefined if the socket takes a text at once; otherwise a promise that resolves when the chunk is written. The text is made when the
   * socket wants it: the texts of many clients that are behind would fill the memory meanwhile. An empty one is not sent.
   */
  stream(id: string, made: () => string): Promise<void> | undefined {
    const { waiting } = this;
    this.flush();
    if (waiting.length === 0 && this.wantsMore()) {
      this.write(made());
      return undefined;
    }
    return new Promise((taken, failed) => waiting.push({ id, made, taken, failed }));
  }

  /** The client has taken the earlier data. */
  drained(): void {
    this.flush();
    while (this.waiting.length > 0 && this.wantsMore()) {
      const { made, taken, failed } = this.waiting.shift()!;
      try {
        this.write(made());
        taken();
      } catch (cause) {
        failed(cause);
      }
    }
  }

  /** Drops the waiting chunks of a request after its terminal line. */
  silence(id: string): void {
    const { waiting } = this;
    for (let at = waiting.length - 1; at >= 0; at -= 1) if (waiting[at]?.id === id) waiting.splice(at, 1);
  }

  private write(text: string): void {
    if (text !== "") this.socket.write(text);
  }

  private wantsMore(): boolean {
    return this.socket.writable && !this.socket.writableNeedDrain;
  }

  /**
   * The answers of one turn of the loop go into few writes. A chunk goes at once, so that its client reads while the next
   * one is made.
   */
  private flushSoon(): void {
    if (this.isFlushing) return;
    this.isFlushing = true;
    process.nextTick(() => {
      this.isFlushing = false;
      this.flush();
    });
  }
}
