/**
 * A login: a named token, and the requests that it makes. The token is kept in the tab's session storage and sent in a header:
 * a cookie would go to every other server on this host, whatever its port (docs/decisions/0058-dashboard.md).
 */
import { REPLY_MAX_BYTES } from "../../base/limits.ts";
import type { HelloReply, Replies } from "../../daemon/replies.ts";
import type { RequestInput, RequestName } from "../../protocol/requests.ts";
import { pathOfHost } from "../model/address.ts";
import { harmless } from "../model/harmless.ts";

const KEPT_AS = "holdfast.token";
const UNAUTHORISED = 401;

export class RequestFailure extends Error {
  readonly status: number;
  /** The code of the error catalogue; empty if the daemon was not reached. */
  readonly code: string;
  /** The next step, if there is one. */
  readonly suggestion: string;

  constructor(message: string, { status = 0, code = "", suggestion = "" } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.suggestion = suggestion;
  }
}

interface Envelope {
  /** The reply; of a failure, the next step in `hint`. */
  readonly data?: unknown;
  readonly error?: {
    readonly message?: string | null;
    readonly details?: { readonly code?: string } | null;
  } | null;
}

/** The failure in an answer that is none of success. */
const failureOf = async (response: Response): Promise<RequestFailure> => {
  const { error, data } = (await response
    .text()
    .then(harmless)
    .catch(() => ({}))) as Envelope;
  const { hint: suggestion } = (data ?? {}) as { readonly hint?: string };
  const { code } = error?.details ?? {};
  const message = error?.message ?? `The daemon answered with status ${response.status}.`;
  return new RequestFailure(message, { status: response.status, code, suggestion });
};

export const asFailure = (cause: unknown): RequestFailure =>
  cause instanceof RequestFailure ? cause : new RequestFailure(String(cause));

export const isUnauthorised = (cause: unknown): boolean =>
  cause instanceof RequestFailure && cause.status === UNAUTHORISED;

/** The server of several hosts names them at its root; a daemon names none. */
type Hello = HelloReply & { readonly hosts?: readonly string[] };

export class Login {
  readonly secret: string;
  /** The host that it is for, where several are served. */
  readonly host: string | undefined;
  private readonly onRefused: () => void;
  private commands: ReadonlySet<string> = new Set();
  hello: Hello | undefined;

  constructor(secret: string, onRefused: () => void, host?: string) {
    this.secret = secret;
    this.onRefused = onRefused;
    this.host = host;
  }

  /** Rejects if the token opens nothing. */
  async open(): Promise<void> {
    this.hello = await this.ask("protocol/hello", {});
    this.commands = new Set(this.hello.commands);
    sessionStorage.setItem(KEPT_AS, this.secret);
  }

  /** Whether this daemon takes such a request of this token. */
  can(name: RequestName): boolean {
    return this.commands.has(name);
  }

  async ask<N extends RequestName>(
    name: N,
    data: RequestInput<N>,
    signal?: AbortSignal,
  ): Promise<Replies[N]> {
    const headers = { "content-type": "application/json", "x-inline-max-bytes": String(REPLY_MAX_BYTES) };
    const response = await this.fetch(`/api/${name}`, {
      method: "POST",
      headers,
      body: JSON.stringify(data),
      signal,
    });
    const { data: reply } = harmless(await response.text()) as Envelope;
    return reply as Replies[N];
  }

  /** Rejects with a RequestFailure if the answer is no success. */
  async fetch(path: string, { headers, signal, ...init }: SessionRequest = {}): Promise<Response> {
    const authorised = { ...headers, authorization: `Bearer ${this.secret}` };
    const place = this.host === undefined ? "" : pathOfHost(this.host).slice(0, -1);
    const response = await fetch(place + path, {
      ...init,
      headers: authorised,
      signal: signal ?? null,
      cache: "no-store",
    }).catch((cause: unknown) => {
      if (signal?.aborted === true) throw cause;
      throw new RequestFailure("The daemon does not answer.", { suggestion: "agent daemon status" });
    });
    if (response.ok) return response;
    const failure = await failureOf(response);
    if (isUnauthorised(failure)) this.refuse();
    throw failure;
  }

  /** Forgets the token. */
  close(): void {
    sessionStorage.removeItem(KEPT_AS);
  }

  /** The token opens nothing any more. */
  readonly refuse = (): void => {
    this.close();
    this.onRefused();
  };
}

interface SessionRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
}

export const keptSecret = (): string | undefined => sessionStorage.getItem(KEPT_AS) ?? undefined;
