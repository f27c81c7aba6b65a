/** Decides by its words whether the name of a field, flag or variable names a secret; `author` and `max_tokens` do not. */

/** Words that mark a secret at any place in a name, also as the end of one word (PGPASSWORD). */
const STRONG = /(?:secrets?|passwords?|passwd|passphrase|credentials?|apikey|authorization)$/;
/** Words that mark a secret only as the last word. */
const WEAK = new Set(["key", "token", "auth", "pat", "cookie", "pwd"]);
/** With one of these endings, a name tells where a secret is or what it is like, and does not hold it. */
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
  "at",
  "ttl",
  "enabled",
  "version",
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

/** A cache of names, because the names of fields come again with every event. */
const looked = new Map<string, boolean>();
const LOOKED_MAX = 1_024;
const LOOKED_NAME_MAX_UNITS = 64;

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

/** Values of secret flags in a command line: `--api-key VALUE` and `--token=VALUE`. */
export const secretArguments = (argv: readonly string[]): readonly string[] =>
  argv.flatMap((word, at) => {
    const [, flag, value = argv[at + 1]] = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(word) ?? [];
    return flag === undefined || value === undefined || value.startsWith("-") || !isSecretName(flag)
      ? []
      : [value];
  });

/** A reference to the place of a secret. */
export const isReference = (value: string): boolean =>
  value === "" || value.startsWith("@env:") || value.startsWith("@file:");
