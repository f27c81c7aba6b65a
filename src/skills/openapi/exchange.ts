/**
 * One request and its answer. Credentials go to the origin of the request, and to no other. A redirect to another origin is
 * followed only if the caller allows that origin, and takes nothing of the request along. A request is repeated only if its
 * method is idempotent, and the server says when.
 */
import { setTimeout } from "node:timers/promises";
import { HTTP_REDIRECTS_MAX, HTTP_RETRY_AFTER_MAX_S, HTTP_TRIES_MAX } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { Credentials } from "./auth.ts";

export interface HttpAsk {
  readonly method: string;
  /** Without credentials. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `name=value`, encoded. */
  readonly cookies: readonly string[];
  readonly body?: string | Uint8Array<ArrayBuffer> | FormData;
  readonly credentials: Credentials;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  /** The URL that answered, without credentials. */
  readonly url: string;
  readonly attempts: number;
}

export interface Exchange {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** For each try. */
  readonly timeout_ms: number;
  /** The bytes of an answer. */
  readonly max_bytes: number;
  /** Origins to which a redirect or a link may lead, besides that of the request. */
  readonly allowed_origins: readonly string[];
  /** Masks the secrets of the request in a text that is told. */
  readonly mask: (text: string) => string;
}

const IDEMPOTENT: ReadonlySet<string> = new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** `https://host/path`: a query may hold what nobody should see. */
export const placeOf = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
};

/** Any answer of the server, whatever its status. Fails where there is none, or where it breaks a bound. */
export const exchanged = async (ask: HttpAsk, by: Exchange): Promise<HttpAnswer> => {
  for (let attempts = 1; ; attempts += 1) {
    const answer = await followed(ask, by);
    const wait_s = retryAfter(answer);
    const mayRepeat = IDEMPOTENT.has(ask.method) && attempts < HTTP_TRIES_MAX;
    if (!mayRepeat || wait_s === undefined || wait_s > HTTP_RETRY_AFTER_MAX_S) return { ...answer, attempts };
    try {
      await setTimeout(wait_s * 1_000, undefined, { signal: by.signal });
    } catch (cause) {
      throw transportError(cause, ask.url, by);
    }
  }
};

/** Seconds after which the server takes the request again; undefined if it does not say so. */
export const retryAfter = ({
  status,
  headers,
}: Pick<HttpAnswer, "status" | "headers">): number | undefined => {
  const text = headers["retry-after"];
  if ((status !== 429 && status !== 503) || text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1_000);
};

type SingleAnswer = Omit<HttpAnswer, "attempts">;

const followed = async (first: HttpAsk, by: Exchange): Promise<SingleAnswer> => {
  let ask = first;
  for (let redirects = 0; ; redirects += 1) {
    const answer = await once(ask, by);
    const { location } = answer.headers;
    if (!REDIRECTS.has(answer.status) || location === undefined) return answer;
    if (redirects === HTTP_REDIRECTS_MAX)
      throw new HoldfastError(
        "HTTP_SERVER_ERROR",
        `${placeOf(first.url)} redirects more than ${redirects} times.`,
        {
          details: { status_code: answer.status },
        },
      );
    ask = redirected(ask, answer.status, location, by);
  }
};

const redirected = (ask: HttpAsk, status: number, location: string, by: Exchange): HttpAsk => {
  const url = URL.parse(location, ask.url);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new HoldfastError("HTTP_SERVER_ERROR", `${placeOf(ask.url)} redirects to what is no URL of HTTP.`, {
      details: { status_code: status },
    });
  const next = elsewhere({ ...ask, url: url.href }, ask.url, by);
  const becomesGet = status === 303 || (ask.method === "POST" && (status === 301 || status === 302));
  const keepsBody = !becomesGet && ask.body !== undefined;
  if (keepsBody && next.url !== ask.url && new URL(next.url).origin !== new URL(ask.url).origin)
    throw otherOrigin(ask.url, next.url);
  if (!becomesGet) return next;
  const { body: _, ...rest } = next;
  const { "content-type": __, ...headers } = rest.headers;
  return { ...rest, headers, method: ask.method === "HEAD" ? "HEAD" : "GET" };
};

