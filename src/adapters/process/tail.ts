/** Reads a part of a file, as far as the file has it. */
import { closeSync, fstatSync, readSync } from "node:fs";
import { openToRead } from "../../base/files/regular-file.ts";

/** Bytes [from, from + into.length), or fewer at the end of the file. */
export const readBytes = <Bytes extends Uint8Array>(fd: number, from: number, into: Bytes): Bytes => {
  let length = 0;
  while (length < into.length) {
    const read = readSync(fd, into, length, into.length - length, from + length);
    if (read === 0) break;
    length += read;
  }
  return length === into.length ? into : (into.subarray(0, length) as Bytes);
};

/** The last `bytes` of a file as text. A character that the cut divides is left out. */
export const readTail = (path: string, bytes: number): string => {
  const fd = openToRead(path);
  if (fd === undefined) return "";
  try {
    const { size } = fstatSync(fd);
    const from = Math.max(0, size - bytes);
    const tail = readBytes(fd, from, Buffer.allocUnsafe(Math.min(bytes, size)));
    let start = 0;
    while (from > 0 && start < 3 && ((tail[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return tail.toString("utf8", start);
  } finally {
    closeSync(fd);
  }
};
