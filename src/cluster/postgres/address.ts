/** How a node connects to Postgres, by the URL that a person gave. Pure. */

const HERE = new Set(["", "localhost", "127.0.0.1", "[::1]"]);

/** To another machine only by TLS, and only to the server that its certificate names, unless the URL has an `sslmode` of its own. */
export const connectionUrl = (url: string): string => {
  const parsed = new URL(url);
  const isElsewhere = !HERE.has(parsed.hostname) && !parsed.searchParams.has("host");
  if (isElsewhere && !parsed.searchParams.has("sslmode")) parsed.searchParams.set("sslmode", "verify-full");
  return parsed.href;
};
