/**
 * One connection (architecture §7): request lines in, Protocol v1 envelopes out, many requests at once.
 * Everything that it holds is bounded: one request line, REQUESTS_IN_FLIGHT_MAX requests, and unsent output.
 * Beyond that bound its streams wait and its requests are not read (promise R15). A defect of a handler is
 * answered with INTERNAL, logged, and ends nothing else (promise R36).
 */
import type { Socket } from "node:net";
import type { Defects } from "../actors/defects.ts";
import {
  REQUEST_LINE_MAX_MS,
  REQUEST_MAX_BYTES,
  REQUEST_MISTAKES_MAX,
  REQUEST_MISTAKES_PERIOD_MS,
} from "../base/limits.ts";
import { makeLineSplitter, type SocketLine } from "../base/line-splitter.ts";
import { type Caller, named } from "../protocol/caller.ts";
import type { EnvelopeHead } from "../protocol/envelope-v1.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { failure, success } from "../protocol/outcome.ts";
import { cancelledByClient } from "./answers.ts";
import { farewell } from "./farewell.ts";
import { type Guard, isSameToken } from "./guard.ts";
import type { HandlerServices } from "./handlers/handler.ts";
import { Outbox } from "./outbox.ts";
import { parseRequest, UNREADABLE } from "./request.ts";
import { RequestsInFlight, type StartFiber } from "./requests-in-flight.ts";
import type { RequestLane } from "./turns.ts";

/** The services of a connection. */
export interface ConnectionGround {
  readonly services: Omit<HandlerServices, "caller">;
  /** Identifies the caller, given the marker that the client says it has. */
  readonly callerOf: (claimed: string | undefined) => Caller;
  /** The name of the living token with this secret. */
  readonly principalOf: (secret: string) => string | undefined;
  readonly run: StartFiber;
  readonly defects: Defects;
  readonly guard: Guard;
  readonly turns: RequestLane;
}

export class ClientConnection {
  private readonly socket: Socket;
  private readonly ground: ConnectionGround;
  private readonly outbox: Outbox;
  private readonly requests: RequestsInFlight;
  private readonly lines = makeLineSplitter(REQUEST_MAX_BYTES);
  /** Lines that wait until a request in flight has ended. */
  private held: SocketLine[] = [];
  private authorised: boolean;
  /** The marker of a run that the client says it has. */
  private claimed: string | undefined;
  /** The secret of the named token that the client has presented, and the name. */
  private presented: { readonly secret: string; readonly name: string } | undefined;
  private mistakes = { since: 0, count: 0 };
  /** Runs while a line is incomplete and the socket is read. */
  private lineTimer: NodeJS.Timeout | undefined;
  private activeAt = performance.now();
  private closing = false;
  /** The client was rejected with a reason, and is closed once it has read it. */
  private isTurnedOut = false;
  private isServing = false;
  /** Lines wait for the next turn of the loop. */
  private isQueued = false;

  /**
   * `socket` must have been made with allowHalfOpen: a client that closes its sending side still gets its
   * answers.
   */
  constructor(socket: Socket, ground: ConnectionGround) {
    const { services, callerOf, run, defects, guard, turns } = ground;
    this.socket = socket;
    this.ground = ground;
    this.authorised = !guard.isNeeded();
    this.outbox = new Outbox(socket, defects);
    this.requests = new RequestsInFlight({
      services: { ...services, caller: () => named(callerOf(this.claimed), this.presented?.name) },
      run,
      defects,
      turns,
      outbox: this.outbox,
      ended: () => {
        this.activeAt = performance.now();
        this.serve();
      },
    });
    socket.on("data", (bytes: Buffer) => this.received(bytes));
    socket.on("drain", () => {
      this.outbox.drained();
      this.serve();
    });
    socket.on("end", () => this.ended());
    // The client may go away in the middle of a write; 'close' follows.
    socket.on("error", () => {});
    socket.on("close", () => this.closed());
  }

  inFlight(): number {
    return this.requests.count();
  }

  /** Answers new requests with `reason`, or serves them again. Requests in flight continue. */
  refuse(reason: HoldfastError | undefined): void {
    this.requests.refusal = reason;
  }

  /**
   * When the last request or answer was, in monotonic milliseconds; undefined while a request is in progress.
   */
  idleSince(): number | undefined {
    const isBusy = this.requests.count() > 0 || this.held.length > 0 || this.lines.isInside();
    return isBusy || this.closing ? undefined : this.activeAt;
  }

  /** Refuses new requests, ends open ones, lets the others be answered, then closes. */
  drain(reason: HoldfastError): void {
    this.refuse(reason);
    this.close(reason);
  }

  /** Rejects the client: sends the reason, and then nothing more. */
  turnOut(reason: HoldfastError): void {
    this.held = [];
    this.closing = true;
    if (this.isTurnedOut) return;
    this.isTurnedOut = true;
    this.outbox.flush();
    farewell(this.socket, this.outbox.lineOf(UNREADABLE, failure(reason), performance.now()));
  }

  private received(bytes: Buffer): void {
    if (this.closing && this.requests.refusal === undefined) return;
    this.activeAt = performance.now();
    const whole = this.lines.push(bytes);
    // The end of a line gives the next one its full time.
    if (whole.length > 0) this.stopLineTimer();
    this.held.push(...whole);
    this.serve();
  }

  private ended(): void {
    const last = this.lines.end();
    if (last !== undefined) this.held.push(last);
    this.serve();
    this.close(cancelledByClient());
  }

  private closed(): void {
    this.stopLineTimer();
    this.held = [];
    this.requests.abandon();
  }

