/**
 * Enforces the bounds of agent-event.txt (Constraints; Enforcement behavior) on what an adapter made of an agent's output.
 * Nothing unbounded passes: a channel is dropped, a message cut, data replaced, and the text of a TextOutput split without
 * loss. All lengths are bytes of UTF-8. A value that is within its bounds is returned as it is, the same object.
 */

import {
  CHANNEL_MAX_BYTES,
  DATA_MAX_BYTES,
  DATA_MAX_DEPTH,
  FINAL_TEXT_MAX_BYTES,
  MESSAGE_MAX_BYTES,
  TEXT_MAX_BYTES,
} from "../base/limits.ts";
import type { AgentEvent } from "./agent-event.ts";
import type { AgentCompletion } from "./completion.ts";

type Data = NonNullable<AgentEvent["data"]> | null;

export const TRUNCATED_SUFFIX = "…(truncated)";
const SUFFIX_BYTES = Buffer.byteLength(TRUNCATED_SUFFIX);

/** A UTF-16 unit is 1 to 3 bytes of UTF-8, so most texts need no counting. */
const fits = (text: string, maxBytes: number): boolean =>
  text.length * 3 <= maxBytes || (text.length <= maxBytes && Buffer.byteLength(text) <= maxBytes);

/** The longest prefix of at most `maxBytes` bytes that ends between two code points. */
export const cutUtf8 = (text: string, maxBytes: number): string =>
  fits(text, maxBytes) ? text : text.slice(0, prefixUnits(text, maxBytes));

/** Units of UTF-16 of that prefix. A third as many units as there are bytes of room do fit: so each is counted once, and none is written. */
const prefixUnits = (text: string, maxBytes: number): number => {
  let units = 0;
  let room = maxBytes;
  for (;;) {
    const end = pointEnd(text, units + Math.floor(room / 3));
    if (end <= units) break;
    room -= Buffer.byteLength(text.slice(units, end));
    units = end;
  }
  // The rest is less than 6 bytes, which may still hold a pair, or a few short ones.
  for (const point of text.slice(units, units + 6)) {
    room -= Buffer.byteLength(point);
    if (room < 0) break;
    units += point.length;
  }
  return units;
};

/** The last end of a code point at or before `units`. */
const pointEnd = (text: string, units: number): number =>
  units < text.length && isHigh(text.charCodeAt(units - 1)) && isLow(text.charCodeAt(units))
    ? units - 1
    : Math.min(units, text.length);

/** The halves of a pair of UTF-16. */
export const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
export const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** agent-event.txt, Enforcement behavior: cut to make room for the suffix; a bound too small for the suffix leaves "…", or nothing. */
export const truncateMessage = (text: string, maxBytes: number = MESSAGE_MAX_BYTES): string =>
  fits(text, maxBytes) ? text : markTruncated(text, maxBytes);

/** The same of a text of which more is known to be missing: it is marked though it would fit. */
export const markTruncated = (text: string, maxBytes: number): string =>
  maxBytes > SUFFIX_BYTES
    ? cutUtf8(text, maxBytes - SUFFIX_BYTES) + TRUNCATED_SUFFIX
    : cutUtf8("…", maxBytes);

/** Parts of at most `maxBytes` bytes, each as long as can be, whose concatenation is the text. `maxBytes` is 4 or more. */
export const splitUtf8 = (text: string, maxBytes: number): string[] => {
  if (fits(text, maxBytes)) return [text];
  const parts: string[] = [];
  let rest = text;
  while (rest !== "") {
    const units = prefixUnits(rest, maxBytes);
    parts.push(rest.slice(0, units));
    rest = rest.slice(units);
  }
  return parts;
};

/**
 * Data of at most 65,536 bytes of compact JSON, or `{"dropped":{"reason":"oversize"}}`. A value that JSON cannot say counts as oversize
 * (a cycle, a BigInt) or becomes what `JSON.stringify` makes of it (NaN is null). Lone surrogates become U+FFFD before
 * the count. Nesting is bounded too: DATA_MAX_DEPTH.
 */
