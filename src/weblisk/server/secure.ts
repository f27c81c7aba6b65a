/**
 * A listener with TLS: HTTP/2 and HTTP/1.1, as ALPN agrees (RFC 7301). Connections of HTTP/2 have the bounds that node:http gives
 * those of HTTP/1.1, and bounds of their own: streams, resets, and the size of a head.
 */
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from "node:http2";
import type { SecureVersion } from "node:tls";
import {
  WEBLISK_HEAD_FIELDS_MAX,
  WEBLISK_HEAD_MAX_BYTES,
  WEBLISK_RESETS_BURST_MAX,
  WEBLISK_RESETS_PER_S,
  WEBLISK_STREAMS_MAX,
} from "../../base/limits.ts";
import { type Answering, answererOf, mistaken, type Patience } from "./http-parts.ts";
import type { TlsPair } from "./tls-files.ts";

/** `minVersion`: 1.3 between hubs, and 1.2 elsewhere (weblisk notes 1). */
export interface TlsTerms extends TlsPair {
  readonly minVersion: SecureVersion;
}

/** Properties by which node:http bounds a server; node:http2 reads them from its own, too. */
interface HttpBounds {
  maxHeaderSize: number;
  headersTimeout: number;
  requestTimeout: number;
  keepAliveTimeout: number;
  connectionsCheckingInterval: number;
}

export const secureServer = (
  server: Answering,
  { cert, key, minVersion }: TlsTerms,
  patience: Patience,
): Http2SecureServer => {
  const { head_ms, request_ms, look_ms, idle_ms } = patience;
  const made = createSecureServer({
    ...{ cert, key, minVersion, allowHTTP1: true, handshakeTimeout: head_ms },
    maxHeaderListPairs: WEBLISK_HEAD_FIELDS_MAX,
    streamResetBurst: WEBLISK_RESETS_BURST_MAX,
    streamResetRate: WEBLISK_RESETS_PER_S,
    settings: { maxConcurrentStreams: WEBLISK_STREAMS_MAX, maxHeaderListSize: WEBLISK_HEAD_MAX_BYTES },
  });
  const bounds: HttpBounds = {
    maxHeaderSize: WEBLISK_HEAD_MAX_BYTES,
    headersTimeout: head_ms,
    requestTimeout: request_ms,
    keepAliveTimeout: idle_ms,
    connectionsCheckingInterval: look_ms,
  };
  Object.assign(made, bounds);
  made.on("request", answererOf(server, patience));
  made.on("clientError", mistaken);
  made.on("session", (session) => endWhenIdle(session, patience));
  return made;
};

/** Ends a connection that has no stream: its first one must come within the time of a head. */
const endWhenIdle = (session: ServerHttp2Session, { head_ms, idle_ms }: Patience): void => {
  const end = (): void => session.destroy();
  let open = 0;
  let idle = setTimeout(end, head_ms);
  session.on("stream", (stream) => {
    clearTimeout(idle);
    open += 1;
    stream.once("close", () => {
      open -= 1;
      if (open === 0 && !session.destroyed) idle = setTimeout(end, idle_ms);
    });
  });
  session.once("close", () => clearTimeout(idle));
};