  private close(reason: HoldfastError): void {
    this.closing = true;
    this.requests.endOpen(reason);
    this.closeWhenDone();
  }

  private closeWhenDone(): void {
    if (!this.closing || this.isTurnedOut || this.requests.count() > 0 || this.held.length > 0) return;
    this.outbox.flush();
    this.socket.destroySoon();
  }

  private serve(): void {
    // A cancel that is served here may end another request, which calls this again.
    if (this.isServing) return;
    this.takeHeld();
    if (this.held.length > 0) {
      this.socket.pause();
      if (!this.requests.mustWait()) this.goOnLater();
    } else if (!this.outbox.isBehind()) this.socket.resume();
    this.watchLine();
    this.closeWhenDone();
  }

  private takeHeld(): void {
    this.isServing = true;
    let at = 0;
    try {
      while (at < this.held.length && !this.requests.mustWait() && !this.ground.turns.isOver())
        this.take(this.held[at++]!);
    } finally {
      this.held = this.held.slice(at);
      this.isServing = false;
    }
  }

  private goOnLater(): void {
    if (this.isQueued) return;
    this.isQueued = true;
    this.ground.turns.add(() => {
      this.isQueued = false;
      this.serve();
    });
  }

  /** The time for a line does not run while the socket is not read. */
  private watchLine(): void {
    if (!this.lines.isInside() || this.socket.isPaused() || this.closing) this.stopLineTimer();
    else
      this.lineTimer ??= setTimeout(() => {
        const seconds = REQUEST_LINE_MAX_MS / 1000;
        this.turnOut(new HoldfastError("TIMEOUT", `A request line was not ended within ${seconds} s.`));
      }, REQUEST_LINE_MAX_MS);
  }

  private stopLineTimer(): void {
    clearTimeout(this.lineTimer);
    this.lineTimer = undefined;
  }

  private take(line: SocketLine): void {
    if ("tooLong" in line)
      this.mistaken(
        UNREADABLE,
        new HoldfastError("REQUEST_TOO_LARGE", `A request line is at most ${REQUEST_MAX_BYTES} bytes.`, {
          phase: "validation",
        }),
        performance.now(),
      );
    else if (!isBlank(line.text))
      this.ground.defects.contain("reading a request", () => this.accept(line.text));
  }

  /** A check that throws is a defect of ours, and its client is told all the same. */
  private parsed(line: Buffer): ReturnType<typeof parseRequest> {
    try {
      return parseRequest(line);
    } catch (cause) {
      this.ground.defects.tell("reading a request", cause);
      const error = new HoldfastError("INTERNAL", "The daemon failed to read the request.", { cause });
      return { head: UNREADABLE, error };
    }
  }

  private accept(line: Buffer): void {
    const startedAt = performance.now();
    const parsed = this.parsed(line);
    if ("error" in parsed) {
      if (this.authorised) this.mistaken(parsed.head, parsed.error, startedAt);
      else this.isAuthorised(undefined);
      return;
    }
    if (!this.isAuthorised(parsed.token)) return;
    this.claimed ??= parsed.run;
    const { head, request } = parsed;
    if (request.name === "request/cancel") {
      const { request_id } = request.data;
      const cancelled = this.requests.cancel(request_id);
      this.outbox.answer(head, success({ request_id, cancelled }), startedAt);
    } else {
      const inlineMax = parsed.inline_max_bytes ?? this.ground.services.artifactize.inline_max_bytes;
      this.requests.start({ head, startedAt, inlineMax }, request);
    }
  }

  /** A named token is looked at with each request, because it may be revoked or expire meanwhile. */
  private isAuthorised(given?: string): boolean {
    const isOwn = given !== undefined && isSameToken(given, this.ground.guard.token);
    // The daemon's own token opens the door, and keeps no name alive that was presented before.
    const token = isOwn ? this.presented?.secret : (given ?? this.presented?.secret);
    if (isOwn && token === undefined) this.authorised = true;
    else if (token !== undefined) {
      const name = this.ground.principalOf(token);
      this.authorised = name !== undefined && (this.presented?.secret ?? token) === token;
      if (this.authorised && name !== undefined) this.presented = { secret: token, name };
    }
    if (!this.authorised) this.turnOut(notAuthorised(token));
    return this.authorised;
  }

  private mistaken(head: EnvelopeHead, error: HoldfastError, startedAt: number): void {
    this.outbox.answer(head, failure(error), startedAt);
    if (startedAt - this.mistakes.since > REQUEST_MISTAKES_PERIOD_MS)
      this.mistakes = { since: startedAt, count: 0 };
    this.mistakes.count += 1;
    if (this.mistakes.count > REQUEST_MISTAKES_MAX)
      this.turnOut(
        new HoldfastError(
          "QUEUE_FULL",
          `More than ${REQUEST_MISTAKES_MAX} requests of this connection were unreadable.`,
          { retry_after_s: REQUEST_MISTAKES_PERIOD_MS / 1000 },
        ),
      );
  }
}

const notAuthorised = (token: string | undefined): HoldfastError =>
  token === undefined
    ? new HoldfastError("NOT_AUTHORISED", "The token of this state directory was not presented.")
    : new HoldfastError(
        "NOT_AUTHORISED",
        "The token that was presented is not known here: it was revoked, it has expired, or it belongs to another state directory.",
        { suggestion: "See the tokens with `agent token list`, or leave HOLDFAST_TOKEN out." },
      );

/** An empty line is not a request, nor is one with only a CR. */
const isBlank = (line: Buffer): boolean => line.length === 0 || (line.length === 1 && line[0] === CR);
const CR = 0x0d;