export const boundData = (value: unknown): Data => {
  const size: Size = { least: 0, most: 0 };
  if (!measure(value, size, DATA_MAX_DEPTH)) {
    const plain = toPlainJson(value);
    return plain === undefined ? dropped() : boundData(plain);
  }
  if (size.least > DATA_MAX_BYTES) return dropped();
  if (size.most <= DATA_MAX_BYTES || Buffer.byteLength(JSON.stringify(value)) <= DATA_MAX_BYTES)
    return value as Data;
  return dropped();
};

const dropped = (): Data => ({ dropped: { reason: "oversize" } });

/** Between what and what the bytes of the compact JSON are; so that small data is not serialised twice. */
interface Size {
  least: number;
  most: number;
}

/** Adds the size of a value. False: it is not plain JSON. It stops, with `least` over the bound, where more cannot matter. */
const measure = (value: unknown, size: Size, depth: number): boolean => {
  switch (typeof value) {
    case "string":
      return add(size, value.length + 2, value.length * 6 + 2) && value.isWellFormed();
    case "number":
      return add(size, 1, 25) && Number.isFinite(value);
    case "boolean":
      return add(size, 4, 5);
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return add(size, 4, 4);
  if (depth === 0) size.least = Number.POSITIVE_INFINITY;
  if (size.least > DATA_MAX_BYTES) return true;
  if (Array.isArray(value)) {
    add(size, 2, 2 + value.length);
    for (const item of value) if (!measure(item, size, depth - 1)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  add(size, 2, 2);
  for (const key of Object.keys(value)) {
    add(size, key.length + 3, key.length * 6 + 4);
    if (!key.isWellFormed() || !measure((value as Record<string, unknown>)[key], size, depth - 1))
      return false;
  }
  return true;
};

const add = (size: Size, least: number, most: number): true => {
  size.least += least;
  size.most += most;
  return true;
};

/** The JSON that a value stands for, with well-formed strings; undefined where there is none. */
const toPlainJson = (value: unknown): unknown => {
  try {
    const json = JSON.stringify(value, (_key, item: unknown) => {
      if (typeof item === "string") return item.toWellFormed();
      if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
      return Object.fromEntries(Object.entries(item).map(([key, member]) => [key.toWellFormed(), member]));
    });
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    return undefined;
  }
};

/**
 * One event within all bounds, or several with the parts of a long text in order. Each part has the event's channel and data.
 * agent-event.txt bounds `text` on every kind but splits only a TextOutput; on other kinds it is cut like a message.
 */
export const boundEvent = (event: AgentEvent): AgentEvent[] => {
  const channel =
    event.channel === undefined || fits(event.channel, CHANNEL_MAX_BYTES)
      ? event.channel?.toWellFormed()
      : undefined;
  const message = event.message === undefined ? undefined : truncateMessage(event.message.toWellFormed());
  const data = event.data === undefined ? undefined : boundData(event.data);
  const parts = event.text === undefined ? [undefined] : boundText(event.text.toWellFormed(), event.kind);
  const text = parts[0];
  if (
    parts.length === 1 &&
    channel === event.channel &&
    text === event.text &&
    message === event.message &&
    data === event.data
  )
    return [event];
  return parts.map((part) => eventOf(event, channel, part, message, data));
};

const boundText = (text: string, kind: AgentEvent["kind"]): string[] =>
  kind === "TextOutput" ? splitUtf8(text, TEXT_MAX_BYTES) : [truncateMessage(text, TEXT_MAX_BYTES)];

/** An absent field has no key. */
const eventOf = (
  event: AgentEvent,
  channel?: string,
  text?: string,
  message?: string,
  data?: Data,
): AgentEvent => ({
  agent_kind: event.agent_kind,
  kind: event.kind,
  ...(channel !== undefined && { channel }),
  ...(text !== undefined && { text }),
  ...(message !== undefined && { message }),
  ...(data !== undefined && { data }),
});

/** agent-event.txt, Completion payload bounds; `final_text` is cut like a message at its own bound (notes A.2). */
export const boundCompletion = (completion: AgentCompletion): AgentCompletion => ({
  status: completion.status,
  ...(completion.final_text !== undefined && {
    final_text: truncateMessage(completion.final_text.toWellFormed(), FINAL_TEXT_MAX_BYTES),
  }),
  ...(completion.data !== undefined && { data: boundData(completion.data) }),
});
