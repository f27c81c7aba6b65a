/** The parts of every listener of the wire: its patience, and how a request of HTTP/1.1 or HTTP/2 gets its answer. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerResponse } from "node:http2";
import type { Socket } from "node:net";
import {
  API_KEEP_ALIVE_MS,
  API_OVERDUE_LOOK_MS,
  API_STALLED_MAX_MS,
  WEBLISK_HEAD_MAX_BYTES,
  WEBLISK_HEAD_MAX_MS,
  WEBLISK_REQUEST_MAX_MS,
} from "../../base/limits.ts";
import { wireJson } from "../wire/body.ts";
import { answerOfRefusal, WebliskRefusal, type WireAnswer } from "../wire/refusal.ts";
import { type AnyRequest, BodyRoom, IncomingBody } from "./bodies.ts";
import type { WebliskServer } from "./server.ts";

export type Answering = Pick<WebliskServer, "answer">;

/** A client that is slower is let go. Milliseconds. */
export interface Patience {
  /** From the connection to the end of the head. */
  readonly head_ms: number;
  /** To the end of the body. */
  readonly request_ms: number;
  /** How often slow ones are looked for, over HTTP/1.1. */
  readonly look_ms: number;
  /** A connection without a request stays open for so long. */
  readonly idle_ms: number;
  /** An answer over HTTP/2 that its client does not take stays for so long. */
  readonly stalled_ms: number;
}

export const PATIENCE: Patience = {
  head_ms: WEBLISK_HEAD_MAX_MS,
  request_ms: WEBLISK_REQUEST_MAX_MS,
  look_ms: API_OVERDUE_LOOK_MS,
  idle_ms: API_KEEP_ALIVE_MS,
  stalled_ms: API_STALLED_MAX_MS,
};

type AnyResponse = ServerResponse | Http2ServerResponse;

/** Answers the requests of a listener. */
export const answererOf = (
  server: Answering,
  { request_ms, stalled_ms }: Patience,
): ((request: AnyRequest, response: AnyResponse) => void) => {
  const room = new BodyRoom();
  const serve = async (request: AnyRequest, response: AnyResponse): Promise<void> => {
    const { method = "", url = "", headers } = request;
    // node:http looks after the time of a request itself.
    const body = new IncomingBody(request, room, "stream" in request ? request_ms : undefined);
    const isLarge = "stream" in request && headBytes(request.rawHeaders) > WEBLISK_HEAD_MAX_BYTES;
    const answer = isLarge
      ? answerOfRefusal(headTooLarge())
      : await server.answer({ method, url, headers, body: (max) => body.read(max) });
    body.free();
    if ("stream" in response) endStream(response, answer, stalled_ms);
    else endResponse(request as IncomingMessage, response, answer);
  };
  return (request, response) => void serve(request, response);
};

/** Until a client of HTTP/2 has acknowledged the bound of a head, node:http2 takes larger ones. */
const headBytes = (raw: readonly string[]): number => raw.reduce((bytes, text) => bytes + text.length, 0);

const headTooLarge = (): WebliskRefusal =>
  new WebliskRefusal("INVALID_REQUEST", `The head has over ${WEBLISK_HEAD_MAX_BYTES} bytes; send less.`, {
    reason: "http",
    http: 431,
  });

const headersOf = ({ headers }: WireAnswer, text: string): Record<string, string | number> => ({
  "content-type": "application/json",
  "content-length": Buffer.byteLength(text),
  "cache-control": "no-store",
  ...headers,
});

const endResponse = (request: IncomingMessage, response: ServerResponse, answer: WireAnswer): void => {
  if (response.destroyed) return;
  // A body that was not read to its end would be taken for the next request.
  const isUnread = !request.complete && hasBody(request);
  const { status, body, text = wireJson(body) } = answer;
  response.writeHead(status, { ...headersOf(answer, text), ...(isUnread && { connection: "close" }) });
  response.end(text);
  if (isUnread) request.resume();
};

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** A stream is over with its answer, also in the middle of its body. */
const endStream = (response: Http2ServerResponse, answer: WireAnswer, stalled_ms: number): void => {
  const { stream } = response;
  if (stream === undefined || stream.destroyed) return;
  const { status, body, text = wireJson(body) } = answer;
  const stalled = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), stalled_ms);
  stream.once("close", () => clearTimeout(stalled));
  response.writeHead(status, headersOf(answer, text));
  response.end(text, () => stream.close(constants.NGHTTP2_NO_ERROR));
};

/** Bytes that are no HTTP, too many of them, or too slow. */
export const mistaken = ({ code }: NodeJS.ErrnoException, socket: Socket): void => {
  if (code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const [status, name, message] =
    code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? [408, "Request Timeout", "The request took too long; send it faster."]
      : code === "HPE_HEADER_OVERFLOW"
        ? [431, "Request Header Fields Too Large", headTooLarge().message]
        : [400, "Bad Request", "The bytes are no HTTP request."];
  const refusal = new WebliskRefusal("INVALID_REQUEST", message as string, { reason: "http" });
  const text = wireJson(answerOfRefusal(refusal).body);
  socket.end(
    `HTTP/1.1 ${status} ${name}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
  );
};
