/**
 * Masks secrets that follow a telling name: `password=…`, `x-api-key: …`, `--token …`, `"secret": ["…"]` in JSON text,
 * `Authorization:` and `Cookie:`. The words that a reader needs stay: names, quotes, schemes, references and code (`token =
 * getToken()`). It misses a password that is one plain word in the middle of a sentence.
 */
import { SECRET_VALUE_MAX_UNITS } from "../limits.ts";
import { isReference, isSecretName } from "./names.ts";
import type { Hint } from "./scan.ts";
import { MASK, WORD_START } from "./shapes.ts";

/** ANYWHERE marks a secret at any place in a name, AT_THE_END only as its last part. */
const ANYWHERE = ["secret", "password", "passwd", "passphrase", "credential", "apikey", "authorization"];
const AT_THE_END = ["key", "token", "auth", "cookie", "pat", "pwd"];

/** A sign of assignment soon follows the name, or the name is a flag. */
const ASSIGNED =
  "(?:(?:\\\\{0,3}[\"'`]|\\])?[ \\t]{0,16}(?:[=:>]|%3[Dd])|[ \\t](?<=(?:^|[^\\w-])--?[\\w-]{1,64}[ \\t]))";

const spellings = (word: string): string[] => [
  word,
  word.toUpperCase(),
  word.charAt(0).toUpperCase() + word.slice(1),
];

export const ASSIGNMENT_HINTS: readonly Hint[] = [
  ...[...ANYWHERE.flatMap(spellings), "passWord", "PassWord", "apiKey", "ApiKey"].map(
    (word) => [word, `[\\w.-]{0,24}${ASSIGNED}`] as const,
  ),
  ...AT_THE_END.flatMap(spellings).map((word) => [word, ASSIGNED] as const),
];

/** A name and its sign of assignment. The groups: dashes before the name, the name, the quote after it, the sign with its spaces. */
const ASSIGNMENT = new RegExp(
  `${WORD_START}(?<![\\w\\\\](?<!\\[[\\d;]{0,16}m)(?<!\\\\[nrtbf]))([A-Za-z_][\\w.-]{1,63})(?![\\w.-])(\\\\{0,3}["'\`]|\\])?([ \\t]{0,16}(?:=>|:=|={1,2}|:|%3[Dd])[ \\t]{0,16})`,
  "g",
);
/** A flag and the spaces before its value. */
const FLAG = /(?<![\w-])(--?)([A-Za-z][\w-]{1,63})([ \t]{1,4})(?=[^\s-])/g;
/** `<password>…</password>` */
const ELEMENT = /<([A-Za-z_][\w.:-]{1,63})>(?=[^<>\s])/g;

export const redactAssignments = (text: string): string =>
  walk(walk(walk(text, ASSIGNMENT, maskAssigned), FLAG, maskFlag), ELEMENT, maskElement);

/** The text that replaces a value, and the index where the value ends. */
interface MaskedValue {
  readonly shown: string;
  readonly end: number;
}

/** Visits each match once, from left to right, and skips what was masked. */
const walk = (
  text: string,
  pattern: RegExp,
  mask: (text: string, found: RegExpExecArray) => MaskedValue | undefined,
): string => {
  let out = "";
  let done = 0;
  pattern.lastIndex = 0;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const start = pattern.lastIndex;
    const masked = mask(text, found);
    if (masked === undefined) continue;
    out += text.slice(done, start) + masked.shown;
    done = masked.end;
    pattern.lastIndex = Math.max(masked.end, start);
  }
  return done === 0 ? text : out + text.slice(done);
};

