/**
 * The body of a response as the destination of an outbox. A client that takes nothing for API_STALLED_MAX_MS is cut off: a
 * half-closed connection would wait for ever. `close` of the response comes for it, as for every other end of the connection.
 */
import type { ServerResponse } from "node:http";
import { API_STALLED_MAX_MS } from "../../base/limits.ts";
import type { Sink } from "../outbox.ts";

export class ResponseSink implements Sink {
  private readonly response: ServerResponse;
  private readonly onDrain: () => void;
  private stalled: NodeJS.Timeout | undefined;

  /** `onDrain` is called when the client has taken what was written. */
  constructor(response: ServerResponse, onDrain: () => void) {
    this.response = response;
    this.onDrain = onDrain;
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
    const { response } = this;
    const isTaken = response.write(text);
    // Node would write at the end of the turn: the texts of many clients would become old garbage meanwhile.
    response.socket?.uncork();
    if (isTaken || this.stalled !== undefined) return;
    this.stalled = setTimeout(() => response.destroy(), API_STALLED_MAX_MS);
    // Most clients are never behind, so a response gets this listener with the first write that its client has not taken.
    response.once("drain", () => {
      this.closed();
      this.onDrain();
    });
  }

  /** A response asks for nothing more. */
  pause(): void {}

  /** The response is over. */
  closed(): void {
    clearTimeout(this.stalled);
    this.stalled = undefined;
  }
}
