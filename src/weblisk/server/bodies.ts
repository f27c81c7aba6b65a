/** Bodies of requests as they come in, of HTTP/1.1 or HTTP/2: within a bound of each, and of all together. */
import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { WEBLISK_BODIES_MAX_BYTES, WEBLISK_BUSY_RETRY_S } from "../../base/limits.ts";
import { tooLarge } from "../wire/body.ts";
import { checkBodyHeaders } from "../wire/headers.ts";
import { WebliskRefusal } from "../wire/refusal.ts";

export type AnyRequest = IncomingMessage | Http2ServerRequest;

/** Room for the bodies of all requests of a listener that have no answer yet. */
export class BodyRoom {
  private readonly max: number;
  private taken = 0;

  /** `max` in bytes. */
  constructor(max = WEBLISK_BODIES_MAX_BYTES) {
    this.max = max;
  }

  /** Throws RATE_LIMITED if they are too many. */
  take(bytes: number): void {
    if (this.taken + bytes > this.max)
      throw new WebliskRefusal(
        "RATE_LIMITED",
        "Too many bodies come in at once; send this one again later.",
        {
          reason: "bodies_full",
          retry_after: WEBLISK_BUSY_RETRY_S,
        },
      );
    this.taken += bytes;
  }

  free(bytes: number): void {
    this.taken -= bytes;
  }
}

/** The body of one request. */
export class IncomingBody {
  private readonly request: AnyRequest;
  private readonly room: BodyRoom;
  private readonly within_ms: number | undefined;
  private held = 0;

  /** `within_ms`: how long it may take; undefined where something else looks after that. */
  constructor(request: AnyRequest, room: BodyRoom, within_ms?: number) {
    this.request = request;
    this.room = room;
    this.within_ms = within_ms;
  }

  /** Rejects with a refusal if there are more bytes, if it is no JSON by its headers, or if it comes too slowly. */
  async read(maxBytes: number): Promise<Uint8Array> {
    const { request, within_ms } = this;
    checkBodyHeaders(request.headers, maxBytes);
    const chunks: Buffer[] = [];
    let isOver = false;
    let late: NodeJS.Timeout | undefined;
    const take = (chunk: Buffer): void => {
      if (isOver) return;
      if (this.held + chunk.length > maxBytes) throw tooLarge(maxBytes);
      this.room.take(chunk.length);
      this.held += chunk.length;
      chunks.push(chunk);
    };
    try {
      await new Promise<void>((resolve, reject) => {
        request.on("data", (chunk: Buffer) => {
          try {
            take(chunk);
          } catch (cause) {
            reject(cause as Error);
          }
        });
        request.once("end", resolve);
        request.once("close", () => reject(gone()));
        if (within_ms !== undefined) late = setTimeout(() => reject(slow()), within_ms);
      });
    } finally {
      isOver = true;
      clearTimeout(late);
    }
    return Buffer.concat(chunks);
  }

  /** Its request is answered, so its bytes go. */
  free(): void {
    this.room.free(this.held);
    this.held = 0;
  }
}

const gone = (): WebliskRefusal =>
  new WebliskRefusal("INVALID_REQUEST", "The request ended in its middle.", { reason: "body_cut" });

const slow = (): WebliskRefusal =>
  new WebliskRefusal("INVALID_REQUEST", "The request took too long; send it faster.", {
    reason: "body_slow",
    http: 408,
  });