const maskAssigned = (text: string, found: RegExpExecArray): MaskedValue | undefined => {
  const [, name = "", quote = "", assigns = ""] = found;
  if (!isSecretName(name)) return undefined;
  const at = found.index + found[0].length;
  // `TOKEN= command` sets an empty shell variable.
  if (/^=[ \t]/.test(assigns) && !/[a-z]/.test(name)) return undefined;
  const isColon = assigns.trim() === ":";
  if (/(?:^|-)authorization$/i.test(name)) return maskCredential(text, at);
  if (/^(?:set-)?cookie$/i.test(name) && isColon) return maskCookies(text, at);
  if (quote !== "" && quote !== "]" && /[[{]/.test(text.charAt(at))) return maskBelow(text, at, quote);
  return maskValue(text, at, isColon);
};

const maskFlag = (text: string, found: RegExpExecArray): MaskedValue | undefined =>
  isSecretName(found[2] ?? "") ? maskValue(text, found.index + found[0].length, true) : undefined;

const maskElement = (text: string, found: RegExpExecArray): MaskedValue | undefined => {
  const start = found.index + found[0].length;
  const value = at(/[^<>]{4,4096}(?=<\/)/y, text, start);
  if (value === undefined || isOpen(value) || !isSecretName(found[1] ?? "")) return undefined;
  return { shown: MASK, end: start + value.length };
};

const QUOTE = /\\{0,3}["'`]/y;
/** The longest run that is one word of a command line, one form field or one list member. */
const RUN = new RegExp(`(?:[^\\s"'\`,;&\\\\\\x1b]|\\\\(?![nrtu"'\`\\\\])){1,${SECRET_VALUE_MAX_UNITS}}`, "y");

const at = (pattern: RegExp, text: string, index: number): string | undefined => {
  pattern.lastIndex = index;
  return pattern.exec(text)?.[0];
};

/** A long text that is not a secret is skipped, not searched for names again, so that the time stays linear. */
const passed = (text: string, end: number): MaskedValue | undefined =>
  text.length <= PASSED_MIN_UNITS ? undefined : { shown: text, end };
const PASSED_MIN_UNITS = 256;

/** @param isProse a word of letters in the middle of a sentence is not masked */
const maskValue = (text: string, index: number, isProse: boolean): MaskedValue | undefined => {
  const quote = at(QUOTE, text, index);
  if (quote !== undefined) return maskQuoted(text, index, quote);
  const run = at(RUN, text, index);
  if (run === undefined) return undefined;
  // A closing bracket is not part of the value if it was opened before the name.
  const value = /[([{<]/.test(run) ? run : run.replace(/[)\]}>]{1,64}$/, "");
  const end = index + value.length;
  if (isOpen(value)) return passed(value, end);
  if (isCode(value, text.charAt(end))) return passed(value, end);
  if (
    isProse &&
    /^[A-Za-z'\u2019-]+[.!?:]?$/.test(value) &&
    /^[ \t]+[A-Za-z(]/.test(text.slice(end, end + 16))
  )
    return undefined;
  if (value.length < (/\d/.test(value) ? 4 : 6)) return undefined;
  return { shown: MASK, end };
};

const maskQuoted = (text: string, index: number, quote: string): MaskedValue | undefined => {
  const start = index + quote.length;
  const end = endOfQuoted(text, start, quote);
  const value = text.slice(start, end);
  if (value.length < 4) return undefined;
  return isOpen(value) ? passed(quote + value, end) : { shown: quote + MASK, end };
};

/** The index of the closing quote, or else the end of the line or of the longest value. */
const endOfQuoted = (text: string, start: number, quote: string): number => {
  const most = Math.min(text.length, start + SECRET_VALUE_MAX_UNITS);
  for (let index = start; index < most; index += 1) {
    if (text[index] === "\n") return index;
    if (text.startsWith(quote, index)) return index;
    if (quote.length === 1 && text[index] === "\\") index += 1;
  }
  return most;
};

/** Masks below a secret's name in JSON text (`["…", {"a": "…"}]`): all strings that are not names, and long numbers, up to the closing bracket. */
const maskBelow = (text: string, start: number, quote: string): MaskedValue => {
  const most = Math.min(text.length, start + SECRET_VALUE_MAX_UNITS);
  let shown = "";
  let depth = 0;
  let index = start;
  while (index < most) {
    const char = text[index] as string;
    if (text.startsWith(quote, index)) {
      const from = index + quote.length;
      const end = endOfQuoted(text, from, quote);
      const value = text.slice(from, end);
      const isName = /^\s{0,4}:/.test(text.slice(end + quote.length, end + quote.length + 5));
      shown += quote + (isName || isReference(value) ? value : MASK);
      index = end;
      if (text.startsWith(quote, end)) {
        shown += quote;
        index += quote.length;
      }
      continue;
    }
    const number = /[\d.]/.test(char) ? at(/[\d.]{1,64}/y, text, index) : undefined;
    shown += number === undefined ? char : isLongNumber(number) ? MASK : number;
    index += number?.length ?? 1;
    if (char === "[" || char === "{") depth += 1;
    if ((char === "]" || char === "}") && --depth === 0) break;
  }
  return { shown, end: index };
};

const SCHEME =
  /(?:Bearer|Basic|Digest|Token|ApiKey|Api-Key|Negotiate|NTLM|OAuth|Hawk|DPoP|Bot|SSWS|AWS4-HMAC-SHA256)[ \t]{1,4}/iy;
const REST_OF_LINE = new RegExp(`[^"'\`\\n\\r\\\\]{1,${SECRET_VALUE_MAX_UNITS}}`, "y");

/** `Bearer …`: the scheme stays. */
const maskCredential = (text: string, index: number): MaskedValue | undefined => {
  const quote = at(QUOTE, text, index) ?? "";
  const scheme = at(SCHEME, text, index + quote.length) ?? "";
  const start = index + quote.length + scheme.length;
  if (scheme === "") return maskValue(text, index, true);
  const rest = quote === "" ? /[^\r\n]{1,4096}/y : REST_OF_LINE;
  const whole = at(/^(?:Digest|AWS4)/i.test(scheme) ? rest : RUN, text, start);
  if (whole === undefined || isOpen(whole) || whole.length < 4 || isCode(whole, "")) return undefined;
  return { shown: quote + scheme + MASK, end: start + whole.length };
};

const ATTRIBUTES = /^(?:path|expires|max-age|domain|samesite|priority|version)$/i;

/** `name=…; other=…`: the names stay. */
const maskCookies = (text: string, index: number): MaskedValue | undefined => {
  const quote = at(QUOTE, text, index) ?? "";
  const start = index + quote.length;
  const line = at(REST_OF_LINE, text, start);
  if (line === undefined) return undefined;
  const shown = line.replace(/([^\s=;,]{1,256}=)([^;\s]+)/g, (all, name: string) =>
    ATTRIBUTES.test(name.slice(0, -1)) ? all : name + MASK,
  );
  if (shown === line && !line.includes("="))
    return maskValue(text, index, true) ?? passed(quote + line, start + line.length);
  return { shown: quote + shown, end: start + line.length };
};

/** A number too long to be a count. */
export const isLongNumber = (text: string): boolean => /^\d{6,}$/.test(text);

const PLACEHOLDERS =
  /^(?:true|false|null|nil|none|undefined|string|str|text|number|boolean|bool|integer|int|bytes|any|unknown|object|array|required|optional|enabled|disabled|missing|invalid|expired|redacted|masked|hidden|secret|password|token|bearer|basic|digest|default|example|changeme|inherit|never|always|prompt|public|private)[.!?)]*$/i;
/** Words, possibly joined by dots, that only name the place of a value. */
const NAMES = /^[A-Za-z_$][A-Za-z_$]*(?:\??\.[A-Za-z_$]+)*$/;
const ROOTS =
  /^(?:process|os|self|this|args|argv|config|cfg|settings|env|environ|req|request|res|response|options|opts|props|params|ctx|context|data|body|user|client|input|state|vars|secrets|var|local|module|exports|import)\??\./;
/** A value that begins like a variable, a template or a tag, or holds only punctuation. */
const REFERENCE = /^(?:\$[A-Za-z_{(]|[{<@(*[]|%[A-Za-z_({]|[^A-Za-z0-9]*$|x{3,}$|\.{3})/;
const PATHS =
  /^(?:~|\.{1,2}|\/(?:etc|run|var|home|usr|tmp|opt|root|mnt|proc|dev|private|Users|Volumes))\/[\w./-]*$/;

/** The value is not a secret: empty, a mask, a reference, a placeholder, a path, or a short number. */
const isOpen = (value: string): boolean =>
  isReference(value) ||
  REFERENCE.test(value) ||
  value.startsWith(MASK) ||
  PLACEHOLDERS.test(value) ||
  PATHS.test(value) ||
  (/^https?:\/\//.test(value) && !value.includes("@")) ||
  (/^[\d.,:%]+$/.test(value) && !isLongNumber(value)) ||
  (NAMES.test(value) && (ROOTS.test(value) || isSecretName(value.slice(value.lastIndexOf(".") + 1))));

/** `getToken()`, `keys[0]`, `Option<String>`, `z.string()`, and names at the end of a statement. */
const isCode = (value: string, after: string): boolean =>
  /^[A-Za-z_$][\w$.?]*[([<{]/.test(value) || (after === ";" && NAMES.test(value));
