/**
 * Sends a last line to a rejected client. The client may still be writing, so its data is read and dropped
 * for a moment: if the socket were closed at once, the client's write would fail (EPIPE) before it has read
 * the reason.
 */
import type { Socket } from "node:net";
import { FAREWELL_MS } from "../base/limits.ts";

/**
 * `socket` must have been made with allowHalfOpen. It is closed once the client has ended too, or after
 * FAREWELL_MS.
 */
export const farewell = (socket: Socket, line: string): void => {
  socket.on("error", () => {});
  const timer = setTimeout(() => socket.destroy(), FAREWELL_MS);
  socket.once("close", () => clearTimeout(timer));
  socket.end(line);
  socket.resume();
};
