/**
 * Enforces the bounds of agent-event.txt (Constraints; Enforcement behavior) on the events of an adapter. A channel over its
 * bound is dropped, a message cut, data replaced, and the text of a TextOutput split without loss. All lengths are bytes of
 * UTF-8. A value within its bounds is returned as the same object.
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

type EventData = NonNullable<AgentEvent["data"]> | null;

export const TRUNCATED_SUFFIX = "…(truncated)";
const SUFFIX_BYTES = Buffer.byteLength(TRUNCATED_SUFFIX);

/** A UTF-16 unit is 1 to 3 bytes of UTF-8, so most texts need no counting. */
const fits = (text: string, maxBytes: number): boolean =>
  text.length * 3 <= maxBytes || (text.length <= maxBytes && Buffer.byteLength(text) <= maxBytes);

/** The longest prefix of at most `maxBytes` bytes that ends between two code points. */
export const cutUtf8 = (text: string, maxBytes: number): string =>
  fits(text, maxBytes) ? text : text.slice(0, prefixUnits(text, maxBytes));

/**
 * The length of that prefix in UTF-16 units. The loop takes a third as many units as there are bytes of room, because they
 * always fit; so each unit is counted once and nothing is encoded.
 */
const prefixUnits = (text: string, maxBytes: number): number => {
  let units = 0;
  let room = maxBytes;
  for (;;) {
    const end = pointEnd(text, units + Math.floor(room / 3));
    if (end <= units) break;
    room -= Buffer.byteLength(text.slice(units, end));
    units = end;
  }
  // Less than 6 bytes of room are left, which may hold a surrogate pair or a few short characters.
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

/** The two halves of a surrogate pair. */
export const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
export const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** agent-event.txt, Enforcement behavior: cuts the text to make room for the suffix. A bound too small for the suffix leaves "…", or nothing. */
export const truncateMessage = (text: string, maxBytes: number = MESSAGE_MAX_BYTES): string =>
  fits(text, maxBytes) ? text : markTruncated(text, maxBytes);

/** Cuts likewise a text with a part already missing: it gets the suffix even if it fits. */
export const markTruncated = (text: string, maxBytes: number): string =>
  maxBytes > SUFFIX_BYTES
    ? cutUtf8(text, maxBytes - SUFFIX_BYTES) + TRUNCATED_SUFFIX
    : cutUtf8("…", maxBytes);

/** Splits a text into parts of at most `maxBytes` bytes (4 or more), each as long as possible. Joined, the parts are the text. */
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
 * Returns data of at most 65,536 bytes of compact JSON and at most DATA_MAX_DEPTH levels, or
 * `{"dropped":{"reason":"oversize"}}`. A value that JSON cannot express counts as oversize (a cycle, a BigInt) or becomes
 * what `JSON.stringify` makes of it (NaN is null). Lone surrogates become U+FFFD before the count.
 */
export const boundData = (value: unknown): EventData => {
  const size: SizeEstimate = { least: 0, most: 0 };
  if (!measure(value, size, DATA_MAX_DEPTH)) {
    const plain = toPlainJson(value);
    return plain === undefined ? dropped() : boundData(plain);
  }
  if (size.least > DATA_MAX_BYTES) return dropped();
  if (size.most <= DATA_MAX_BYTES || Buffer.byteLength(JSON.stringify(value)) <= DATA_MAX_BYTES)
    return value as EventData;
  return dropped();
};

const dropped = (): EventData => ({ dropped: { reason: "oversize" } });

/** Bounds for the bytes of the compact JSON, so that small data is not serialised just to be measured. */
interface SizeEstimate {
  least: number;
  most: number;
}

/** Adds the size of a value. Returns false if it is not plain JSON. Stops once `least` is over the bound. */
const measure = (value: unknown, size: SizeEstimate, depth: number): boolean => {
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

const add = (size: SizeEstimate, least: number, most: number): true => {
  size.least += least;
  size.most += most;
  return true;
};

/** The value as plain JSON with well-formed strings; undefined if JSON cannot express it. */
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
 * Returns the event within all bounds, or several events with the parts of a long text in order, each with the channel and
 * data of the event. agent-event.txt bounds `text` on every kind but splits only a TextOutput; on other kinds the text is
 * cut like a message.
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
  data?: EventData,
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
