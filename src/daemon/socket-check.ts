/**
 * Test mode, HOLDFAST_VALIDATE=1: if the daemon is about to send an envelope that breaks the contract, it
 * ends with an error instead.
 */
import type { Socket } from "node:net";
import { REQUEST_MAX_BYTES } from "../base/limits.ts";
import { makeLineSplitter } from "../base/line-splitter.ts";
import { type AnswersCheck, makeAnswersCheck } from "../protocol/validate/envelope-check.ts";
import { parseRequest } from "./request.ts";

/** sysexits: EX_SOFTWARE. */
const DEFECT_EXIT = 70;

/**
 * Notes each request on the socket and its inline size. Requests without an id get the size that one of them
 * asked for.
 */
const listen = (socket: Socket, otherwise: number): AnswersCheck => {
  const asked = new Map<string, number>();
  let unnamed = otherwise;
  const check = makeAnswersCheck((request_id) => asked.get(String(request_id)) ?? unnamed);
  const lines = makeLineSplitter(REQUEST_MAX_BYTES);
  socket.on("data", (bytes: Buffer) => {
    for (const line of lines.push(bytes)) {
      const parsed = "text" in line ? parseRequest(line.text) : undefined;
      if (parsed === undefined) continue;
      const { request_id } = parsed.head;
      if (request_id !== undefined) check.asked(request_id);
      if (!("request" in parsed) || parsed.inline_max_bytes === undefined) continue;
      if (request_id === undefined) unnamed = Math.max(unnamed, parsed.inline_max_bytes);
      else asked.set(request_id, parsed.inline_max_bytes);
    }
  });
  return check;
};

/**
 * Each write to the socket must be whole lines. `inline_max_bytes` applies to clients that request no other
 * size.
 */
export const checkedSocket = (socket: Socket, inline_max_bytes: number): Socket => {
  const check = listen(socket, inline_max_bytes);
  const write = socket.write.bind(socket) as (text: unknown) => boolean;
  socket.write = (text: unknown): boolean => {
    const error = check.take(String(text));
    if (error !== undefined) {
      process.stderr.write(`${error.message}\n`);
      process.exit(DEFECT_EXIT);
    }
    return write(text);
  };
  return socket;
};
