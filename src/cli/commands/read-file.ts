/** Reads a file that the user names. Ctrl-C works even while no process writes to a pipe. */
import { constants, createReadStream, fstatSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { isatty, ReadStream } from "node:tty";
import { IRREGULAR } from "../../base/files/regular-file.ts";

/** Waits for a pipe or terminal in the event loop: a thread blocked in open() or read() would keep the process from ending. */
export const bytesOfFile = async function* (path: string): AsyncGenerator<Uint8Array> {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (fstatSync(fd).isFIFO()) yield* new Socket({ fd, readable: true, writable: false });
  else if (isatty(fd)) yield* new ReadStream(fd);
  else yield* createReadStream(path, { fd });
};

/** Undefined if the file is over `maxBytes`. The size is not checked before, because a pipe has none. */
export const readBounded = async (path: string, maxBytes: number): Promise<Buffer | undefined> => {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of bytesOfFile(path)) {
    size += part.length;
    if (size > maxBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
};

const WHY_UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "may not be read",
  EISDIR: "is a directory",
  [IRREGULAR]: "is no regular file",
  // A socket.
  ENXIO: "is no regular file",
};

/** Why a file could not be read, as words after its name. */
export const whyUnreadable = (cause: unknown): string => {
  const { code = "", message } = cause as { readonly code?: string; readonly message?: string };
  return WHY_UNREADABLE[code] ?? `cannot be read: ${message}`;
};
