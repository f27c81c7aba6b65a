/** Serves the wire by `node:http`, within bounds of bytes, time and connections. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { authorityOf, type HttpAddress } from "../../base/http-address.ts";
import {
  API_KEEP_ALIVE_MS,
  API_OVERDUE_LOOK_MS,
  WEBLISK_CONNECTIONS_MAX,
  WEBLISK_HEAD_MAX_BYTES,
  WEBLISK_HEAD_MAX_MS,
  WEBLISK_REQUEST_MAX_MS,
} from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { tooLarge, wireJson } from "../wire/body.ts";
import { checkBodyHeaders } from "../wire/headers.ts";
import { answerOfRefusal, WebliskRefusal, type WireAnswer } from "../wire/refusal.ts";
import type { WebliskServer } from "./server.ts";

export interface Listening {
  readonly address: HttpAddress;
  /** Takes no new connection, and closes those that are left. */
  close(): void;
}

/** A client that is slower is let go. Milliseconds. */
export interface Patience {
  /** From the connection to the end of the head. */
  readonly head_ms: number;
  /** To the end of the body. */
  readonly request_ms: number;
  /** How often slow ones are looked for. */
  readonly look_ms: number;
}

const PATIENCE: Patience = {
  head_ms: WEBLISK_HEAD_MAX_MS,
  request_ms: WEBLISK_REQUEST_MAX_MS,
  look_ms: API_OVERDUE_LOOK_MS,
};

/** Rejects with UNAVAILABLE if it cannot listen there. */
export const listen = (
  server: Pick<WebliskServer, "answer">,
  { host, port }: HttpAddress,
  { head_ms, request_ms, look_ms } = PATIENCE,
): Promise<Listening> =>
  new Promise((resolve, reject) => {
    const http = createServer(
      {
        maxHeaderSize: WEBLISK_HEAD_MAX_BYTES,
        headersTimeout: head_ms,
        requestTimeout: request_ms,
        keepAliveTimeout: API_KEEP_ALIVE_MS,
        connectionsCheckingInterval: look_ms,
      },
      (request, response) => void serve(server, request, response),
    );
    http.maxConnections = WEBLISK_CONNECTIONS_MAX;
    http.on("clientError", mistaken);
    http.once("error", (cause) => {
      const place = authorityOf({ host, port });
      const suggestion = "End the program that has the port, or choose another one with --listen.";
      reject(
        new HoldfastError("UNAVAILABLE", `Weblisk cannot be served at ${place}: ${cause.message}.`, {
          cause,
          suggestion,
        }),
      );
    });
    http.listen({ host, port }, () =>
      resolve({ address: addressOf(http, host), close: () => closeAll(http) }),
    );
  });

const addressOf = (http: Server, host: string): HttpAddress => {
  const address = http.address();
  return { host, port: typeof address === "object" && address !== null ? address.port : 0 };
};

const closeAll = (http: Server): void => {
  http.close();
  http.closeAllConnections();
};

const serve = async (
  server: Pick<WebliskServer, "answer">,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { method = "", url = "", headers } = request;
  const answer = await server.answer({ method, url, headers, body: (max) => bytesOf(request, max) });
  if (response.destroyed) return;
  // A body that was not read to its end would be taken for the next request.
  const isUnread = !request.complete && hasBody(request);
  write(response, answer, isUnread);
  if (isUnread) request.resume();
};

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

const write = (response: ServerResponse, answer: WireAnswer, isLast: boolean): void => {
  const { status, body, text = wireJson(body), headers } = answer;
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
    ...headers,
    ...(isLast && { connection: "close" }),
  });
  response.end(text);
};

const bytesOf = async (request: IncomingMessage, maxBytes: number): Promise<Uint8Array> => {
  checkBodyHeaders(request.headers, maxBytes);
  const chunks: Buffer[] = [];
  let bytes = 0;
  const tooMany = new Promise<never>((_, reject) => {
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) reject(tooLarge(maxBytes));
      else chunks.push(chunk);
    });
  });
  const whole = new Promise<void>((resolve, reject) => {
    request.once("end", resolve);
    request.once("close", () => reject(gone()));
  });
  await Promise.race([whole, tooMany]);
  return Buffer.concat(chunks);
};

const gone = (): WebliskRefusal =>
  new WebliskRefusal("INVALID_REQUEST", "The request ended in its middle.", { reason: "body_cut" });

/** Bytes that are no HTTP, too many of them, or too slow. */
const mistaken = ({ code }: NodeJS.ErrnoException, socket: Socket): void => {
  if (code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const [status, name, message] =
    code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? [408, "Request Timeout", "The request took too long; send it faster."]
      : code === "HPE_HEADER_OVERFLOW"
        ? [431, "Request Header Fields Too Large", `The head has over ${WEBLISK_HEAD_MAX_BYTES} bytes.`]
        : [400, "Bad Request", "The bytes are no HTTP request."];
  const refusal = new WebliskRefusal("INVALID_REQUEST", message as string, { reason: "http" });
  const text = wireJson(answerOfRefusal(refusal).body);
  socket.end(
    `HTTP/1.1 ${status} ${name}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
  );
};
