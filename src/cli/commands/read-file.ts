/** A file that a call names, read so that Ctrl-C ends the command also while nobody writes to a pipe. */
import { constants, createReadStream, fstatSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { isatty, ReadStream } from "node:tty";
import { IRREGULAR } from "../../store/regular-file.ts";

/** A pipe or a terminal is waited for by the event loop: a thread that waits in open() or read() would hold up the end of the process. */
export const bytesOfFile = async function* (path: string): AsyncGenerator<Uint8Array> {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (fstatSync(fd).isFIFO()) yield* new Socket({ fd, readable: true, writable: false });
  else if (isatty(fd)) yield* new ReadStream(fd);
  else yield* createReadStream(path, { fd });
};

/** Undefined where it is over `maxBytes`: the rest of it is not read, since a pipe has no size to look at before. */
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

/** The fault of a file that was to be read, in words to follow its name. */
export const whyUnreadable = (cause: unknown): string => {
  const { code = "", message } = cause as { readonly code?: string; readonly message?: string };
  return WHY_UNREADABLE[code] ?? `cannot be read: ${message}`;
};
