/** Ids are ULIDs: they sort by time and, within this process, strictly in the order in which they were made. */
import { createHash } from "node:crypto";
import { monotonicFactory } from "ulid";

const next = monotonicFactory();

/** A new id, of this time: wall clock, whole milliseconds; without one, of now. A clock that goes back does not break the order. */
export const newId = (now?: number): string => next(now);

/** Crockford's base32. */
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID_DIGITS = 26;

/** A ULID is 128 bits: it can be written as another form of 128 bits, and read from it. */
export const bitsOf = (ulid: string): bigint =>
  [...ulid].reduce((bits, digit) => bits * 32n + BigInt(DIGITS.indexOf(digit)), 0n);

export const ulidOfBits = (bits: bigint): string => {
  let ulid = "";
  for (let left = bits, n = 0; n < ULID_DIGITS; n += 1, left /= 32n) ulid = DIGITS[Number(left % 32n)] + ulid;
  return ulid;
};

/** The same id for the same text. It says nothing of a time. */
export const ulidOf = (text: string): string =>
  ulidOfBits(BigInt(`0x${createHash("sha256").update(text).digest("hex").slice(0, 32)}`));

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** The canonical form only: ids are compared as text, so a lower-case one would be another id. */
export const isUlid = (text: string): boolean => ULID.test(text);
