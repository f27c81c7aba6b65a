/** Environment variables: those by which our processes are recognised, and those of a client that may reach its daemon. */

/** Marks a daemon in the foreground that has re-executed itself to close the files of its shell. */
export const BEGUN_ANEW_VARIABLE = "HOLDFAST_BEGUN_ANEW";

/** The address at which a daemon serves HTTP, `[HOST:]PORT`: the flag --http of the command that starts it. */
export const HTTP_VARIABLE = "HOLDFAST_HTTP";

/** Variables that every program needs: exact names, or patterns as `isVariable` reads them. */
export const BASE_VARIABLES: readonly string[] = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LC_*",
  "TZ",
  "TMPDIR",
  "XDG_*",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "all_proxy",
  "no_proxy",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
];

/** Variables that every client sends: BASE_VARIABLES, and common names of keys. The facts of each kind name the others. */
const CLIENT_VARIABLES: readonly string[] = [
  ...BASE_VARIABLES,
  "*_API_KEY",
  "*_AUTH_TOKEN",
  "*_BASE_URL",
  "*_BINARY",
];

/** A name, or a pattern that begins or ends in `*`. */
export const isVariable = (pattern: string, name: string): boolean =>
  pattern.startsWith("*")
    ? name.endsWith(pattern.slice(1))
    : pattern.endsWith("*")
      ? name.startsWith(pattern.slice(0, -1))
      : name === pattern;

/** The variables of a client that its daemon may need, and those in `named` (names or patterns): never the whole environment. */
export const clientEnvironment = (
  env: Readonly<Record<string, string | undefined>>,
  named: readonly string[],
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        (named.some((pattern) => isVariable(pattern, entry[0])) ||
          CLIENT_VARIABLES.some((pattern) => isVariable(pattern, entry[0]))),
    ),
  );

/** Names that a shell passes on to its child; a shell drops variables with other names. */
export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The client's variables to which values of `env` refer: `@env:NAME`. */
export const referencedVariables = (env: Readonly<Record<string, string>>): readonly string[] =>
  Object.values(env).flatMap((value) => (value.startsWith("@env:") ? [value.slice("@env:".length)] : []));
