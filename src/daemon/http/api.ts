/**
 * The control plane over HTTP (docs/how-to/http.md): doors first, then the route. Every answer about a request of the
 * control plane is a Protocol v1 envelope.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Effect } from "effect";
import { Bag } from "../../base/bag.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { EnvelopeHead } from "../../protocol/envelope-v1.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import type { RequestData, RequestName } from "../../protocol/requests.ts";
import type { DaemonStatus } from "../replies.ts";
import { type CheckedRequest, type CommandRequest, UNREADABLE } from "../request.ts";
import { answerTokenIn, serveAnswer } from "./answer-page.ts";
import { eventsAsked, parametersOf, requestAsked } from "./asked.ts";
import { AskedBefore } from "./asked-before.ts";
import { dataOfBody, leaveBody } from "./body.ts";
import { bearerOf, type DoorRules, noToken, refusalOf } from "./doors.ts";
import { EventStream } from "./event-stream.ts";
import { HEADERS } from "./headers.ts";
import { METRICS_TYPE, metricsText } from "./metrics.ts";
import { type PageFiles, sendPage } from "./pages.ts";
import { dataOfQuery } from "./query.ts";
import type { makeRefusals } from "./refusals.ts";
import { type AnswerGround, HttpReply } from "./reply.ts";
import { routeOf } from "./routes.ts";
import { TurnsEnd } from "./turns-end.ts";

export interface HttpGround extends AnswerGround {
  /** The name of the living token with this secret. */
  readonly principalOf: (secret: string) => string | undefined;
  readonly status: Effect.Effect<DaemonStatus, HoldfastError>;
  readonly isHealthy: () => boolean;
  /** The OpenAPI document as JSON; undefined if this build has none. */
  readonly openapi: () => string | undefined;
  /** The bytes of an artifact. Rejects with ARTIFACT_NOT_FOUND. */
  readonly artifact: (digest: string) => Promise<Uint8Array>;
  /** The files of the dashboard. */
  readonly pages: () => PageFiles;
  readonly refused: ReturnType<typeof makeRefusals>;
}

const METHOD_NOT_ALLOWED = 405;
const ignored = (): void => undefined;

export class HttpApi {
  private readonly ground: HttpGround;
  private readonly rules: () => DoorRules;
  private readonly before = new AskedBefore();
  private readonly open = new Bag<HttpReply | EventStream>();
  private readonly answers = new TurnsEnd((cause) => this.ground.defects.tell("an answer over HTTP", cause));
  /** The answer to every new request while requests are refused. */
  refusal: HoldfastError | undefined;

  constructor(ground: HttpGround, rules: () => DoorRules) {
    this.ground = ground;
    this.rules = rules;
  }

  /** Ends requests that may never end by themselves. */
  endOpen(reason: HoldfastError): void {
    for (const one of this.open.now()) one.endOpen(reason);
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const startedAt = performance.now();
    const failed = (cause: unknown): void => this.failed(cause, request, response, startedAt);
    try {
      const { method = "", url = "", headers } = request;
      const wrong = refusalOf({ method, url, headers }, this.rules());
      if (wrong !== undefined) throw wrong;
      const again = this.before.of(request);
      if (again === undefined) this.routed(request, response, startedAt).catch(failed);
      else this.begin(response, again, this.admitted(headers), startedAt);
    } catch (cause) {
      failed(cause);
    }
  }

  private failed(
    cause: unknown,
    request: IncomingMessage,
    response: ServerResponse,
    startedAt: number,
  ): void {
    const error = asHoldfastError(cause);
    if (error.code === "INTERNAL") this.ground.defects.tell("an HTTP request", cause);
    const more = leaveBody(request);
    this.refuseOne(response, UNREADABLE, error, startedAt, error.row.http, more);
  }

  /** Answers a request that no handler gets. */
  private refuseOne(
    response: ServerResponse,
    of: EnvelopeHead,
    error: HoldfastError,
    startedAt: number,
    status = error.row.http,
    more: readonly string[] = [],
  ): void {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (error.info.details?.door !== undefined) this.ground.refused(error, response.req.socket.remoteAddress);
    this.answerTo(response, of, startedAt).refuse(error, status, more);
  }

  private answerTo(
    response: ServerResponse,
    of: EnvelopeHead,
    startedAt: number,
    inlineMax = this.ground.services.artifactize.inline_max_bytes,
  ): HttpReply {
    const one = new HttpReply(this.ground, response, { head: of, startedAt, inlineMax }, this.answers);
    return this.kept(one, response);
  }

