/** Parses the values of flags by their types: to a checked value, or to the rest of a sentence that begins with the flag. */
import { constants } from "node:os";
import {
  formatDuration,
  formatSize,
  type Reading,
  readBackoff,
  readBudget,
  readDuration,
  readNumber,
  readRestarts,
  readSize,
} from "../base/durations.ts";
import type { FlagDef } from "../base/flag.ts";
import { readInstant } from "../base/instant.ts";
import { NAME_MAX_BYTES } from "../base/limits.ts";
import { didYouMean } from "../base/suggest.ts";
import { CURSOR } from "../protocol/cursor.ts";
import { isHostsCursor } from "../protocol/hosts-cursor.ts";
import { NAME_FORM } from "../protocol/spec-fields.ts";

const good = (value: unknown): Reading<unknown> => ({ ok: true, value });
const bad = (problem: string): Reading<unknown> => ({ ok: false, problem });

const INTEGER = /^\d{1,15}$/;

const splitPair = (text: string): readonly [string, string] | undefined => {
  const at = text.indexOf("=");
  return at < 1 ? undefined : [text.slice(0, at), text.slice(at + 1)];
};

const readPair = (text: string): Reading<unknown> => {
  const pair = splitPair(text);
  return pair === undefined ? bad(`needs KEY=VALUE, not "${text}"`) : good(pair);
};

const readJsonPair = (text: string): Reading<unknown> => {
  const pair = splitPair(text);
  if (pair === undefined) return bad(`needs KEY=JSON, not "${text}"`);
  try {
    return good([pair[0], JSON.parse(pair[1])]);
  } catch {
    return bad(`has no valid JSON for ${pair[0]}: ${pair[1]}`);
  }
};

/** A signal's name with or without SIG, or its number; the value is the full name. */
const readSignal = (text: string): Reading<unknown> => {
  const byNumber = Object.entries(constants.signals).find(([, number]) => String(number) === text)?.[0];
  const short = text.toUpperCase().replace(/^SIG/, "");
  const name = byNumber ?? `SIG${short}`;
  if (Object.hasOwn(constants.signals, name)) return good(name);
  const known = Object.keys(constants.signals).map((each) => each.slice("SIG".length));
  return bad(`knows no signal "${text}"${didYouMean(short, known, "SIG")}`);
};

const readCursor = (text: string): Reading<unknown> => {
  if (INTEGER.test(text)) return good(Number(text));
  return CURSOR.test(text) || isHostsCursor(text)
    ? good(text)
    : bad(`needs a seq or EPOCH:SEQ, not "${text}"`);
};

/** A name that the user gives, with its bound. */
export const readName = (text: string, maxBytes = NAME_MAX_BYTES): Reading<unknown> =>
  NAME_FORM.test(text) && text.length <= maxBytes
    ? good(text)
    : bad(
        `has letters, digits, '.', '_' and '-', begins with a letter or digit and is at most ${maxBytes} long, not "${text}"`,
      );

/** A bound as people write it. */
const SHOWN: Partial<Record<FlagRead["type"], (bound: number) => string>> = {
  size: formatSize,
  duration: formatDuration,
};

/** Checks the bounds of a number. */
const inBounds = (
  { type, min = 0, max = Number.POSITIVE_INFINITY }: FlagRead,
  reading: Reading<unknown>,
  text: string,
): Reading<unknown> => {
  if (!reading.ok || typeof reading.value !== "number") return reading;
  if (reading.value >= min && reading.value <= max) return reading;
  const shown = SHOWN[type] ?? String;
  if (max === Number.POSITIVE_INFINITY) return bad(`is at least ${shown(min)}`);
  return bad(
    min === 0
      ? `is at most ${shown(max)}, not ${text}`
      : `is from ${shown(min)} to ${shown(max)}, not ${text}`,
  );
};

type FlagRead = Pick<FlagDef, "type" | "values" | "min" | "max">;

export const readValue = (flag: FlagRead, text: string): Reading<unknown> =>
  inBounds(flag, readAs(flag, text), text);

const readAs = (flag: FlagRead, text: string): Reading<unknown> => {
  switch (flag.type) {
    case "enum":
      return flag.values!.includes(text)
        ? good(text)
        : bad(`is one of ${flag.values!.join(", ")}, not "${text}"${didYouMean(text, flag.values!)}`);
    case "int":
      return INTEGER.test(text) ? good(Number(text)) : bad(`needs a whole number, not "${text}"`);
    case "duration":
      return readDuration(text);
    case "time":
      return readInstant(text, Date.now());
    case "size":
      return readSize(text);
    case "restarts":
      return readRestarts(text);
    case "backoff":
      return readBackoff(text);
    case "budget":
      return readBudget(text);
    case "number":
      return readNumber(text);
    case "pair":
      return readPair(text);
    case "json-pair":
      return readJsonPair(text);
    case "list":
      return good(text.split(",").filter((item) => item !== ""));
    case "name":
      return readName(text);
    case "cursor":
      return readCursor(text);
    case "signal":
      return readSignal(text);
    default:
      return text === "" ? bad("needs a value that is not empty") : good(text);
  }
};
