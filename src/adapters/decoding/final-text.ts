/**
 * The part of the final answer that a decoder keeps until the exit. It must fit into the decoder's state,
 * which is committed with each spool offset. The whole answer is in the log, as the texts of its message.
 */
import { cutUtf8, isHigh, isLow, TRUNCATED_SUFFIX } from "../../protocol/bounds.ts";

/** Bytes of JSON. The rest of DECODER_STATE_MAX_BYTES is for names and ids. */
const KEPT_TEXT_MAX_BYTES = 44 * 1024;

const SUFFIX_BYTES = Buffer.byteLength(TRUNCATED_SUFFIX);

/**
 * The text, or its beginning and the suffix of agent-event.txt. `max_bytes` counts JSON with its quotes and
 * is at least 2.
 */
export const keptText = (text: string, max_bytes: number = KEPT_TEXT_MAX_BYTES): string => {
  // JSON needs at most 6 bytes for a UTF-16 unit, so most texts need not be counted.
  if (text.length * 6 + 2 <= max_bytes) return text;
  const room = max_bytes - 2;
  const beginning = jsonPrefix(text, 0, room - SUFFIX_BYTES);
  if (jsonPrefix(text, beginning.end, room - beginning.bytes).end === text.length) return text;
  return room < SUFFIX_BYTES ? cutUtf8("…", room) : text.slice(0, beginning.end) + TRUNCATED_SUFFIX;
};

/** An answer that arrives in pieces: the part of it that is kept. */
export interface KeptAnswer {
  readonly text: string;
  /** The answer exceeded the bound, so only its beginning is kept here. */
  readonly cut: boolean;
  /** At least the bytes of its JSON, so that adding a piece does not serialise the whole text again. */
  readonly json_bytes: number;
}

export const NO_ANSWER: KeptAnswer = { text: "", cut: false, json_bytes: 2 };

/** Adds a piece. Room for the suffix, which marks a cut answer, is always left. */
export const keptAnswer = (before: KeptAnswer, piece: string): KeptAnswer => {
  if (before.cut || piece === "") return before;
  const { end, bytes } = jsonPrefix(piece, 0, KEPT_TEXT_MAX_BYTES - SUFFIX_BYTES - before.json_bytes);
  const json_bytes = before.json_bytes + bytes;
  if (end === piece.length) return { text: before.text + piece, cut: false, json_bytes };
  const text = before.text + piece.slice(0, end) + TRUNCATED_SUFFIX;
  return { text, cut: true, json_bytes: json_bytes + SUFFIX_BYTES };
};

/** The bytes that each ASCII character takes in JSON. */
const ASCII_BYTES = Uint8Array.from(
  { length: 128 },
  (_, code) => JSON.stringify(String.fromCharCode(code)).length - 2,
);

/**
 * The longest part of a text from `start` that takes at most `max_bytes` of JSON without quotes. Never splits
 * a surrogate pair.
 */
const jsonPrefix = (text: string, start: number, max_bytes: number): { end: number; bytes: number } => {
  let end = start;
  let bytes = 0;
  while (end < text.length) {
    const unit = text.charCodeAt(end);
    const more = unit < 0x80 ? (ASCII_BYTES[unit] as number) : bytesBeyond(unit, text, end);
    if (bytes + more > max_bytes) break;
    bytes += more;
    end += more === PAIR_BYTES ? 2 : 1;
  }
  return { end, bytes };
};

/** Bytes of a surrogate pair, as UTF-8. */
const PAIR_BYTES = 4;

/** The bytes of the non-ASCII code point at `at`. JSON escapes a lone surrogate. */
const bytesBeyond = (unit: number, text: string, at: number): number => {
  if (unit < 0x800) return 2;
  if (!isHigh(unit)) return isLow(unit) ? 6 : 3;
  return isLow(text.charCodeAt(at + 1)) ? PAIR_BYTES : 6;
};
