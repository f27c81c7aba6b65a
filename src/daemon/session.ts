/**
 * One connection (architecture §7): request lines in, Protocol v1 envelopes out, many requests at once. Everything it
 * holds is bounded: one request line, REQUESTS_IN_FLIGHT_MAX requests, and what a slow client has not taken, beyond
 * which its streams wait and its requests are no longer read (promise R15). A defect of a handler is answered with
 * INTERNAL, logged, and ends nothing else (promise R36).
 */
import type { Socket } from "node:net";
import { Cause, Effect, Exit, type Fiber } from "effect";
import type { Defects } from "../actors/defects.ts";
import { crashPoint } from "../base/crash-point.ts";
import {
  REQUEST_LINE_MAX_MS,
  REQUEST_MAX_BYTES,
  REQUEST_MISTAKES_MAX,
  REQUEST_MISTAKES_PERIOD_MS,
  REQUESTS_IN_FLIGHT_MAX,
  WATCHER_BUFFER_MAX_BYTES,
  WATCHER_CHUNK_CHARS,
} from "../base/limits.ts";
import type { Caller } from "../protocol/caller.ts";
import {
  type EnvelopeHead,
  encodeEnvelope,
  progressEnvelope,
  progressFrame,
  progressLine,
  terminalEnvelope,
} from "../protocol/envelope-v1.ts";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import { newId } from "../protocol/ids.ts";
import { failure, type Outcome, success } from "../protocol/outcome.ts";
import type { RequestName } from "../protocol/requests.ts";
import { cancelledByClient, timeSince } from "./answers.ts";
import { farewell } from "./farewell.ts";
import { type Guard, isSameToken } from "./guard.ts";
import type { Emit, Handler, Services } from "./handlers/handler.ts";
import { HANDLERS } from "./handlers/index.ts";
import { type Line, makeLineSplitter } from "./line-splitter.ts";
import { type CommandRequest, invalidRequest, parseRequest, UNREADABLE } from "./request.ts";
import type { Lane } from "./turns.ts";

/** Starts a fiber that lives at most as long as the daemon. */
export type Run = <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>;

export interface Session {
  inFlight(): number;
  /** Answer new requests with `reason`, or serve them again; those in flight go on. */
  refuse(reason: HoldfastError | undefined): void;
  /** Since when nothing was asked or answered, in monotonic milliseconds; undefined while a request is. */
  idleSince(): number | undefined;
  /** Says why, and hangs up. */
  giveWay(reason: HoldfastError): void;
  /** Refuse new requests, end what is open, let the others be answered, then close. */
  drain(reason: HoldfastError): void;
}

interface InFlight {
  readonly id: string;
  readonly head: EnvelopeHead;
  readonly lifetime: Handler<RequestName>["lifetime"];
  readonly startedAt: number;
  /** Undefined until its turn has come. */
  fiber?: Fiber.Fiber<Outcome<object>, HoldfastError>;
  /** Why it was interrupted. */
  cancelled?: HoldfastError;
}

interface Chunk {
  /** The id of its request. */
  readonly id: string;
  readonly text: string;
  readonly taken: () => void;
}

/** No request: an empty line, also one that ends in CR LF. */
const isBlank = (line: Buffer): boolean => line.length === 0 || (line.length === 1 && line[0] === CR);
const CR = 0x0d;

