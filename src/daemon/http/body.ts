/** Reads the body of a request within its bound. The time for it is the server's (`requestTimeout`). */
import type { IncomingMessage } from "node:http";
import { API_LINGER_MS, REQUEST_MAX_BYTES } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { readJson } from "../request.ts";

const tooLarge = (): HoldfastError =>
  new HoldfastError("REQUEST_TOO_LARGE", `The body of a request is at most ${REQUEST_MAX_BYTES} bytes.`, {
    phase: "validation",
  });

/** A page of another site can send a form, but no JSON, without asking first. */
const notJson = (): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", "The body of a request is JSON.", {
    suggestion: "Send the header Content-Type: application/json.",
    phase: "validation",
  });

/** The bytes; undefined if the client went away. Rejects with REQUEST_TOO_LARGE or INVALID_REQUEST before it has read all. */
const bodyOf = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const { "content-length": length, "content-type": type, "transfer-encoding": coding } = request.headers;
  if (length === "0" || (length === undefined && coding === undefined)) return Buffer.alloc(0);
  if (!/^application\/json\s*(?:;|$)/i.test(type ?? "")) throw notJson();
  if (Number(length ?? 0) > REQUEST_MAX_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > REQUEST_MAX_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof HoldfastError) throw cause;
    return undefined;
  }
  return Buffer.concat(chunks);
};

/** Undefined if the client went away. An empty body is no data. */
export const dataOfBody = async (request: IncomingMessage): Promise<unknown> => {
  const bytes = await bodyOf(request);
  if (bytes === undefined || bytes.length === 0) return bytes === undefined ? undefined : {};
  const read = readJson(bytes);
  if ("error" in read) throw read.error;
  return read.json;
};

const hasBody = ({ headers }: IncomingMessage): boolean =>
  (headers["content-length"] ?? "0") !== "0" || headers["transfer-encoding"] !== undefined;

/**
 * Headers of a refusal. A client that still sends reads it all the same: its bytes are dropped for a moment, and then the
 * connection is closed.
 */
export const leaveBody = (request: IncomingMessage): readonly string[] => {
  if (!hasBody(request) || request.complete) return [];
  request.resume();
  const timer = setTimeout(() => request.destroy(), API_LINGER_MS);
  request.once("close", () => clearTimeout(timer));
  return ["connection", "close"];
};