  private kept<One extends HttpReply | EventStream>(one: One, response: ServerResponse): One {
    const place = this.open.add(one);
    response.once("close", () => {
      this.open.remove(place);
      one.closed();
    });
    // The client may go away in the middle of a write; `close` follows.
    response.on("error", ignored);
    return one;
  }

  private async routed(request: IncomingMessage, response: ServerResponse, startedAt: number): Promise<void> {
    const { method = "", url = "", headers } = request;
    const [path = "", query = ""] = url.split("?", 2);
    const page = method === "GET" || method === "HEAD" ? this.ground.pages().get(path) : undefined;
    if (page !== undefined) return sendPage(headers, response, page);
    const answerToken = answerTokenIn(path);
    if (answerToken !== undefined) {
      if (this.refusal !== undefined) throw this.refusal;
      return serveAnswer(this.ground.services.notifications, answerToken, response);
    }
    const route = routeOf(method, path);
    if (route.to === "health") return this.health(response);
    const caller = this.admitted(headers);
    switch (route.to) {
      case "nothing":
        if (route.allow === undefined) throw route.error;
        return this.refuseOne(response, UNREADABLE, route.error, startedAt, METHOD_NOT_ALLOWED, [
          "allow",
          route.allow,
        ]);
      case "openapi":
        return this.document(response);
      case "metrics":
        return this.metrics(response);
      case "artifact":
        return send(response, "application/octet-stream", await this.ground.artifact(route.digest));
      case "events":
        return this.events(response, parametersOf(query), headers["last-event-id"], startedAt);
      case "request": {
        const data =
          route.from === "query" ? dataOfQuery(route.name, parametersOf(query)) : await dataOfBody(request);
        if (data !== undefined) this.command(response, route.name, { data, request }, caller, startedAt);
      }
    }
  }

  /** Only a named token opens HTTP: the kernel does not tell who is at the other end of a TCP connection. */
  private admitted(headers: IncomingHttpHeaders): Caller {
    const secret = bearerOf(headers);
    const name = secret === undefined ? undefined : this.ground.principalOf(secret);
    if (name === undefined) throw noToken(secret);
    if (this.refusal !== undefined) throw this.refusal;
    return { type: "user", name };
  }

  private command(
    response: ServerResponse,
    name: RequestName,
    { data, request }: { readonly data: unknown; readonly request: IncomingMessage },
    caller: Caller,
    startedAt: number,
  ): void {
    const checked = requestAsked(name, data, request.headers);
    if ("error" in checked) {
      this.refuseOne(response, checked.head, checked.error, startedAt);
      return;
    }
    this.before.keep(request, checked);
    this.begin(response, checked, caller, startedAt);
  }

  private begin(response: ServerResponse, checked: CheckedRequest, caller: Caller, startedAt: number): void {
    const reply = this.answerTo(response, checked.head, startedAt, checked.inline_max_bytes);
    reply.start(checked.request as CommandRequest, caller);
  }

  private events(
    response: ServerResponse,
    query: URLSearchParams,
    last: string | string[] | undefined,
    startedAt: number,
  ): void {
    const checked = eventsAsked(query, last);
    if ("error" in checked) {
      this.refuseOne(response, checked.head, checked.error, startedAt);
      return;
    }
    const { artifactize } = this.ground.services;
    const request = { head: checked.head, startedAt, inlineMax: artifactize.inline_max_bytes };
    this.kept(new EventStream(this.ground, response, request), response).start(
      checked.request.data as RequestData<"agent/watch">,
      (error) => this.refuseOne(response, checked.head, error, startedAt),
    );
  }

  /** Says no more than whether the supervisor works: it needs no token. */
  private health(response: ServerResponse): void {
    const isWell = this.ground.isHealthy() && this.refusal === undefined;
    send(
      response,
      "application/json",
      `${JSON.stringify({ status: isWell ? "ok" : "unhealthy" })}\n`,
      isWell ? 200 : 503,
    );
  }

  private document(response: ServerResponse): void {
    const text = this.ground.openapi();
    if (text === undefined) throw new HoldfastError("UNAVAILABLE", "This build has no OpenAPI document.");
    send(response, "application/json", text);
  }

  private async metrics(response: ServerResponse): Promise<void> {
    send(response, METRICS_TYPE, metricsText(await Effect.runPromise(this.ground.status)));
  }
}

const send = (response: ServerResponse, type: string, body: string | Uint8Array, status = 200): void => {
  const length = String(Buffer.byteLength(body));
  response.writeHead(status, [...HEADERS, "content-type", type, "content-length", length]).end(body);
};
