/**
 * Masks secrets as "***" before anything is stored or shown (protocol-v1.txt, Security invariants; notes 2.13): by the known shapes
 * of keys and tokens, by the names of fields and variables, and by value where the value is known. What is unchanged is returned as
 * the same object. Not seen: a secret that an agent prints in pieces, over several events.
 */
import { HoldfastError } from "./errors.ts";
import { DATA_MAX_DEPTH, KNOWN_SECRET_MIN_CHARS } from "./limits.ts";

export const MASK = "***";

/**
 * Shapes of secrets, each with what stays of it. A token begins where no other token goes on, which also keeps the search linear, or
 * after `\n` in the text of a JSON string.
 */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  // A private key: to its end line, or to the end of the text where that is missing.
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g, MASK],
  [
    /(Authorization["']?\s{0,2}[:=]\s{0,2}["']?(?:Bearer |Basic |token )?)(?!(?:Bearer|Basic|token) )[^\s"',;]{6,}/gi,
    `$1${MASK}`,
  ],
  // Shorter words without a digit are prose: "bearer authentication".
  [/(Bearer\s{1,4})(?:(?=[a-z._~+/-]{0,40}\d)[\w.~+/-]{8,}|[\w.~+/-]{20,})={0,2}/gi, `$1${MASK}`],
  // JWT: three base64url parts, of which the first begins with {"
  [/(?:(?<![\w-])|(?<=\\[nrt]))eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g, MASK],
  // Anthropic, OpenAI, OpenRouter and their like; Stripe
  [/(?:(?<![\w-])|(?<=\\[nrt]))sk-(?:(?:ant|proj|or|svcacct)-[\w-]{8,}|[A-Za-z0-9][\w-]{18,})/g, MASK],
  [
    /(?:(?<![\w-])|(?<=\\[nrt]))(?:(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/]{16,})/g,
    MASK,
  ],
  // GitHub, GitLab, npm, Hugging Face
  [
    /(?:(?<![\w-])|(?<=\\[nrt]))(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{30,})/g,
    MASK,
  ],
  // AWS key ids; Google
  [/(?:(?<![\w-])|(?<=\\[nrt]))(?:(?:AKIA|ASIA)[A-Z0-9]{16}\b|AIza[\w-]{30,})/g, MASK],
  // Slack
  [/(?:(?<![\w-])|(?<=\\[nrt]))(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{8,}/g, MASK],
  // The password of a URL
  [/(:\/\/[^\s/:@"']{0,64}:)[^\s/@"']{1,256}(?=@)/g, `$1${MASK}`],
];

/** NAME=value and "name":"value"; a value that begins like an expression or a reference is none. */
const ASSIGNMENTS: readonly RegExp[] = [
  /(?<![A-Z0-9_])([A-Z][A-Z0-9_]{2,63})(\s{0,2}[=:]\s{0,2}["']?)[^\s"'$<>(){}@*,;]{6,}/g,
  /(?<=["'])([A-Za-z][\w-]{2,63})(["']\s{0,2}:\s{0,2}["'])[^"'\s$<>(){}@*]{6,}(?=["'])/g,
];

/**
 * The one look that most texts end with: for something without which nothing above can match. Each alternative begins with a
 * character that is rare in prose, with a look back at the word before it: so most characters are passed at once.
 */
const HINT =
  /(?<=sk|glpat|xox[abeoprs]|xapp)-|(?<=k)_(?:live|test)|(?<=whsec|gh[pousr]|_pat|npm|hf)_|A(?:KIA|SIA|Iza|UTH)|(?<=ey)J|[Bb](?:earer|EARER)|uthorization|UTHORIZATION|KEY|TOKEN|SECRET|P(?:ASS|WD)|CREDENTIAL|:\/\/|(?<=[Kk]ey|[Tt]oken|[Ss]ecrets?|[Pp]asswo?r?d|[Pp]assphrase|[Aa]uth|[Cc]ookie|[Cc]redentials?)["']/;

/** Short texts without a hint: names, ids and sentences of decoders come again with every event. */
const clean = new Set<string>();
const CLEAN_MAX = 1_024;
const CLEAN_TEXT_MAX_UNITS = 96;

const hasHint = (text: string): boolean => {
  if (text.length > CLEAN_TEXT_MAX_UNITS) return HINT.test(text);
  if (clean.has(text)) return false;
  if (HINT.test(text)) return true;
  if (clean.size === CLEAN_MAX) clean.clear();
  clean.add(text);
  return false;
};

/** Text with the shapes of secrets masked, and what stands after a secret's name. */
export const redactText = (text: string): string => {
  if (!hasHint(text)) return text;
  let masked = text;
  for (const [shape, kept] of SHAPES) masked = masked.replace(shape, kept);
  for (const assignment of ASSIGNMENTS) {
    masked = masked.replace(assignment, (all, name: string, between: string) =>
      isSecretName(name) ? `${name}${between}${MASK}` : all,
    );
  }
  return masked;
};

/** Words that say secret wherever they stand in a name, also as the end of one word (PGPASSWORD). */
const STRONG = /(?:secrets?|passwords?|passwd|passphrase|credentials?|apikey|authorization)$/;
/** Words that say it only as the last one. */
const WEAK = new Set(["key", "token", "auth", "pat", "cookie", "pwd"]);
/** What a name with a strong word tells when it ends so: where the secret is or what it is like, not the secret. */
const ABOUT = new Set([
  "file",
  "path",
  "dir",
  "url",
  "uri",
  "name",
  "type",
  "count",
  "length",
  "limit",
  "policy",
  "ref",
  "required",
  "expires",
]);
/** Keys that are no secrets. */
const OPEN_KEYS = new Set([
  "public",
  "cache",
  "idempotency",
  "primary",
  "foreign",
  "sort",
  "partition",
  "object",
  "row",
  "map",
  "hot",
]);

const NAME_HINT = /key|token|secret|pass|auth|cred|cookie|pat|pwd/i;

/** Names that were looked at: those of fields come again with every event. */
const looked = new Map<string, boolean>();
const LOOKED_MAX = 1_024;
const LOOKED_NAME_MAX_UNITS = 64;

/** Whether a field, flag or variable of this name holds a secret: by its words, so that neither `author` nor `max_tokens` does. */
export const isSecretName = (name: string): boolean => {
  const known = looked.get(name);
  if (known !== undefined) return known;
  const secret = saysSecret(name);
  if (looked.size < LOOKED_MAX && name.length <= LOOKED_NAME_MAX_UNITS) looked.set(name, secret);
  return secret;
};

const saysSecret = (name: string): boolean => {
  if (!NAME_HINT.test(name)) return false;
  const words = wordsOf(name);
  const last = words.at(-1);
  if (last === undefined || ABOUT.has(last)) return false;
  if (words.some((word) => STRONG.test(word))) return true;
  if (!WEAK.has(last)) return false;
  const before = words.at(-2);
  if (last === "key" || last === "pwd") return before !== undefined && !OPEN_KEYS.has(before);
  return true;
};

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");

/** `--api-key VALUE` and `--token=VALUE`: what a command line says is a secret. */
export const secretArguments = (argv: readonly string[]): readonly string[] =>
  argv.flatMap((word, at) => {
    const [, flag, value = argv[at + 1]] = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(word) ?? [];
    return flag === undefined || value === undefined || value.startsWith("-") || !isSecretName(flag)
      ? []
      : [value];
  });

export interface Redactor {
  /**
   * A line of output before it is decoded: known values alone, of which nothing that is cut or remembered later keeps a part. A
   * secret that may be a word or a number of the agent's own protocol is left to the others.
   */
  readonly line: (line: string) => string;
  readonly text: (text: string) => string;
  /** JSON, deep: strings by shape, and all strings below a secret's name. Below DATA_MAX_DEPTH nothing is let through. */
  readonly value: <T>(value: T) => T;
  /** Variables for people to see: values of secret names masked; references (`@env:NAME`, `@file:PATH`) stay. */
  readonly env: (env: Readonly<Record<string, string>>) => Record<string, string>;
}

/**
 * A redactor that also masks these values wherever they stand, as they are or escaped (in JSON, in JSON inside JSON, in a URL), and
 * each long line of theirs. Values
 * shorter than KNOWN_SECRET_MIN_CHARS are not looked for: they would mask ordinary words.
 */
export const makeRedactor = (knownSecrets: readonly string[] = []): Redactor => {
  const known = knownPattern(knownSecrets);
  const unmistakable = knownPattern(knownSecrets.filter((secret) => !MAY_BE_PROTOCOL.test(secret)));
  const text = (input: string): string =>
    redactText(known === undefined ? input : input.replace(known, MASK));
  return {
    line: (line) => (unmistakable === undefined ? line : line.replace(unmistakable, MASK)),
    text,
    value: <T>(value: T): T => redactDeep(value, text, DATA_MAX_DEPTH) as T,
    env: (env) =>
      Object.fromEntries(
        Object.entries(env).map(([name, value]) => [
          name,
          isSecretName(name) && !isReference(value) ? MASK : text(value),
        ]),
      ),
  };
};

/** The same error without what may not be said; what caused it stays unsaid, too. */
export const redactError = (error: HoldfastError, redact: Redactor): HoldfastError => {
  const { cause: _, problems, suggestion, details, ...info } = error.info;
  return new HoldfastError(error.code, redact.text(error.message), {
    ...info,
    ...(problems === undefined ? {} : { problems: problems.map(redact.text) }),
    ...(suggestion === undefined ? {} : { suggestion: redact.text(suggestion) }),
    ...(details === undefined ? {} : { details: redact.value(details) }),
  });
};

/** What says where a secret is, and is none. */
export const isReference = (value: string): boolean =>
  value === "" || value.startsWith("@env:") || value.startsWith("@file:");

const MAY_BE_PROTOCOL = /^(?:[a-z_]+|[\d.]+)$/;

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
/** As encoders write it that keep to ASCII. */
const inAscii = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

const spellingsOf = (secret: string): readonly string[] => [
  secret,
  inJson(secret),
  inAscii(inJson(secret)),
  inJson(inJson(secret)),
  inJson(inAscii(inJson(secret))),
  encodeURIComponent(secret.toWellFormed()),
];

const knownPattern = (secrets: readonly string[]): RegExp | undefined => {
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
  return new RegExp(longestFirst.map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"), "g");
};

const redactDeep = (value: unknown, text: (text: string) => string, depth: number): unknown => {
  if (typeof value === "string") return text(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return MASK;
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (let index = 0; index < value.length; index++) {
      const masked = redactDeep(value[index], text, depth - 1);
      if (masked === value[index]) continue;
      copy ??= [...value];
      copy[index] = masked;
    }
    return copy ?? value;
  }
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    const masked = redactDeep(member, isSecretName(name) ? maskAll : text, depth - 1);
    if (masked === member) continue;
    copy ??= { ...value };
    copy[name] = masked;
  }
  return copy ?? value;
};

const maskAll = (text: string): string => (text === "" ? text : MASK);

const plain = makeRedactor();
export const redactValue = plain.value;
export const redactEnv = plain.env;
