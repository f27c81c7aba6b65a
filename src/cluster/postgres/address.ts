/** How a node connects to Postgres, by the URL that a person gave. Pure. */

const HERE = new Set(["", "localhost", "127.0.0.1", "::1", "[::1]"]);
/** A directory with a socket; in the place of a host its slash is encoded. */
const SOCKET = /^(\/|%2f)/i;

/** `pg` takes these for `verify-full`, and warns in six lines that a later one will not. */
const STRICT = new Set(["prefer", "require", "verify-ca"]);

/**
 * To another machine only by TLS, and only to the server that its certificate names, unless the URL has an `sslmode` of its own.
 * `usual`: the host of a URL without one (`pg` takes PGHOST); empty for this machine.
 */
export const connectionUrl = (url: string, usual = ""): string => {
  const parsed = new URL(url);
  // As `pg` reads them: the last one counts, an empty one is none, and a parameter comes before the host of the authority.
  const last = (name: string): string => parsed.searchParams.getAll(name).at(-1) ?? "";
  const host = last("host") || parsed.hostname || usual;
  const isHere = HERE.has(host) || SOCKET.test(host);
  const mode = last("sslmode");
  const isStrict = mode === "" ? !isHere : STRICT.has(mode) && last("uselibpqcompat") !== "true";
  if (isStrict) parsed.searchParams.set("sslmode", "verify-full");
  return parsed.href;
};
