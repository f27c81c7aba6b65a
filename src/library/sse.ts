/** Records as server-sent events, for a web server of the program's own: what a browser's EventSource reads. */
import { API_COMMENT_MS } from "../base/limits.ts";
import { SSE_COMMENT, SSE_RETRY, sseEnd, sseEvent } from "../base/server-sent-events.ts";
import { asHoldfastError } from "../protocol/errors.ts";
import { optionsOf } from "./checked.ts";
import type { LogRecord } from "./events.ts";
import type { WatchOptions } from "./run-options.ts";

export { SSE_TYPE } from "../base/server-sent-events.ts";

/** The two calls of a runtime that a stream of events needs. */
interface WatchedRuntime {
  watch(options: WatchOptions): AsyncIterable<LogRecord>;
  cursor(seq: number): string;
}

export interface SseOptions extends WatchOptions {
  /** The `Last-Event-ID` of a client that comes back: it goes on after this event. Null and empty: none. */
  readonly lastEventId?: string | null;
}

/**
 * The records of a watch, each an event whose id is its cursor, so that a client which reconnects loses and doubles nothing.
 * The last event is `end`, with the error if there is one. Records are read as fast as the client takes them; its going away
 * ends the watch. Send it as `SSE_TYPE`.
 */
export const toSSE = (runtime: WatchedRuntime, options: SseOptions = {}): ReadableStream<Uint8Array> => {
  const { lastEventId, ...first } = optionsOf(options);
  const { since_ms: _, ...again } = first;
  const asked = lastEventId ? { ...again, from: lastEventId } : first;
  const records = runtime.watch(asked)[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let comments: NodeJS.Timeout | undefined;
  return new ReadableStream({
    start: (client) => {
      client.enqueue(encoder.encode(SSE_RETRY));
      comments = setInterval(() => {
        if ((client.desiredSize ?? 0) > 0) client.enqueue(encoder.encode(SSE_COMMENT));
      }, API_COMMENT_MS);
    },
    pull: async (client) => {
      let last: string;
      try {
        const { done, value } = await records.next();
        if (done !== true) {
          client.enqueue(encoder.encode(sseEvent(runtime.cursor(value.seq), JSON.stringify(value))));
          return;
        }
        last = sseEnd();
      } catch (cause) {
        last = sseEnd(asHoldfastError(cause));
      }
      clearInterval(comments);
      client.enqueue(encoder.encode(last));
      client.close();
    },
    cancel: async () => {
      clearInterval(comments);
      await records.return?.();
    },
  });
};
