/** The frames of server-sent events (WHATWG HTML): for the daemon's event streams, and for those of programs. */
import { API_RETRY_MS } from "./limits.ts";

export const SSE_TYPE = "text/event-stream; charset=utf-8";

/** The first frame: when a client that lost its connection comes back. */
export const SSE_RETRY = `retry: ${API_RETRY_MS}\n\n`;

/** Keeps a quiet connection alive; clients ignore it. */
export const SSE_COMMENT = ":\n\n";

/** One event. JSON has no line ends, so `data` is one line. */
export const sseEvent = (id: string, data: string): string => `id: ${id}\ndata: ${data}\n\n`;

/** The last event, with the error if the stream has not everything it was asked for. */
export const sseEnd = (error?: { readonly code: string; readonly message: string }): string =>
  `event: end\ndata: ${JSON.stringify(error === undefined ? {} : { code: error.code, message: error.message })}\n\n`;
