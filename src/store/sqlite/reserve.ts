/**
 * A file beside the database whose blocks are allocated in advance. On a full disk, drafts that must be durable are written
 * into it in place, where nothing else can take the room (docs/decisions/0031). It holds them as a sequence of entries until
 * the log can take them.
 *
 * An entry is a line with its length and its checksum, then its JSON and a line end. The checksum covers the nonce in the
 * first line of the file, so that entries from before the last `clear` are never taken for newer ones.
 */
import { randomBytes } from "node:crypto";
import { closeSync, constants, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { openRegular, readRegular } from "../../base/files/regular-file.ts";
import { RESERVE_BYTES } from "../../base/limits.ts";

const reservePath = (file: string): string => `${file}.reserve`;

const NONCE_BYTES = 16;
const headOf = (nonce: string): string => `holdfast reserve ${nonce}\n`;
const HEAD = /^holdfast reserve ([0-9a-f]{32})\n/;
const HEAD_CHARS = headOf("0".repeat(2 * NONCE_BYTES)).length;
/** Room for the two numbers of an entry's first line. */
const SIZES_CHARS = 24;

/** An entry as it is written. */
export const entryOf = (nonce: string, value: unknown): string => {
  const json = JSON.stringify(value);
  return `${Buffer.byteLength(json)} ${crc32(nonce + json)}\n${json}\n`;
};

interface ReserveContent {
  readonly nonce: string;
  readonly entries: readonly unknown[];
  /** The offset of the next entry. */
  readonly end: number;
}

/**
 * Reads entries from the beginning up to the first one that is torn or of another nonce. Undefined if the file is not a
 * reserve.
 */
export const entriesIn = (bytes: Uint8Array): ReserveContent | undefined => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const head = HEAD.exec(buffer.toString("latin1", 0, HEAD_CHARS));
  if (head === null) return undefined;
  const nonce = head[1] as string;
  const entries: unknown[] = [];
  for (let at = head[0].length; ; ) {
    const begins = /^(\d{1,8}) (\d{1,10})\n/.exec(buffer.toString("latin1", at, at + SIZES_CHARS));
    if (begins === null) return { nonce, entries, end: at };
    const from = at + begins[0].length;
    const to = from + Number(begins[1]);
    const json = buffer.toString("utf8", from, to);
    if (buffer[to] !== 0x0a || crc32(nonce + json) !== Number(begins[2])) return { nonce, entries, end: at };
    entries.push(JSON.parse(json));
    at = to + 1;
  }
};

export interface Reserve {
  /** Reads the entries that an earlier process left. */
  read(): readonly unknown[];
  /** Adds an entry. True if it is durable; false if there is no reserve or it is full. */
  add(value: unknown): boolean;
  /** Removes all entries, once they are in the log. */
  clear(): void;
  /** Creates the file. Call this only while the disk has room. */
  make(): void;
  isMade(): boolean;
}

export const makeReserve = (file: string, bytes = RESERVE_BYTES): Reserve => {
  const path = reservePath(file);
  let nonce: string | undefined;
  let end = 0;
  /** True once an entry did not fit: a later one must not follow it, because the entries would look complete. */
  let isSpent = false;

  const read = (): Buffer | undefined => {
    try {
      // A file of another size is incomplete or no reserve.
      const found = readRegular(path, bytes + 1);
      return found?.length === bytes ? found : undefined;
    } catch {
      return undefined;
    }
  };

  const begin = (): readonly unknown[] => {
    const bytes = read();
    const found = bytes && entriesIn(bytes);
    nonce = found?.nonce;
    end = found?.end ?? 0;
    return found?.entries ?? [];
  };

  const write = (text: string, at: number): void => {
    const fd = openRegular(path, constants.O_RDWR);
    try {
      const all = Buffer.from(text);
      for (let done = 0; done < all.length; ) done += writeSync(fd, all, done, all.length - done, at + done);
      fdatasyncSync(fd);
    } finally {
      closeSync(fd);
    }
  };

  const freshNonce = (): string => randomBytes(NONCE_BYTES).toString("hex");

  return {
    read: begin,
    isMade: () => nonce !== undefined,
    add: (value) => {
      if (nonce === undefined || isSpent) return false;
      const entry = entryOf(nonce, value);
      const size = Buffer.byteLength(entry);
      isSpent = end + size > bytes;
      if (isSpent) return false;
      try {
        write(entry, end);
        end += size;
      } catch {
        isSpent = true; // deleted, or a file system that cannot write in place
      }
      return !isSpent;
    },
    clear: () => {
      isSpent = false;
      if (nonce === undefined) return;
      const next = freshNonce();
      try {
        write(headOf(next), 0);
        nonce = next;
        end = headOf(next).length;
      } catch {
        nonce = undefined; // entries that stay do no harm: they have ids, so the log knows which it has
      }
    },
    make: () => {
      const first = freshNonce();
      const head = Buffer.from(headOf(first));
      try {
        // Anything else with its name is no reserve.
        rmSync(path, { recursive: true, force: true });
        const fd = openSync(path, "wx", 0o600);
        try {
          // Random bytes, because a file system could compress others to nothing. No sync: after a power loss an incomplete
          // file is replaced.
          const all = Buffer.concat([head, randomBytes(bytes - head.length)]);
          for (let done = 0; done < bytes; ) done += writeSync(fd, all, done);
        } finally {
          closeSync(fd);
        }
        begin();
      } catch {
        rmSync(path, { force: true }); // an incomplete file would take room and hold nothing
        nonce = undefined;
      }
    },
  };
};
