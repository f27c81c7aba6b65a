/** Values that are known to be secret, in each spelling in which an agent may say them. Reversed, split or encrypted ones are not found. */
import { KNOWN_ENCODED_MIN_CHARS, KNOWN_SECRET_MIN_CHARS } from "../limits.ts";
import { makeFinder } from "./finder.ts";
import { escaped } from "./scan.ts";

export interface KnownSecrets {
  /** The text with all of them masked. */
  mask(text: string): string;
  /** The same, and the beginning of one with which the text ends. */
  maskCut(text: string): string;
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
/** As encoders write it that keep to ASCII. */
const inAscii = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

const lowerEscapes = (url: string): string => url.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase());

/** As they stand in a URL, in a query and in a form. */
const inUrl = (secret: string): readonly string[] => {
  const component = encodeURIComponent(secret.toWellFormed());
  const strict = component.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = strict.replaceAll("%20", "+");
  return [component, strict, form].flatMap((url) => [url, lowerEscapes(url)]);
};

/** Base64 turns three bytes into four characters, so there are three texts, by what stands before; without the characters it shares with others. */
const inBase64 = (bytes: Buffer): readonly string[] =>
  [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor((whole.length * 8) / 6);
    return [whole.toString("base64"), whole.toString("base64url")].map((text) => text.slice(first, last));
  });

export const spellingsOf = (secret: string): readonly string[] => {
  const bytes = Buffer.from(secret, "utf8");
  const hex = bytes.toString("hex");
  const encoded = [...inBase64(bytes), hex, hex.toUpperCase()];
  return [
    secret,
    inJson(secret),
    inAscii(inJson(secret)),
    inJson(inJson(secret)),
    inJson(inAscii(inJson(secret))),
    ...inUrl(secret),
    ...encoded.filter((text) => text.length >= KNOWN_ENCODED_MIN_CHARS),
  ];
};

/** Undefined where there is nothing to look for. Values shorter than KNOWN_SECRET_MIN_CHARS would mask ordinary words. */
export const knownSecrets = (secrets: readonly string[], mask: string): KnownSecrets | undefined => {
  const parts = new Set<string>();
  for (const secret of secrets) {
    for (const part of [secret, ...secret.split(/\r?\n/)]) {
      if (part.length < KNOWN_SECRET_MIN_CHARS) continue;
      for (const spelling of spellingsOf(part)) parts.add(spelling);
    }
  }
  if (parts.size === 0) return undefined;
  // The longest first: a secret that begins with another one is masked whole.
  const longestFirst = [...parts].sort((a, b) => b.length - a.length);
  const holdsOne = makeFinder(longestFirst);
  let pattern: RegExp | undefined;
  const masked = (text: string): string => {
    if (!holdsOne(text)) return text;
    // Most workers never need it, and it is large.
    pattern ??= new RegExp(longestFirst.map(escaped).join("|"), "g");
    return text.replace(pattern, mask);
  };
  return {
    mask: masked,
    maskCut: (text) => {
      const whole = masked(text);
      const most = Math.max(...longestFirst.map((part) => overlap(whole, part)));
      return most < CUT_MIN_CHARS ? whole : whole.slice(0, -most) + mask;
    },
  };
};

/** Fewer characters of a secret than these are told. */
const CUT_MIN_CHARS = 3;

/** How many characters at the end of the text are the beginning of the part. */
const overlap = (text: string, part: string): number => {
  for (let length = Math.min(part.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(part.slice(0, length))) return length;
  return 0;
};
