/**
 * The HTTP interface of the dashboard over hosts: that of each host below `/hosts/NAME`, as its daemon would serve it to a
 * browser, and at the root one request that names the hosts. A client serves it, and asks the hosts by its own links.
 */
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { authorityOf, type HttpAddress } from "../../base/http-address.ts";
import {
  API_COMMENT_MS,
  API_HEAD_MAX_BYTES,
  API_HEAD_MAX_MS,
  API_KEEP_ALIVE_MS,
  API_REQUEST_MAX_MS,
  DASHBOARD_CONNECTIONS_MAX,
} from "../../base/limits.ts";
import { SSE_COMMENT, SSE_RETRY, SSE_TYPE, sseEnd, sseEvent } from "../../base/server-sent-events.ts";
import { type EnvelopeHead, encodeTerminal } from "../../protocol/envelope-v1.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { failure, type Outcome, success } from "../../protocol/outcome.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { RequestInput, RequestName } from "../../protocol/requests.ts";
import { tokenDigest } from "../../protocol/token.ts";
import { timeSince } from "../answers.ts";
import { type CommandRequest, UNREADABLE } from "../request.ts";
import { eventsAsked, parametersOf, requestAsked } from "./asked.ts";
import { dataOfBody, leaveBody } from "./body.ts";
import { bearerOf, refusalOf } from "./doors.ts";
import { HEADERS } from "./headers.ts";
import { type PageFiles, readPages, sendPage } from "./pages.ts";
import { dataOfQuery } from "./query.ts";
import { ResponseSink } from "./response-sink.ts";
import { routeOf } from "./routes.ts";

/** The link to one host. */
export interface HostAsker {
  readonly name: string;
  /** An abort of `signal` cancels the request; a command goes on. */
  ask<N extends RequestName>(name: N, data: RequestInput<N>, signal: AbortSignal): Promise<Outcome<object>>;
  /** Hands over each record with the cursor behind it, until the watch ends or `signal` is aborted. */
  watch(data: RequestInput<"agent/watch">, taker: RecordTaker, signal: AbortSignal): Promise<Outcome<object>>;
}

export interface RecordTaker {
  /** The host answers, and records follow. */
  begin(): void;
  take(record: LogRecord, cursor: string): void | Promise<void>;
}

interface HostsGround {
  readonly hosts: readonly HostAsker[];
  /** Opens everything here. */
  readonly secret: string;
  readonly version: string;
}

/** No other machine gets in: whoever does acts with all rights of the client's user on each of the hosts. */
const LOOPBACK = "127.0.0.1";

/** Listens at a free port. The address has the secret in its fragment, which a browser sends to nobody. */
export const serveHosts = async (ground: HostsGround) => {
  const bound = { host: LOOPBACK, port: 0 };
  const api = new HostsApi(ground, bound);
  const server = createServer(
    {
      maxHeaderSize: API_HEAD_MAX_BYTES,
      headersTimeout: API_HEAD_MAX_MS,
      requestTimeout: API_REQUEST_MAX_MS,
      keepAliveTimeout: API_KEEP_ALIVE_MS,
    },
    (request, response) => void api.serve(request, response),
  );
  server.maxConnections = DASHBOARD_CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    // One that comes later, such as too many open files, ends no other connection.
    server.on("error", reject);
    server.listen(bound, resolve);
  });
  bound.port = (server.address() as AddressInfo).port;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { address: `http://${authorityOf(bound)}/#token=${ground.secret}`, close };
};

/** One request to one host, or to the root. */
interface HostsCall {
  readonly host: HostAsker | undefined;
  /** As the daemon of the host would know it. */
  readonly path: string;
  readonly query: string;
}

const ROOT_HELLO = "/api/protocol/hello";

class HostsApi {
  private readonly ground: HostsGround;
  private readonly address: HttpAddress;
  /** By their names as a path has them. */
  private readonly hosts: ReadonlyMap<string, HostAsker>;
  private readonly pages: PageFiles = readPages(fileURLToPath(new URL("web/", import.meta.url)));
  private readonly digest: Buffer;

  constructor(ground: HostsGround, address: HttpAddress) {
    this.ground = ground;
    this.address = address;
    this.hosts = new Map(ground.hosts.map((host) => [encodeURIComponent(host.name), host]));
    this.digest = Buffer.from(tokenDigest(ground.secret));
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = performance.now();
    try {
      await this.routed(request, response, startedAt);
    } catch (cause) {
      const error = asHoldfastError(cause);
      answer(response, UNREADABLE, failure(error), { startedAt, more: leaveBody(request) });
    }
  }

  private async routed(request: IncomingMessage, response: ServerResponse, startedAt: number): Promise<void> {
    const { method = "", url = "", headers } = request;
    const wrong = refusalOf({ method, url, headers }, { address: this.address, hosts: [] });
    if (wrong !== undefined) throw wrong;
    const call = this.callOf(url);
    const page = method === "GET" || method === "HEAD" ? this.pages.get(call.path) : undefined;
    if (page !== undefined) return sendPage(headers, response, page);
    const secret = bearerOf(headers);
    if (secret === undefined || !this.opens(secret)) throw closed();
    if (call.host === undefined) return this.atRoot(call.path, response, startedAt);
    await this.atHost(call.host, call, { request, response, startedAt });
  }

