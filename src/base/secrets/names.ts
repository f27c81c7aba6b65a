/** Whether the name of a field, a flag or a variable says that it holds a secret: by its words, so that neither `author` nor `max_tokens` does. */

/** Words that say secret wherever they stand in a name, also as the end of one word (PGPASSWORD). */
const STRONG = /(?:secrets?|passwords?|passwd|passphrase|credentials?|apikey|authorization)$/;
/** Words that say it only as the last one. */
const WEAK = new Set(["key", "token", "auth", "pat", "cookie", "pwd"]);
/** Endings after which a name with a strong word tells something else: where the secret is or what it is like, not the secret. */
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

/** Names that were looked at: those of fields come again with every event. */
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

/** `--api-key VALUE` and `--token=VALUE`: what a command line says is a secret. */
export const secretArguments = (argv: readonly string[]): readonly string[] =>
  argv.flatMap((word, at) => {
    const [, flag, value = argv[at + 1]] = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(word) ?? [];
    return flag === undefined || value === undefined || value.startsWith("-") || !isSecretName(flag)
      ? []
      : [value];
  });

/** A name that says where a secret is, and is none. */
export const isReference = (value: string): boolean =>
  value === "" || value.startsWith("@env:") || value.startsWith("@file:");
