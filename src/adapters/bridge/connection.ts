/**
 * One connection to a bridge: requests out, answers in, each with a deadline. Everything is bounded: a frame, its time, the
 * requests that wait, the bytes that the bridge does not read, and frames that answer nothing. A bridge that breaks a rule
 * loses the connection, and the requests on it fail as lost.
 */
import type { Socket } from "node:net";
import type * as z from "zod";
import {
  BRIDGE_FRAME_MAX_BYTES,
  BRIDGE_FRAME_MAX_MS,
  BRIDGE_REQUESTS_MAX,
  BRIDGE_STRAYS_MAX,
  BRIDGE_UNSENT_MAX_BYTES,
} from "../../base/limits.ts";
import { type LineSplitter, makeLineSplitter } from "../../base/line-splitter.ts";
import {
  type BridgeMethod,
  type BridgeParams,
  type BridgeResult,
  BridgeResults,
  RpcAnswer,
} from "./messages.ts";

/** `lost`: nobody knows whether the bridge did it. `refused`: it said no. `unsent`: it was not asked. */
export class BridgeFailure extends Error {
  readonly kind: "lost" | "refused" | "unsent";
  /** The code of a refusal. */
  readonly code: number | undefined;

  constructor(kind: BridgeFailure["kind"], message: string, code?: number) {
    super(message);
    this.kind = kind;
    this.code = code;
  }
}

interface RpcRequest {
  readonly method: BridgeMethod;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (result: never) => void;
  readonly reject: (failure: BridgeFailure) => void;
}

export interface ConnectionListener {
  /** An answer came in time, and was one. */
  answered(): void;
  /** No answer came in time. */
  unanswered(): void;
  /** Called once. `fault`: the rule that the bridge broke; undefined if it went away. */
  closed(fault: string | undefined): void;
}

/** How long a frame may take, in milliseconds: tests pass less. */
export interface ConnectionBounds {
  readonly frame_ms: number;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

export class BridgeConnection {
  private readonly socket: Socket;
  private readonly listener: ConnectionListener;
  private readonly frameMs: number;
  private readonly lines: LineSplitter = makeLineSplitter(BRIDGE_FRAME_MAX_BYTES);
  private readonly pending = new Map<number, RpcRequest>();
  private lastId = 0;
  private strays = 0;
  private isClosed = false;
  private frameTimer: NodeJS.Timeout | undefined;

  constructor(
    socket: Socket,
    listener: ConnectionListener,
    { frame_ms }: ConnectionBounds = { frame_ms: BRIDGE_FRAME_MAX_MS },
  ) {
    this.socket = socket;
    this.listener = listener;
    this.frameMs = frame_ms;
    socket.on("data", (bytes: Buffer) => this.received(bytes));
    // 'close' follows.
    socket.on("error", () => undefined);
    socket.on("close", () => this.close(undefined));
  }

  /** Rejects with a BridgeFailure. */
  async request<M extends BridgeMethod>(
    method: M,
    params: BridgeParams[M],
    within_ms: number,
  ): Promise<BridgeResult<M>> {
    const id = this.lastId + 1;
    const frame = `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
    const refusal = this.refusalOf(frame);
    if (refusal !== undefined) throw refusal;
    this.lastId = id;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.late(id, within_ms), within_ms);
      timer.unref();
      this.pending.set(id, { method, timer, resolve: resolve as RpcRequest["resolve"], reject });
      this.socket.write(frame);
    });
  }

  /** Ends it; requests that wait fail as lost. */
  close(fault: string | undefined): void {
    if (this.isClosed) return;
    this.isClosed = true;
    clearTimeout(this.frameTimer);
    this.socket.destroy();
    const lost = new BridgeFailure("lost", fault ?? "the connection was closed");
    for (const { timer, reject } of this.pending.values()) {
      clearTimeout(timer);
      reject(lost);
    }
    this.pending.clear();
    this.listener.closed(fault);
  }

  private refusalOf(frame: string): BridgeFailure | undefined {
    if (Buffer.byteLength(frame) > BRIDGE_FRAME_MAX_BYTES)
      return new BridgeFailure("refused", `the request is over ${BRIDGE_FRAME_MAX_BYTES} bytes`);
    const why = this.isClosed
      ? "the connection is closed"
      : this.pending.size >= BRIDGE_REQUESTS_MAX
        ? `${BRIDGE_REQUESTS_MAX} requests wait for it`
        : this.socket.writableLength > BRIDGE_UNSENT_MAX_BYTES
          ? "it does not read what it is sent"
          : undefined;
    return why === undefined ? undefined : new BridgeFailure("unsent", why);
  }

  private late(id: number, within_ms: number): void {
    const { method, reject } = this.pending.get(id)!;
    this.pending.delete(id);
    reject(new BridgeFailure("lost", `it did not answer ${method} within ${within_ms / 1_000} s`));
    this.listener.unanswered();
  }

  private received(bytes: Buffer): void {
    const whole = this.lines.push(bytes);
    if (whole.length > 0) this.stopFrameTimer();
    for (const line of whole) {
      if (this.isClosed) return;
      if ("tooLong" in line) this.close(`it sent a frame over ${BRIDGE_FRAME_MAX_BYTES} bytes`);
      else this.take(line.text);
    }
    if (this.lines.isInside() && !this.isClosed)
      this.frameTimer ??= setTimeout(
        () => this.close(`it did not end a frame within ${this.frameMs / 1_000} s`),
        this.frameMs,
      );
  }

  private stopFrameTimer(): void {
    clearTimeout(this.frameTimer);
    this.frameTimer = undefined;
  }

  private take(frame: Buffer): void {
    const said = parsed(frame);
    // A notification, or a request to us: the daemon's own socket serves those.
    if (said !== undefined && "method" in said) this.stray();
    else {
      const answer = RpcAnswer.safeParse(said);
      if (answer.success) this.answered(answer.data);
      else
        this.close(
          said === undefined
            ? "it sent a frame that is no JSON in UTF-8"
            : "it sent a frame that is no answer of JSON-RPC 2.0",
        );
    }
  }

  private answered({ id, result, error }: z.output<typeof RpcAnswer>): void {
    const request = this.pending.get(id);
    if (request === undefined) {
      // Answered before, or too late.
      if (id <= this.lastId) this.stray();
      else this.close(`it answered request ${id}, which was never sent`);
      return;
    }
    this.pending.delete(id);
    clearTimeout(request.timer);
    const { method, resolve, reject } = request;
    const read = BridgeResults[method].safeParse(result);
    if (error !== undefined) reject(new BridgeFailure("refused", error.message, error.code));
    else if (read.success) resolve(read.data as never);
    else {
      reject(new BridgeFailure("lost", `its answer to ${method} cannot be read`));
      this.close(`its answer to ${method} is none`);
      return;
    }
    this.listener.answered();
  }

  private stray(): void {
    this.strays += 1;
    if (this.strays > BRIDGE_STRAYS_MAX)
      this.close(`it sent more than ${BRIDGE_STRAYS_MAX} frames that answer nothing`);
  }
}

const parsed = (frame: Buffer): object | undefined => {
  try {
    const value: unknown = JSON.parse(utf8.decode(frame));
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
};