  private callOf(url: string): HostsCall {
    const [path = "", query = ""] = url.split("?", 2);
    const [, name, rest] = /^\/hosts\/([^/]+)(\/.*)$/.exec(path) ?? [];
    const host = name === undefined ? undefined : this.hosts.get(name);
    return host === undefined ? { host, path, query } : { host, path: rest as string, query };
  }

  private opens(secret: string): boolean {
    return timingSafeEqual(Buffer.from(tokenDigest(secret)), this.digest);
  }

  private atRoot(path: string, response: ServerResponse, startedAt: number): void {
    if (path !== ROOT_HELLO) throw nothingThere("Ask for /hosts/NAME/api/…");
    const hosts = this.ground.hosts.map(({ name }) => name);
    const { version } = this.ground;
    const hello = { version: 1, profiles: [], commands: [], limits: {}, daemon: { version }, hosts };
    answer(response, { command: "protocol/hello", profiles: [] }, success(hello), { startedAt });
  }

  private async atHost(host: HostAsker, { path, query }: HostsCall, exchange: HostsExchange): Promise<void> {
    const { request, response, startedAt } = exchange;
    const route = routeOf(request.method ?? "", path);
    if (route.to === "nothing") throw route.error;
    if (route.to === "events") {
      const checked = eventsAsked(parametersOf(query), request.headers["last-event-id"]);
      if ("error" in checked) throw checked.error;
      return follow(host, checked.request.data as never, exchange);
    }
    if (route.to !== "request") throw nothingThere("That is not served here; ask the daemon of the host.");
    if (STREAMED.test(route.name)) throw nothingThere("Records are streamed at /hosts/NAME/api/events.");
    const data =
      route.from === "query" ? dataOfQuery(route.name, parametersOf(query)) : await dataOfBody(request);
    if (data === undefined) return;
    const checked = requestAsked(route.name, data, request.headers);
    if ("error" in checked) return answer(response, checked.head, failure(checked.error), { startedAt });
    const { name, data: asked } = checked.request as CommandRequest;
    const outcome = await host.ask(name, asked as never, goneSignal(response));
    answer(response, checked.head, outcome, { startedAt });
  }
}

interface HostsExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** By `performance.now()`. */
  readonly startedAt: number;
}

/** Requests that are answered by records. */
const STREAMED = /\/(?:watch|tail)$/;

const closed = (): HoldfastError =>
  new HoldfastError("NOT_AUTHORISED", "The secret of this dashboard is another one.", {
    suggestion: "Open the address that its command has printed: each run of the command has another secret.",
    phase: "validation",
  });

const nothingThere = (suggestion: string): HoldfastError =>
  new HoldfastError("UNKNOWN_COMMAND", "There is nothing at this path.", { suggestion, phase: "validation" });

/** Is aborted when the browser goes away. */
const goneSignal = (response: ServerResponse): AbortSignal => {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  return gone.signal;
};

const answer = (
  response: ServerResponse,
  head: EnvelopeHead,
  outcome: Outcome<object>,
  { startedAt, more = [] }: { readonly startedAt: number; readonly more?: readonly string[] },
): void => {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const line = encodeTerminal(head, timeSince(startedAt), outcome);
  const length = String(Buffer.byteLength(line));
  const headers = [...HEADERS, "content-type", "application/json", "content-length", length, ...more];
  response.writeHead(outcome.ok ? 200 : outcome.error.row.http, headers).end(line);
};

/** Server-sent events, as the daemon's own: the id of each is the cursor behind its record. */
const follow = async (
  host: HostAsker,
  data: RequestInput<"agent/watch">,
  { response, startedAt }: HostsExchange,
): Promise<void> => {
  const gone = new AbortController();
  let goOn = (): void => undefined;
  const sink = new ResponseSink(response, () => goOn());
  response.once("close", () => {
    sink.closed();
    gone.abort();
    goOn();
  });
  // The browser may go away in the middle of a write; `close` follows.
  response.on("error", () => undefined);
  const write = (text: string): void => {
    if (sink.writable) sink.write(text);
  };
  let comments: NodeJS.Timeout | undefined;
  const taker: RecordTaker = {
    begin: () => {
      response.writeHead(200, [...HEADERS, "content-type", SSE_TYPE, "x-accel-buffering", "no"]);
      write(SSE_RETRY);
      comments = setInterval(() => sink.writableNeedDrain || write(SSE_COMMENT), API_COMMENT_MS);
    },
    take: (record, cursor) => {
      write(sseEvent(cursor, JSON.stringify(record)));
      if (!sink.writable || !sink.writableNeedDrain) return undefined;
      return new Promise((resolve) => {
        goOn = resolve;
      });
    },
  };
  const outcome = await host.watch(data, taker, gone.signal);
  clearInterval(comments);
  const error = outcome.ok ? undefined : outcome.error;
  if (response.headersSent) response.end(sseEnd(error));
  else answer(response, { command: "agent/watch", profiles: [] }, outcome, { startedAt });
};
