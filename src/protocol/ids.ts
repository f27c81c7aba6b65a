/** Ids are ULIDs. They sort by time and, within one process, strictly in the order of their making. */
import { createHash, randomFillSync } from "node:crypto";
import { monotonicFactory } from "ulid";

/** Asked for in bulk: the library takes a byte at a time, sixteen for each millisecond in which there is an id. */
const random = new Uint8Array(1_024);
let used = random.length;
const next = monotonicFactory(() => {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  return (random[used++] as number) / 256;
});

/** A new id for this wall-clock time in whole milliseconds, by default now. The order holds even if the clock goes back. */
export const newId = (now?: number): string => next(now);

/** Crockford's base32. */
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID_DIGITS = 26;

/** A ULID is 128 bits, so it converts to and from other forms of 128 bits. */
export const bitsOf = (ulid: string): bigint =>
  [...ulid].reduce((bits, digit) => bits * 32n + BigInt(DIGITS.indexOf(digit)), 0n);

export const ulidOfBits = (bits: bigint): string => {
  let ulid = "";
  for (let left = bits, n = 0; n < ULID_DIGITS; n += 1, left /= 32n) ulid = DIGITS[Number(left % 32n)] + ulid;
  return ulid;
};

/** When the id was made, in epoch milliseconds: its first 48 bits. */
export const idTime = (ulid: string): number => Number(bitsOf(ulid) >> 80n);

/** The same id for the same text. It carries no time. */
export const ulidOf = (text: string): string =>
  ulidOfBits(BigInt(`0x${createHash("sha256").update(text).digest("hex").slice(0, 32)}`));
