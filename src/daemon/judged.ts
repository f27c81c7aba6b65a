/** Test mode, HOLDFAST_VALIDATE=1: a daemon that is about to send an envelope which breaks the contract ends instead, and says why. */
import type { Socket } from "node:net";
import { REQUEST_MAX_BYTES } from "../base/limits.ts";
import { type AnswersCheck, makeAnswersCheck } from "../protocol/validate/printed.ts";
import { makeLineSplitter } from "./line-splitter.ts";
import { parseRequest } from "./request.ts";

/** sysexits: EX_SOFTWARE. */
const DEFECT_EXIT = 70;

/** Follows what is asked on the socket, and how much of it inline. Requests without an id are given what one of them asked for. */
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

/** Whole lines are written to the socket. `inline_max_bytes`: for who asks for nothing else. */
export const judged = (socket: Socket, inline_max_bytes: number): Socket => {
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
