/**
 * A file beside the database that has its blocks already: what must be durable on a full disk is written over them, in place, where
 * nobody else can take the room (docs/decisions/0031). It holds drafts that the log could not take, as entries one after the other;
 * the log takes them as soon as it can, and they are forgotten then.
 *
 * An entry is a line of its length and its checksum, then its JSON and a line end. The checksum covers the nonce in the first line of
 * the file, so that entries of before the last `clear` are never taken for newer ones.
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
/** Two numbers and what is between them. */
const SIZES_CHARS = 24;

/** One entry as it is written. */
export const entryOf = (nonce: string, value: unknown): string => {
  const json = JSON.stringify(value);
  return `${Buffer.byteLength(json)} ${crc32(nonce + json)}\n${json}\n`;
};

interface ReserveContent {
  readonly nonce: string;
  readonly entries: readonly unknown[];
  /** The place of the next one. */
  readonly end: number;
}

/** Every whole entry from the beginning; it ends at the first that is torn or of another nonce. Undefined where this is no reserve. */
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
  /** The records that an earlier process has left in it. */
  read(): readonly unknown[];
  /** Durable when it returns true; false where there is no reserve, or it is spent. */
  add(value: unknown): boolean;
  /** All of it is in the log. */
  clear(): void;
  /** Makes the file where it is missing; to be called where there is room. */
  make(): void;
  isMade(): boolean;
}

export const makeReserve = (file: string, bytes = RESERVE_BYTES): Reserve => {
  const path = reservePath(file);
  let nonce: string | undefined;
  let end = 0;
  /** One that did not fit must not be followed by later ones: they would be taken for all there was. */
  let isSpent = false;

  const read = (): Buffer | undefined => {
    try {
      // A file of another size is not whole, or is no reserve.
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
        isSpent = true; // deleted, or a file system that writes nothing in place
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
        nonce = undefined; // its entries have ids, so that the log knows those that it has
      }
    },
    make: () => {
      const first = freshNonce();
      const head = Buffer.from(headOf(first));
      try {
        // Anything that has its name is no reserve.
        rmSync(path, { recursive: true, force: true });
        const fd = openSync(path, "wx", 0o600);
        try {
          // Bytes that compress would take no room. It is not waited for: one that a power loss leaves is made anew.
          const all = Buffer.concat([head, randomBytes(bytes - head.length)]);
          for (let done = 0; done < bytes; ) done += writeSync(fd, all, done);
        } finally {
          closeSync(fd);
        }
        begin();
      } catch {
        rmSync(path, { force: true }); // half of it would keep room from others, and hold nothing
        nonce = undefined;
      }
    },
  };
};
