/**
 * The body of a response as the destination of an outbox. A client that takes nothing for API_STALLED_MAX_MS is cut off: a
 * half-closed connection would wait for ever. `close` comes for it, and for every other end of the connection.
 */
import type { ServerResponse } from "node:http";
import { API_STALLED_MAX_MS } from "../../base/limits.ts";
import type { Sink } from "../outbox.ts";

export class ResponseSink implements Sink {
  private readonly response: ServerResponse;
  private stalled: NodeJS.Timeout | undefined;

  /** `onDrain` is called when the client has taken what was written, `onClose` once, when the response is over. */
  constructor(response: ServerResponse, onDrain: () => void, onClose: () => void) {
    this.response = response;
    response.on("drain", () => {
      this.calm();
      onDrain();
    });
    response.once("close", () => {
      this.calm();
      onClose();
    });
    // The client may go away in the middle of a write; `close` follows.
    response.on("error", () => undefined);
  }

  get writable(): boolean {
    return !this.response.writableEnded && !this.response.destroyed;
  }

  get writableNeedDrain(): boolean {
    return this.response.writableNeedDrain;
  }

  get writableLength(): number {
    return this.response.writableLength;
  }

  write(text: string): void {
    if (this.response.write(text)) return;
    this.stalled ??= setTimeout(() => this.response.destroy(), API_STALLED_MAX_MS);
  }

  /** A response asks for nothing more. */
  pause(): void {}

  private calm(): void {
    clearTimeout(this.stalled);
    this.stalled = undefined;
  }
}
