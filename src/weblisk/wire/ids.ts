/** Ids of the wire (weblisk.txt, Transport Rules): 32 hex digits, 16 bytes. A ULID has as many, so both convert without loss. Pure. */
import { bitsOf, ulidOfBits } from "../../protocol/ids.ts";

/** Hex digits of an id. */
export const WIRE_ID_CHARS = 32;

const HEX = /^[0-9a-f]{32}$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const ID_BYTES = 16;

/** The id in its form on the wire; also reads capitals, and a UUID. Undefined if it is neither. */
export const wireId = (text: unknown): string | undefined => {
  if (typeof text !== "string") return undefined;
  const small = text.toLowerCase();
  if (HEX.test(small)) return small;
  return UUID.test(small) ? small.replaceAll("-", "") : undefined;
};

export const wireIdOfUlid = (ulid: string): string => bitsOf(ulid).toString(16).padStart(WIRE_ID_CHARS, "0");

/** The ULID with the same bits. `id` has the form of the wire. */
export const ulidOfWireId = (id: string): string => ulidOfBits(BigInt(`0x${id}`));

/** A new id of 16 random bytes. */
export const newWireId = (randomBytes: (size: number) => Buffer): string =>
  randomBytes(ID_BYTES).toString("hex");
