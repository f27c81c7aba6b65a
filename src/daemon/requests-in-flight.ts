/**
 * The requests of one connection without a terminal line yet. Each runs as a fiber once its turn has come,
 * and is answered once.
 */
import { Effect, type Exit, type Fiber } from "effect";
import type { Defects } from "../actors/defects.ts";
import { REQUESTS_IN_FLIGHT_MAX } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { newId } from "../protocol/ids.ts";
import { failure, type Outcome } from "../protocol/outcome.ts";
import type { RequestName } from "../protocol/requests.ts";
import { cancelledByClient, outcomeOf } from "./answers.ts";
import { type EmittedRequest, Emitter, inEnvelopes } from "./emitter.ts";
import type { HandlerServices, RequestHandler } from "./handlers/handler.ts";
import { HANDLERS } from "./handlers/index.ts";
import type { Outbox } from "./outbox.ts";
import { type CommandRequest, invalidRequest } from "./request.ts";
import type { RequestLane } from "./turns.ts";

/** Starts a fiber that lives at most as long as the daemon. */
export type StartFiber = <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>;

/** The services for the requests of one connection. */
interface ConnectionMeans {
  readonly services: HandlerServices;
  readonly run: StartFiber;
  readonly defects: Defects;
  readonly turns: RequestLane;
  readonly outbox: Outbox;
  /** Called after the terminal line of a request. */
  readonly ended: () => void;
}

interface InFlight extends EmittedRequest {
  readonly lifetime: RequestHandler<RequestName>["lifetime"];
  /** Undefined until its turn has come. */
  fiber?: Fiber.Fiber<Outcome<object>, HoldfastError>;
  /** Why it was interrupted. */
  cancelled?: HoldfastError;
}

export class RequestsInFlight {
  private readonly ground: ConnectionMeans;
  private readonly byId = new Map<string, InFlight>();
  /** The answer to every new request while requests are refused. */
  refusal: HoldfastError | undefined;

  constructor(ground: ConnectionMeans) {
    this.ground = ground;
  }

  count(): number {
    return this.byId.size;
  }

  /**
   * The connection is full, but a request in flight will end by itself: the next request waits instead of
   * being refused.
   */
  mustWait(): boolean {
    return (
      this.byId.size >= REQUESTS_IN_FLIGHT_MAX &&
      [...this.byId.values()].some(({ lifetime }) => lifetime !== "open")
    );
  }

  start(given: Omit<EmittedRequest, "id">, request: CommandRequest): void {
    const id = given.head.request_id ?? newId();
    const head = { ...given.head, request_id: id };
    const error = this.refused(id);
    if (error !== undefined) {
      // The id belongs to the request in flight, whose own terminal line is still to come.
      const { request_id: _, ...anonymous } = head;
      this.ground.outbox.answer(this.byId.has(id) ? anonymous : head, failure(error), given.startedAt);
      return;
    }
    // The name determines both handler and data, which the table's type cannot express.
    const handler = HANDLERS[request.name] as RequestHandler<RequestName>;
    const entry: InFlight = { ...given, id, head, lifetime: handler.lifetime };
    this.byId.set(id, entry);
    this.ground.turns.add(() => this.begin(entry, handler, request.data as never));
  }

  /** Cancelling a command only ends the wait for its answer, because commands are completed. */
  cancel(id: string): boolean {
    const request = this.byId.get(id);
    if (request === undefined) return false;
    if (request.lifetime !== "command") interrupt(request, cancelledByClient());
    else if (this.byId.delete(id))
      this.ground.outbox.answer(request.head, failure(cancelledByClient()), request.startedAt);
    return true;
  }

  /** Ends requests that may never end by themselves. */
  endOpen(reason: HoldfastError): void {
    for (const request of [...this.byId.values()])
      if (request.lifetime === "open") interrupt(request, reason);
  }

  /** Drops all requests, because the client is gone. */
  abandon(): void {
    const gone = [...this.byId.values()];
    this.byId.clear();
    for (const request of gone) if (request.lifetime !== "command") interrupt(request, cancelledByClient());
  }

  /** Why a request cannot begin now. */
  private refused(id: string): HoldfastError | undefined {
    if (this.refusal !== undefined) return this.refusal;
    if (this.byId.has(id)) return invalidRequest([`A request with the id ${id} is in flight.`]);
    if (this.byId.size < REQUESTS_IN_FLIGHT_MAX) return undefined;
    return new HoldfastError(
      "QUEUE_FULL",
      `${REQUESTS_IN_FLIGHT_MAX} requests of this connection are in flight.`,
    );
  }

  private begin(entry: InFlight, handler: RequestHandler<RequestName>, data: never): void {
    const { services, outbox, run } = this.ground;
    const { cancelled, head, startedAt, inlineMax } = entry;
    if (cancelled !== undefined) {
      this.end(entry, outbox.lineOf(head, failure(cancelled), startedAt));
      return;
    }
    const { artifactize } = services;
    const isOpen = () => this.has(entry);
    const framing = inEnvelopes(entry);
    const { emit } = new Emitter({ request: entry, framing, artifactize, outbox, isOpen });
    entry.fiber = run(Effect.suspend(() => handler.run(services, data, emit, inlineMax)));
    entry.fiber.addObserver((exit) => this.exited(entry, exit));
  }

  private exited(entry: InFlight, exit: Exit.Exit<Outcome<object>, HoldfastError>): void {
    if (!this.has(entry)) return;
    const { services, outbox } = this.ground;
    const { head, startedAt, inlineMax } = entry;
    const outcome = outcomeOf(exit, this.ground.defects, entry);
    const line = outbox.lineOf(head, outcome, startedAt);
    const bounded = services.artifactize.outcome(outcome, inlineMax, line);
    if (bounded === outcome) this.end(entry, line);
    else
      void Promise.resolve(bounded).then((moved) => this.end(entry, outbox.lineOf(head, moved, startedAt)));
  }

  private end(entry: InFlight, line: string): void {
    if (!this.has(entry)) return;
    this.byId.delete(entry.id);
    this.ground.outbox.silence(entry.id);
    this.ground.outbox.send(line);
    this.ground.ended();
  }

  /** Another request may have taken the id. */
  private has(entry: InFlight): boolean {
    return this.byId.get(entry.id) === entry;
  }
}

const interrupt = (request: InFlight, reason: HoldfastError): void => {
  request.cancelled ??= reason;
  request.fiber?.interruptUnsafe();
};
