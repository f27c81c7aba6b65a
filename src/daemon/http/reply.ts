/**
 * One request of the control plane over HTTP. The answer is the Protocol v1 envelope of the socket: one JSON object, or,
 * for a request that streams, a line of JSON for each envelope. The status comes from the error catalogue.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Effect, type Fiber } from "effect";
import type { Defects } from "../../actors/defects.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { failure, type Outcome } from "../../protocol/outcome.ts";
import type { RequestName } from "../../protocol/requests.ts";
import { cancelledByClient, outcomeOf } from "../answers.ts";
import { type EmittedRequest, Emitter, inEnvelopes } from "../emitter.ts";
import type { Emit, HandlerServices, RequestHandler } from "../handlers/handler.ts";
import { HANDLERS } from "../handlers/index.ts";
import { Outbox, terminalLine } from "../outbox.ts";
import type { CommandRequest } from "../request.ts";
import type { StartFiber } from "../requests-in-flight.ts";
import type { RequestLane, Turns } from "../turns.ts";
import { HEADERS } from "./headers.ts";
import { ResponseSink } from "./response-sink.ts";
import type { TurnsEnd } from "./turns-end.ts";

/** The services of every answer. */
export interface AnswerGround {
  readonly services: Omit<HandlerServices, "caller">;
  readonly run: StartFiber;
  readonly defects: Defects;
  readonly turns: Turns;
}

const lanes = new WeakMap<Socket, RequestLane>();

/** The lane of a connection, so that one client with many connections delays another only by what these ask for. */
export const laneOf = (turns: Turns, socket: Socket): RequestLane => {
  const known = lanes.get(socket) ?? turns.lane();
  lanes.set(socket, known);
  return known;
};

const JSON_TYPE = "application/json";
/** The outbox of a response has one request. */
export const ONLY = "only";
/** Lines of JSON. */
const LINES_TYPE = "application/x-ndjson";

export class HttpReply {
  private readonly ground: AnswerGround;
  private readonly response: ServerResponse;
  private readonly request: Omit<EmittedRequest, "id">;
  private readonly answers: TurnsEnd;
  /** Only an answer that streams has one. */
  private sink: ResponseSink | undefined;
  private fiber: Fiber.Fiber<Outcome<object>, HoldfastError> | undefined;
  private lifetime: RequestHandler<RequestName>["lifetime"] = "read";
  private cancelled: HoldfastError | undefined;
  private isOver = false;
  /** Further headers of the answer, names and values in turns. */
  private more: readonly string[] = [];

  constructor(
    ground: AnswerGround,
    response: ServerResponse,
    request: Omit<EmittedRequest, "id">,
    answers: TurnsEnd,
  ) {
    this.ground = ground;
    this.answers = answers;
    this.response = response;
    this.request = request;
  }

  start({ name, data }: CommandRequest, caller: Caller): void {
    // The name determines both handler and data, which the table's type cannot express.
    const handler = HANDLERS[name] as RequestHandler<RequestName>;
    this.lifetime = handler.lifetime;
    laneOf(this.ground.turns, this.response.req.socket).add(() => this.begin(handler, data as never, caller));
  }

  /** Answers without a handler. */
  refuse(error: HoldfastError, status: number, more: readonly string[]): void {
    this.more = more;
    const { head, startedAt } = this.request;
    const outcome = failure(error);
    this.end(outcome, terminalLine(this.ground.defects, head, outcome, startedAt), status);
  }

  /** Ends a request that may never end by itself. */
  endOpen(reason: HoldfastError): void {
    if (this.lifetime === "open") this.interrupt(reason);
  }

  /** A command goes on when its client is gone. */
  closed(): void {
    this.sink?.closed();
    if (this.isOver) return;
    this.isOver = true;
    if (this.lifetime !== "command") this.interrupt(cancelledByClient());
  }

  private begin(handler: RequestHandler<RequestName>, data: never, caller: Caller): void {
    if (this.isOver) return;
    const { services, run, defects } = this.ground;
    const { head, startedAt, inlineMax } = this.request;
    let emitter: Emitter | undefined;
    const emit: Emit = (records, meta) => {
      emitter ??= this.emitter();
      return emitter.emit(records, meta);
    };
    const means = { ...services, caller: () => caller };
    this.fiber = run(Effect.suspend(() => handler.run(means, data, emit, inlineMax)));
    this.fiber.addObserver((exit) => {
      const outcome = outcomeOf(exit, defects, { head, cancelled: this.cancelled });
      const line = terminalLine(defects, head, outcome, startedAt);
      const bounded = services.artifactize.outcome(outcome, inlineMax, line);
      if (bounded === outcome) this.end(outcome, line);
      else
        void Promise.resolve(bounded).then((moved) =>
          this.end(moved, terminalLine(defects, head, moved, startedAt)),
        );
    });
  }

  /** Begins an answer of many lines. */
  private emitter(): Emitter {
    const { request, response } = this;
    const { services, defects } = this.ground;
    response.writeHead(200, [...HEADERS, "content-type", LINES_TYPE]);
    const sink = new ResponseSink(response, () => outbox.drained());
    const outbox = new Outbox(sink, defects);
    this.sink = sink;
    return new Emitter({
      request: { id: ONLY, inlineMax: request.inlineMax },
      framing: inEnvelopes(request),
      artifactize: services.artifactize,
      outbox,
      isOpen: () => !this.isOver,
    });
  }

  private end(
    outcome: Outcome<object>,
    line: string,
    status = outcome.ok ? 200 : outcome.error.row.http,
  ): void {
    if (this.isOver) return;
    this.isOver = true;
    const { response } = this;
    if (response.headersSent) {
      response.end(line);
      return;
    }
    const wait = outcome.ok ? undefined : outcome.error.info.retry_after_s;
    const length = Buffer.byteLength(line);
    const headers = [...HEADERS, "content-type", JSON_TYPE, "content-length", String(length)];
    if (status === 401) headers.push("www-authenticate", "Bearer");
    if (wait !== undefined) headers.push("retry-after", String(Math.ceil(wait)));
    // Text of ASCII alone is copied; any other is encoded.
    const encoding = length === line.length ? "latin1" : "utf8";
    this.answers.add(() => response.writeHead(status, [...headers, ...this.more]).end(line, encoding));
  }

  private interrupt(reason: HoldfastError): void {
    this.cancelled ??= reason;
    this.fiber?.interruptUnsafe();
  }
}
