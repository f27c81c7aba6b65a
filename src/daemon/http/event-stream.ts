/**
 * `/api/events`: the records of a watch as server-sent events (WHATWG HTML, Server-sent events). The id of an event is the
 * cursor behind its record, so a client that reconnects with `Last-Event-ID` loses and doubles nothing.
 */
import type { ServerResponse } from "node:http";
import { Effect, Exit, type Fiber } from "effect";
import { API_COMMENT_MS } from "../../base/limits.ts";
import { SSE_COMMENT, SSE_RETRY, SSE_TYPE, sseEnd, sseEvent } from "../../base/server-sent-events.ts";
import { cursorOf } from "../../protocol/cursor.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { RequestData } from "../../protocol/requests.ts";
import { outcomeOf } from "../answers.ts";
import { type EmittedRequest, Emitter, type Framing } from "../emitter.ts";
import { watched } from "../handlers/watch.ts";
import { Outbox } from "../outbox.ts";
import { HEADERS } from "./headers.ts";
import { type AnswerGround, laneOf, ONLY } from "./reply.ts";
import { ResponseSink } from "./response-sink.ts";

export class EventStream {
  private readonly ground: AnswerGround;
  private readonly response: ServerResponse;
  private readonly outbox: Outbox;
  private readonly sink: ResponseSink;
  private readonly request: EmittedRequest;
  private comments: NodeJS.Timeout | undefined;
  private fiber: Fiber.Fiber<unknown, HoldfastError> | undefined;
  private isOver = false;

  constructor(ground: AnswerGround, response: ServerResponse, request: Omit<EmittedRequest, "id">) {
    this.ground = ground;
    this.response = response;
    this.request = { ...request, id: ONLY };
    this.sink = new ResponseSink(response, () => this.outbox.drained());
    this.outbox = new Outbox(this.sink, ground.defects);
  }

  /** `refuse` answers if the watch cannot begin. */
  start(data: RequestData<"agent/watch">, refuse: (error: HoldfastError) => void): void {
    const { runtime, artifactize } = this.ground.services;
    const { request, outbox } = this;
    let seqs: readonly number[] = [];
    const at = (index: number): string => cursorOf(runtime.epoch, seqs[index] as number);
    const framing: Framing = {
      whole: (record, index) => sseEvent(at(index), record),
      large: (record, index) => sseEvent(at(index), JSON.stringify(record)),
    };
    const isOpen = () => !this.isOver;
    const emitter = new Emitter({ request, framing: () => framing, artifactize, outbox, isOpen });
    const watching = watched(runtime, data, (page) => {
      seqs = page.seqs;
      this.open();
      return emitter.emit(page.lines);
    });
    laneOf(this.ground.turns, this.response.req.socket).add(() => {
      if (this.isOver) return;
      this.fiber = this.ground.run(Effect.suspend(() => watching));
      // A watch of nothing yet has no page, and its client waits for the head.
      this.comments = setTimeout(() => this.open(), 0);
      this.fiber.addObserver((exit) => this.ended(exit as Parameters<typeof outcomeOf>[0], refuse));
    });
  }

  /** Ends the stream; its client comes back with the last id. */
  endOpen(reason: HoldfastError): void {
    this.close(reason);
    this.fiber?.interruptUnsafe();
  }

  closed(): void {
    this.sink.closed();
    if (this.isOver) return;
    this.isOver = true;
    clearInterval(this.comments);
    this.fiber?.interruptUnsafe();
  }

  private open(): void {
    if (this.response.headersSent || this.isOver) return;
    clearTimeout(this.comments);
    // The body ends with its connection, so it needs no chunks: one write of the kernel for each event costs half of a chunk's three.
    this.response.removeHeader("transfer-encoding");
    this.response.writeHead(200, [
      ...HEADERS,
      ...["connection", "close", "content-type", SSE_TYPE, "x-accel-buffering", "no"],
    ]);
    // Written alone, the head becomes one string; else its forty parts are kept as long as the stream is open.
    this.response.flushHeaders();
    this.sink.write(SSE_RETRY);
    this.comments = setInterval(() => {
      if (this.sink.writable && !this.sink.writableNeedDrain) this.sink.write(SSE_COMMENT);
    }, API_COMMENT_MS);
  }

  private ended(exit: Parameters<typeof outcomeOf>[0], refuse: (error: HoldfastError) => void): void {
    if (this.isOver) return;
    const { head } = this.request;
    const outcome = outcomeOf(exit, this.ground.defects, { head });
    if (Exit.isSuccess(exit) || outcome.ok) this.close();
    else if (this.response.headersSent) this.close(outcome.error);
    else {
      this.isOver = true;
      clearTimeout(this.comments);
      refuse(outcome.error);
    }
  }

  /** The last event is `end`, with the error if the watch has not everything it asked for. */
  private close(error?: HoldfastError): void {
    if (this.isOver) return;
    this.open();
    this.isOver = true;
    clearInterval(this.comments);
    this.response.end(sseEnd(error));
  }
}
