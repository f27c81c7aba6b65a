/** Masks known secrets, in each encoding in which an agent may print them. Reversed, split or encrypted secrets are not found. */
import { KNOWN_ENCODED_MIN_CHARS, KNOWN_SECRET_MIN_CHARS } from "../limits.ts";
import { makeFinder } from "./finder.ts";
import { escaped } from "./scan.ts";

export interface KnownSecrets {
  /** Masks all secrets in the text. */
  mask(text: string): string;
  /** Masks also the beginning of a secret at the end of the text. */
  maskCut(text: string): string;
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
/** JSON as written by encoders that keep to ASCII. */
const inAscii = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

const lowerEscapes = (url: string): string => url.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase());

/** The spellings of a secret in a URL, a query and a form. */
const inUrl = (secret: string): readonly string[] => {
  const component = encodeURIComponent(secret.toWellFormed());
  const strict = component.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = strict.replaceAll("%20", "+");
  return [component, strict, form].flatMap((url) => [url, lowerEscapes(url)]);
};

/**
 * Base64 turns three bytes into four characters, so a secret has three spellings, depending on the bytes before it.
 * Characters that it shares with other bytes are left out.
 */
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

/** Undefined if there is nothing to search for. Values shorter than KNOWN_SECRET_MIN_CHARS would mask ordinary words. */
export const knownSecrets = (secrets: readonly string[], mask: string): KnownSecrets | undefined => {
  const parts = new Set<string>();
  for (const secret of secrets) {
    for (const part of [secret, ...secret.split(/\r?\n/)]) {
      if (part.length < KNOWN_SECRET_MIN_CHARS) continue;
      for (const spelling of spellingsOf(part)) parts.add(spelling);
    }
  }
  if (parts.size === 0) return undefined;
  // Longest first, so that a secret that begins with another one is masked whole.
  const longestFirst = [...parts].sort((a, b) => b.length - a.length);
  const holdsOne = makeFinder(longestFirst);
  let pattern: RegExp | undefined;
  const masked = (text: string): string => {
    if (!holdsOne(text)) return text;
    // Made late: most workers never need this large pattern.
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

/** Fewer characters of a cut secret may stay visible. */
const CUT_MIN_CHARS = 3;

/** How many characters at the end of the text begin the part. */
const overlap = (text: string, part: string): number => {
  for (let length = Math.min(part.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(part.slice(0, length))) return length;
  return 0;
};