/** `socket` must have been made with allowHalfOpen: who closes its sending side still gets its answers. */
export const openSession = (
  socket: Socket,
  common: Omit<Services, "caller">,
  callerOf: (claimed: string | undefined) => Caller,
  run: Run,
  defects: Defects,
  guard: Guard,
  turns: Lane,
): Session => {
  const services: Services = { ...common, caller: () => callerOf(claimed) };
  const inFlight = new Map<string, InFlight>();
  const lines = makeLineSplitter(REQUEST_MAX_BYTES);
  /** Chunks of streams that wait until the client has taken what came before. */
  const waiting: Chunk[] = [];
  /** Lines that wait until a request in flight has ended. */
  let held: Line[] = [];
  let authorised = !guard.isNeeded();
  /** The marker of a run that the client says it has. */
  let claimed: string | undefined;
  let mistakes = { since: 0, count: 0 };
  /** Runs while a line has begun and not ended, and we read. */
  let lineTimer: NodeJS.Timeout | undefined;
  let refusal: HoldfastError | undefined;
  let activeAt = performance.now();
  let closing = false;
  /** It was told why, and is closed once it has read that. */
  let isTurnedOut = false;
  let isGathering = false;
  let isServing = false;
  /** Lines wait for the loop's next turn. */
  let isQueued = false;

  const closeWhenDone = (): void => {
    if (closing && !isTurnedOut && inFlight.size === 0 && held.length === 0) socket.destroySoon();
  };

  /** The answers of one turn go out in one write. */
  const gather = (): void => {
    if (isGathering) return;
    isGathering = true;
    socket.cork();
    process.nextTick(() => {
      isGathering = false;
      socket.uncork();
    });
  };

  const lineOf = (head: EnvelopeHead, outcome: Outcome<object>, startedAt: number): string => {
    try {
      return encodeEnvelope(terminalEnvelope(head, timeSince(startedAt), outcome));
    } catch (cause) {
      defects.tell(`the answer to ${head.command} is not JSON`, cause);
      return encodeEnvelope(terminalEnvelope(head, timeSince(startedAt), failure(asHoldfastError(cause))));
    }
  };

  const send = (line: string): void => {
    if (!socket.writable) return;
    crashPoint("answer-before");
    gather();
    socket.write(line);
    crashPoint("answer-after");
    // Answers do not wait, so it is the next requests that have to.
    if (socket.writableLength > WATCHER_BUFFER_MAX_BYTES) socket.pause();
  };

  const answer = (head: EnvelopeHead, outcome: Outcome<object>, startedAt: number): void =>
    send(lineOf(head, outcome, startedAt));

  const writeWaiting = (): void => {
    while (waiting.length > 0 && socket.writable && !socket.writableNeedDrain) {
      const chunk = waiting.shift()!;
      socket.write(chunk.text);
      chunk.taken();
    }
  };

  /** Undefined where the socket takes it at once; otherwise it resolves once the chunk is written, which is when the socket wants more. */
  const stream = (id: string, text: string): Promise<void> | undefined => {
    if (waiting.length === 0 && socket.writable && !socket.writableNeedDrain) {
      socket.write(text);
      return undefined;
    }
    return new Promise((taken) => waiting.push({ id, text, taken }));
  };

  /** After its terminal line a request says nothing more. */
  const silence = (id: string): void => {
    for (let at = waiting.length - 1; at >= 0; at -= 1) if (waiting[at]?.id === id) waiting.splice(at, 1);
  };

  const emitterOf = (id: string, head: EnvelopeHead, startedAt: number, inlineMax: number): Emit => {
    let seq = 0;
    const isOpen = (): boolean => inFlight.get(id)?.head === head;
    return (records) => {
      const frame = progressFrame(head, timeSince(startedAt));
      let at = 0;
      const goOn = (): Promise<void> | undefined => {
        while (at < records.length && isOpen()) {
          let text = "";
          let large: Promise<object> | undefined;
          while (at < records.length && text.length < WATCHER_CHUNK_CHARS && large === undefined) {
            const record = records[at++] as string;
            large = services.artifactize.record(record, inlineMax);
            if (large === undefined) text += progressLine(frame, seq++, record);
          }
          const taken = text === "" ? undefined : stream(id, text);
          if (large !== undefined) return sendLarge(large, taken).then(goOn);
          if (taken !== undefined) return taken.then(goOn);
        }
        return undefined;
      };
      return goOn();
    };
    /** This watcher alone waits for it. */
    async function sendLarge(large: Promise<object>, before: Promise<void> | undefined): Promise<void> {
      const [data] = await Promise.all([large, before]);
      if (isOpen())
        await stream(id, encodeEnvelope(progressEnvelope(head, timeSince(startedAt), seq++, data)));
    }
  };

  const interrupt = (request: InFlight, reason: HoldfastError): void => {
    request.cancelled ??= reason;
    request.fiber?.interruptUnsafe();
  };

  const close = (reason: HoldfastError): void => {
    closing = true;
    for (const request of [...inFlight.values()]) if (request.lifetime === "open") interrupt(request, reason);
    closeWhenDone();
  };

  /** A command is carried through: cancelling it only ends the waiting for its answer. */
  const cancel = (id: string): boolean => {
    const request = inFlight.get(id);
    if (request === undefined) return false;
    if (request.lifetime !== "command") interrupt(request, cancelledByClient());
    else if (inFlight.delete(id)) answer(request.head, failure(cancelledByClient()), request.startedAt);
    return true;
  };

  const outcomeOf = (request: InFlight, exit: Exit.Exit<Outcome<object>, HoldfastError>): Outcome<object> => {
    if (Exit.isSuccess(exit)) return exit.value;
    if (Cause.hasInterruptsOnly(exit.cause)) return failure(request.cancelled ?? cancelledByClient());
    const error = asHoldfastError(Cause.squash(exit.cause));
    // The error asks for a report with the log, so the log must say more than the answer.
    if (Cause.hasDies(exit.cause) || error.code === "INTERNAL") {
      defects.tell(`in ${request.head.command}`, Cause.squash(exit.cause));
    }
    return failure(error);
  };

  /** Why a request cannot begin now. */
  const refused = (id: string): HoldfastError | undefined => {
    if (refusal !== undefined) return refusal;
    if (inFlight.has(id)) return invalidRequest([`A request with the id ${id} is in flight.`]);
    if (inFlight.size < REQUESTS_IN_FLIGHT_MAX) return undefined;
    return new HoldfastError(
      "QUEUE_FULL",
      `${REQUESTS_IN_FLIGHT_MAX} requests of this connection are in flight.`,
    );
  };

  const start = (
    given: EnvelopeHead,
    request: CommandRequest,
    startedAt: number,
    inlineMax: number,
  ): void => {
    const id = given.request_id ?? newId();
    const head: EnvelopeHead = { ...given, request_id: id };
    const error = refused(id);
    if (error !== undefined) {
      // The id is that of the request in flight, which has its own terminal line to come.
      const { request_id: _, ...anonymous } = head;
      answer(inFlight.has(id) ? anonymous : head, failure(error), startedAt);
      return;
    }
    // The name chooses handler and data alike, which the type of the table cannot follow.
    const handler = HANDLERS[request.name] as Handler<RequestName>;
    const entry: InFlight = { id, head, lifetime: handler.lifetime, startedAt };
    inFlight.set(id, entry);
    const end = (line: string): void => {
      if (inFlight.get(id) !== entry) return;
      inFlight.delete(id);
      activeAt = performance.now();
      silence(id);
      send(line);
      serve();
    };
    turns.add(() => {
      const { cancelled } = entry;
      if (cancelled !== undefined) return end(lineOf(head, failure(cancelled), startedAt));
      entry.fiber = run(
        Effect.suspend(() =>
          handler.run(services, request.data as never, emitterOf(id, head, startedAt, inlineMax), inlineMax),
        ),
      );
      entry.fiber.addObserver((exit) => {
        if (inFlight.get(id) !== entry) return;
        const outcome = outcomeOf(entry, exit);
        const line = lineOf(head, outcome, startedAt);
        const bounded = services.artifactize.outcome(outcome, inlineMax, line);
        if (bounded === outcome) end(line);
        else void Promise.resolve(bounded).then((moved) => end(lineOf(head, moved, startedAt)));
      });
    });
  };

  /** Nothing is said to it any more but why. */
  const turnOut = (reason: HoldfastError): void => {
    held = [];
    closing = true;
    if (isTurnedOut) return;
    isTurnedOut = true;
    farewell(socket, lineOf(UNREADABLE, failure(reason), performance.now()));
  };

  const isAuthorised = (token: string | undefined): boolean => {
    if (token !== undefined) authorised = isSameToken(token, guard.token);
    if (!authorised)
      turnOut(new HoldfastError("NOT_AUTHORISED", "The token of this state directory was not presented."));
    return authorised;
  };

  const mistaken = (head: EnvelopeHead, error: HoldfastError, startedAt: number): void => {
    answer(head, failure(error), startedAt);
    if (startedAt - mistakes.since > REQUEST_MISTAKES_PERIOD_MS) mistakes = { since: startedAt, count: 0 };
    mistakes.count += 1;
    if (mistakes.count > REQUEST_MISTAKES_MAX)
      turnOut(
        new HoldfastError(
          "QUEUE_FULL",
          `More than ${REQUEST_MISTAKES_MAX} requests of this connection could not be read.`,
          { retry_after_s: REQUEST_MISTAKES_PERIOD_MS / 1000 },
        ),
      );
  };

  const accept = (line: Buffer): void => {
    const startedAt = performance.now();
    const parsed = parseRequest(line);
    if ("error" in parsed) {
      if (authorised) mistaken(parsed.head, parsed.error, startedAt);
      else isAuthorised(undefined);
      return;
    }
    if (!isAuthorised(parsed.token)) return;
    claimed ??= parsed.run;
    if (parsed.request.name === "request/cancel") {
      const { request_id } = parsed.request.data;
      answer(parsed.head, success({ request_id, cancelled: cancel(request_id) }), startedAt);
    } else
      start(
        parsed.head,
        parsed.request,
        startedAt,
        parsed.inline_max_bytes ?? services.artifactize.inline_max_bytes,
      );
  };

  const take = (line: Line): void => {
    if ("tooLong" in line)
      mistaken(
        UNREADABLE,
        new HoldfastError("REQUEST_TOO_LARGE", `A request line is at most ${REQUEST_MAX_BYTES} bytes.`, {
          phase: "validation",
        }),
        performance.now(),
      );
    else if (!isBlank(line.text)) defects.contain("reading a request", () => accept(line.text));
  };

  /** Full, and one of those in flight will end by itself: what comes next waits for it, and is not refused. */
  const mustWait = (): boolean =>
    inFlight.size >= REQUESTS_IN_FLIGHT_MAX &&
    [...inFlight.values()].some(({ lifetime }) => lifetime !== "open");

  const goOnLater = (): void => {
    if (isQueued) return;
    isQueued = true;
    turns.add(() => {
      isQueued = false;
      serve();
    });
  };

  const serve = (): void => {
    // A cancel that is taken here ends another request at once, and with it comes here again.
    if (isServing) return;
    isServing = true;
    let at = 0;
    try {
      while (at < held.length && !mustWait() && !turns.isOver()) take(held[at++]!);
    } finally {
      held = held.slice(at);
      isServing = false;
    }
    if (held.length > 0) {
      socket.pause();
      if (!mustWait()) goOnLater();
    } else if (socket.writableLength <= WATCHER_BUFFER_MAX_BYTES) socket.resume();
    watchLine();
    closeWhenDone();
  };

  /** While we do not read, nobody can end a line. */
  const watchLine = (): void => {
    if (!lines.isInside() || socket.isPaused() || closing) {
      clearTimeout(lineTimer);
      lineTimer = undefined;
    } else
      lineTimer ??= setTimeout(() => {
        const seconds = REQUEST_LINE_MAX_MS / 1000;
        turnOut(new HoldfastError("TIMEOUT", `A request line was not ended within ${seconds} s.`));
      }, REQUEST_LINE_MAX_MS);
  };

  socket.on("data", (bytes: Buffer) => {
    if (closing && refusal === undefined) return;
    activeAt = performance.now();
    const whole = lines.push(bytes);
    // A line that ends lets the next one begin anew.
    if (whole.length > 0) {
      clearTimeout(lineTimer);
      lineTimer = undefined;
    }
    held.push(...whole);
    serve();
  });
  socket.on("drain", () => {
    writeWaiting();
    serve();
  });
  socket.on("end", () => {
    const last = lines.end();
    if (last !== undefined) held.push(last);
    serve();
    close(cancelledByClient());
  });
  // A client that goes away in the middle of a write; 'close' follows.
  socket.on("error", () => {});
  socket.on("close", () => {
    clearTimeout(lineTimer);
    held = [];
    const gone = [...inFlight.values()];
    inFlight.clear();
    for (const request of gone) if (request.lifetime !== "command") interrupt(request, cancelledByClient());
  });

  return {
    inFlight: () => inFlight.size,
    refuse: (reason) => {
      refusal = reason;
    },
    idleSince: () =>
      inFlight.size > 0 || held.length > 0 || closing || lines.isInside() ? undefined : activeAt,
    giveWay: turnOut,
    drain: (reason) => {
      refusal = reason;
      close(reason);
    },
  };
};
