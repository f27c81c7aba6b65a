/** Test mode, HOLDFAST_VALIDATE=1: a daemon that is about to send an envelope which breaks the contract ends instead, and says why. */
import type { Socket } from "node:net";
import { makeAnswersCheck } from "../protocol/validate/printed.ts";

/** sysexits: EX_SOFTWARE. */
const DEFECT_EXIT = 70;

/** What is written to the socket is whole lines. */
export const judged = (socket: Socket): Socket => {
  const check = makeAnswersCheck();
  const write = socket.write.bind(socket) as (text: unknown) => boolean;
  socket.write = (text: unknown): boolean => {
    const error = check(String(text));
    if (error !== undefined) {
      process.stderr.write(`${error.message}\n`);
      process.exit(DEFECT_EXIT);
    }
    return write(text);
  };
  return socket;
};
