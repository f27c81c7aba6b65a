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
import { newId } from "../../protocol/ids.ts";
import { failure, type Outcome } from "../../protocol/outcome.ts";
import type { RequestName } from "../../protocol/requests.ts";
import { cancelledByClient, outcomeOf } from "../answers.ts";
import { type EmittedRequest, Emitter, inEnvelopes } from "../emitter.ts";
import type { Emit, HandlerServices, RequestHandler } from "../handlers/handler.ts";
import { HANDLERS } from "../handlers/index.ts";
import { Outbox } from "../outbox.ts";
import type { CommandRequest } from "../request.ts";
import type { StartFiber } from "../requests-in-flight.ts";
import type { RequestLane, Turns } from "../turns.ts";
import { HEADERS } from "./headers.ts";
import { ResponseSink } from "./response-sink.ts";

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
/** Lines of JSON. */
const LINES_TYPE = "application/x-ndjson";

export class HttpReply {
  private readonly ground: AnswerGround;
  private readonly response: ServerResponse;
  private readonly outbox: Outbox;
  private readonly request: EmittedRequest;
  private fiber: Fiber.Fiber<Outcome<object>, HoldfastError> | undefined;
  private lifetime: RequestHandler<RequestName>["lifetime"] = "read";
  private cancelled: HoldfastError | undefined;
  private isOver = false;
  /** Further headers of the answer, names and values in turns. */
  private more: readonly string[] = [];

  constructor(ground: AnswerGround, response: ServerResponse, request: Omit<EmittedRequest, "id">) {
    this.ground = ground;
    this.response = response;
    this.request = { ...request, id: request.head.request_id ?? newId() };
    const sink = new ResponseSink(
      response,
      () => this.outbox.drained(),
      () => this.abandon(),
    );
    this.outbox = new Outbox(sink, ground.defects);
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
    this.end(failure(error), this.outbox.lineOf(head, failure(error), startedAt), status);
  }

  /** Ends a request that may never end by itself. */
  endOpen(reason: HoldfastError): void {
    if (this.lifetime === "open") this.interrupt(reason);
  }

  private begin(handler: RequestHandler<RequestName>, data: never, caller: Caller): void {
    if (this.isOver) return;
    const { services, run } = this.ground;
    const { request, outbox } = this;
    const { artifactize } = services;
    const isOpen = (): boolean => !this.isOver;
    let emitter: Emitter | undefined;
    const emit: Emit = (records, meta) => {
      if (emitter === undefined) {
        this.response.writeHead(200, [...HEADERS, "content-type", LINES_TYPE]);
        emitter = new Emitter({ request, framing: inEnvelopes(request), artifactize, outbox, isOpen });
      }
      return emitter.emit(records, meta);
    };
    const means = { ...services, caller: () => caller };
    this.fiber = run(Effect.suspend(() => handler.run(means, data, emit, request.inlineMax)));
    this.fiber.addObserver((exit) => {
      const { head, startedAt, inlineMax } = this.request;
      const outcome = outcomeOf(exit, this.ground.defects, { head, cancelled: this.cancelled });
      const line = this.outbox.lineOf(head, outcome, startedAt);
      const bounded = services.artifactize.outcome(outcome, inlineMax, line);
      if (bounded === outcome) this.end(outcome, line);
      else
        void Promise.resolve(bounded).then((moved) =>
          this.end(moved, this.outbox.lineOf(head, moved, startedAt)),
        );
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
    const length = String(Buffer.byteLength(line));
    const headers = [...HEADERS, "content-type", JSON_TYPE, "content-length", length];
    if (status === 401) headers.push("www-authenticate", "Bearer");
    if (wait !== undefined) headers.push("retry-after", String(Math.ceil(wait)));
    response.writeHead(status, [...headers, ...this.more]).end(line);
  }

  /** A command goes on when its client is gone. */
  private abandon(): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.lifetime !== "command") this.interrupt(cancelledByClient());
  }

  private interrupt(reason: HoldfastError): void {
    this.cancelled ??= reason;
    this.fiber?.interruptUnsafe();
  }
}
