/**
 * The last line to a client that is turned away. It may still be writing: what it sends is read and dropped for a moment, because
 * closing at once would fail its write (EPIPE) before it has read why.
 */
import type { Socket } from "node:net";
import { FAREWELL_MS } from "../base/limits.ts";

/** `socket` must have been made with allowHalfOpen. It is closed once the client has ended too, or after FAREWELL_MS. */
export const farewell = (socket: Socket, line: string): void => {
  socket.on("error", () => {});
  const timer = setTimeout(() => socket.destroy(), FAREWELL_MS);
  socket.once("close", () => clearTimeout(timer));
  socket.end(line);
  socket.resume();
};
