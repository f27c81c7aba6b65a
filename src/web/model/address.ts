/** The fragment of the URL: a page with its filters, so that a view can be kept and sent on; or a token to log in with. Pure. */

const PAGES = ["waiting", "runs", "worker", "search", "cost", "health", "board", "jobs"] as const;
export type PageName = (typeof PAGES)[number];

export interface PageAddress {
  readonly page: PageName;
  /** The worker of the page `worker`; empty on others. */
  readonly id: string;
  /** Filters and the like; none of them is empty. */
  readonly filters: Readonly<Record<string, string>>;
}

const isPage = (name: string): name is PageName => (PAGES as readonly string[]).includes(name);

/** Text that a fragment should have escaped stays as it is. */
const unescaped = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** An address that is none is that of the first page. */
export const addressOf = (fragment: string): PageAddress => {
  const [path = "", query = ""] = fragment.replace(/^#?\/?/, "").split("?", 2);
  const [name = "", ...rest] = path.split("/");
  const page = isPage(name) ? name : "waiting";
  const given = [...new URLSearchParams(query)].filter(([, value]) => value !== "");
  return { page, id: unescaped(rest.join("/")), filters: Object.fromEntries(given) };
};

export const linkTo = (page: PageName, id = "", filters: Readonly<Record<string, string>> = {}): string => {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== "")).toString();
  const path = id === "" ? page : `${page}/${encodeURIComponent(id)}`;
  return `#/${path}${query === "" ? "" : `?${query}`}`;
};

/** The path of a host's pages, where several hosts are served. */
export const pathOfHost = (host: string): string => `/hosts/${encodeURIComponent(host)}/`;

/** The host whose pages are at this path; undefined for a daemon's own, and for that of all hosts. */
export const hostOfPath = (path: string): string | undefined => {
  const name = /^\/hosts\/([^/]+)\/$/.exec(path)?.[1];
  return name === undefined ? undefined : unescaped(name);
};

/** The secret of `#token=SECRET`. A fragment is not sent to any server. */
export const tokenOf = (fragment: string): string | undefined =>
  /^#token=([\x21-\x7e]{1,256})$/.exec(fragment)?.[1];