/** The request at a URL to which an answer leads. Fails with POLICY_VIOLATION at an origin that nobody has allowed. */
export const elsewhere = (ask: HttpAsk, from: string, { allowed_origins }: Exchange): HttpAsk => {
  const { origin, username, password } = new URL(ask.url);
  if (username !== "" || password !== "") throw otherOrigin(from, ask.url);
  if (origin === new URL(from).origin) return ask;
  if (!allowed_origins.some((allowed) => URL.parse(allowed)?.origin === origin))
    throw otherOrigin(from, ask.url);
  const { accept } = ask.headers;
  return {
    ...ask,
    headers: accept === undefined ? {} : { accept },
    cookies: [],
    credentials: { placed: [], secrets: ask.credentials.secrets },
  };
};

const otherOrigin = (from: string, to: string): HoldfastError =>
  new HoldfastError("POLICY_VIOLATION", `${placeOf(from)} leads to another origin, ${new URL(to).origin}.`, {
    suggestion: "If you trust it, name this origin in allowed_origins: it is asked without credentials.",
    details: { rule: "other_origin", origin: new URL(to).origin },
  });

const once = async (ask: HttpAsk, by: Exchange): Promise<SingleAnswer> => {
  const timeout = AbortSignal.timeout(by.timeout_ms);
  const { url, headers } = withCredentials(ask);
  try {
    const response = await by.fetch(url, {
      method: ask.method,
      headers,
      redirect: "manual",
      signal: AbortSignal.any([by.signal, timeout]),
      ...(ask.body !== undefined && { body: ask.body }),
    });
    const bytes = await bytesOf(response, by.max_bytes, ask.url);
    return { status: response.status, headers: Object.fromEntries(response.headers), bytes, url: ask.url };
  } catch (cause) {
    throw transportError(cause, ask.url, by, timeout);
  }
};

const withCredentials = (ask: HttpAsk): { readonly url: string; readonly headers: Headers } => {
  const url = new URL(ask.url);
  const headers = new Headers(ask.headers);
  const cookies = [...ask.cookies];
  for (const { in: place, name, value } of ask.credentials.placed) {
    if (place === "header") headers.set(name, value);
    else if (place === "query") url.searchParams.set(name, value);
    else cookies.push(`${name}=${encodeURIComponent(value)}`);
  }
  if (cookies.length > 0) headers.set("cookie", cookies.join("; "));
  return { url: url.href, headers };
};

const bytesOf = async (response: Response, max_bytes: number, url: string): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.byteLength;
    // To leave the loop ends the transfer.
    if (length > max_bytes)
      throw new HoldfastError(
        "OUTPUT_TOO_LARGE",
        `The answer of ${placeOf(url)} has more than ${max_bytes} bytes.`,
        {
          suggestion: "Ask for less, by a filter or by smaller pages.",
          details: { limit_bytes: max_bytes, status_code: response.status },
        },
      );
    parts.push(part);
  }
  return Buffer.concat(parts);
};

/** The words of the network name hosts and ports, and no part of a request. */
const transportError = (
  cause: unknown,
  url: string,
  { signal, timeout_ms }: Exchange,
  timeout?: AbortSignal,
): HoldfastError => {
  if (cause instanceof HoldfastError) return cause;
  if (signal.aborted)
    return signal.reason instanceof HoldfastError
      ? signal.reason
      : new HoldfastError("CANCELLED", "The request was stopped before its end.");
  if (timeout?.aborted === true)
    return new HoldfastError("TIMEOUT", `${placeOf(url)} did not answer within ${timeout_ms / 1_000} s.`, {
      suggestion: "Give more time with timeout_ms, or ask for less.",
    });
  const inner = (cause as { readonly cause?: unknown }).cause;
  if (inner instanceof HoldfastError) return inner;
  const code = (inner as NodeJS.ErrnoException | undefined)?.code;
  return new HoldfastError(
    "UNAVAILABLE",
    `${placeOf(url)} cannot be reached${code === undefined ? "" : `: ${code}`}.`,
    {
      details: code === undefined ? {} : { errno: code },
    },
  );
};
