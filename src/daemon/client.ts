/**
 * The client's end of the socket (architecture §7): one connection for any number of requests, whose answers are matched by
 * request id. Loads only Node's own modules.
 */
import { DURATION_MAX_MS, REPLY_MAX_BYTES, REQUEST_MAX_BYTES } from "../base/limits.ts";
import { makeLineSplitter } from "../base/line-splitter.ts";
import { type EnvelopeV1, errorOf, outcomeOf } from "../protocol/envelope-v1.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { JobStep } from "../protocol/jobs.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { JobView } from "../protocol/replies/jobs.ts";
import type { RequestInput, RequestName } from "../protocol/requests.ts";
import type { Replies } from "./replies.ts";

/** Requests that are answered by records, and then by their end. */
type StreamName = Extract<RequestName, `${string}/watch`>;

export interface Client {
  /**
   * The daemon's answer; rejects with UNAVAILABLE if the connection breaks first. An abort of `signal` cancels the request
   * at the daemon, which completes a command all the same, and rejects with CANCELLED.
   */
  ask<N extends RequestName>(
    command: N,
    data: RequestInput<N>,
    signal?: AbortSignal,
  ): Promise<Outcome<Replies[N]>>;
  /** The value of the daemon's answer; throws its error. */
  request<N extends RequestName>(command: N, data: RequestInput<N>): Promise<Replies[N]>;
  /** Passes each record to `onRecord` and resolves with the terminal answer. Reading pauses until the promise of `onRecord` resolves. */
  watch(
    data: RequestInput<"agent/watch">,
    onRecord: (record: LogRecord) => void | Promise<void>,
  ): Promise<Replies["agent/watch"]>;
  tail(data: RequestInput<"jobs/tail">, onStep: (step: JobStep) => void | Promise<void>): Promise<JobView>;
  /** The same for the records of another stream. An abort of `signal` ends it with CANCELLED. */
  stream<N extends StreamName>(
    command: N,
    data: RequestInput<N>,
    onRecord: (record: LogRecord) => void | Promise<void>,
    signal?: AbortSignal,
  ): Promise<Replies[N]>;
  inFlight(): number;
  /** True when no more requests are possible. */
  isBroken(): boolean;
  close(): void;
}

/** The bytes of a connection: a socket, or a program that is joined to one. */
export interface Wire extends AsyncIterable<Buffer> {
  write(text: string): unknown;
  destroy(): unknown;
}

export const valueOrThrow = <T>(outcome: Outcome<T>): T => {
  if (outcome.ok) return outcome.value;
  throw outcome.error;
};

export const abandoned = (): HoldfastError => new HoldfastError("CANCELLED", "The request was given up.");

interface PendingRequest {
  readonly resolve: (outcome: Outcome<never>) => void;
  readonly reject: (error: HoldfastError) => void;
  readonly onRecord?: (record: LogRecord) => void | Promise<void>;
}

/** The daemon would refuse the request unread. JSON escapes some characters to six (`\u001b`), so a text can be larger as JSON. */
const tooLarge = (command: string, bytes: number): HoldfastError =>
  new HoldfastError(
    "REQUEST_TOO_LARGE",
    `The request ${command} has ${bytes} bytes as JSON; the limit is ${REQUEST_MAX_BYTES}.`,
    {
      phase: "validation",
      suggestion: "Put the text into a file in the worker's directory, and let the prompt name the file.",
    },
  );

/** The first request carries `token`, and the marker of the run in which this client runs. */
export const makeClient = (socket: Wire, token?: string, run?: string): Client =>
  new SocketClient(socket, { ...(token !== undefined && { token }), ...(run !== undefined && { run }) });

class SocketClient implements Client {
  private readonly socket: Wire;
  private readonly waiting = new Map<string, PendingRequest>();
  private readonly splitter = makeLineSplitter(REPLY_MAX_BYTES);
  private broken: HoldfastError | undefined;
  /** Request ids are unique only within their connection. */
  private sent = 0;
  /** The token and the marker, until the first request has carried them. */
  private unpresented: { readonly token?: string; readonly run?: string };

  constructor(socket: Wire, presented: { readonly token?: string; readonly run?: string }) {
    this.socket = socket;
    this.unpresented = presented;
    this.readAll().catch((cause) => {
      const broke = `The connection to the daemon broke: ${(cause as Error).message}.`;
      this.fail(cause instanceof HoldfastError ? cause : new HoldfastError("UNAVAILABLE", broke, { cause }));
    });
  }

  ask<N extends RequestName>(
    command: N,
    data: RequestInput<N>,
    signal?: AbortSignal,
  ): Promise<Outcome<Replies[N]>> {
    return this.send(command, data, undefined, signal);
  }

  /** The number of requests without an answer. */
  inFlight(): number {
    return this.waiting.size;
  }

  request<N extends RequestName>(command: N, data: RequestInput<N>): Promise<Replies[N]> {
    return this.send<Replies[N]>(command, data).then(valueOrThrow);
  }

  watch(
    data: RequestInput<"agent/watch">,
    onRecord: (record: LogRecord) => void | Promise<void>,
  ): Promise<Replies["agent/watch"]> {
    return this.stream("agent/watch", data, onRecord);
  }

  stream<N extends StreamName>(
    command: N,
    data: RequestInput<N>,
    onRecord: (record: LogRecord) => void | Promise<void>,
    signal?: AbortSignal,
  ): Promise<Replies[N]> {
    return this.send<Replies[N]>(command, data, onRecord, signal).then(valueOrThrow);
  }

  tail(data: RequestInput<"jobs/tail">, onStep: (step: JobStep) => void | Promise<void>): Promise<JobView> {
    const onRecord = (step: unknown) => onStep(step as JobStep);
    return this.send<JobView>("jobs/tail", data, onRecord).then(valueOrThrow);
  }

  isBroken(): boolean {
    return this.broken !== undefined;
  }

  close(): void {
    this.fail(new HoldfastError("CANCELLED", "The connection was closed."));
  }

  private fail(error: HoldfastError): void {
    this.broken ??= error;
    for (const each of this.waiting.values()) each.reject(this.broken);
    this.waiting.clear();
    this.socket.destroy();
  }

  /** Handles lines in order. While a slow terminal is written to, the socket is not read, so the daemon keeps the rest. */
  private async readAll(): Promise<never> {
    for await (const chunk of this.socket) {
      for (const line of this.splitter.push(chunk)) {
        if ("tooLong" in line)
          throw new HoldfastError(
            "OUTPUT_TOO_LARGE",
            `An answer of the daemon is over ${REPLY_MAX_BYTES} bytes.`,
          );
        await this.take(line.text);
      }
    }
    throw new HoldfastError("UNAVAILABLE", "The daemon went away before it had answered.", {
      suggestion: "Its agents keep running. Start the next one with: agent daemon start",
    });
  }

  private async take(line: Buffer): Promise<void> {
    const answer = JSON.parse(line.toString("utf8")) as EnvelopeV1;
    const { request_id } = answer.meta;
    // An answer without a request id concerns the connection: the daemon refused it, or could not read a line.
    if (request_id === undefined && answer.status === "error") throw errorOf(answer);
    const request = this.waiting.get(request_id ?? "");
    if (request === undefined) return;
    if (answer.status === "progress") return request.onRecord?.(answer.data as unknown as LogRecord);
    this.waiting.delete(request_id!);
    request.resolve(outcomeOf(answer) as Outcome<never>);
  }

  private send<T>(
    command: RequestName,
    data: unknown,
    onRecord?: PendingRequest["onRecord"],
    signal?: AbortSignal,
  ): Promise<Outcome<T>> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abandoned());
      if (this.broken) return reject(this.broken);
      const request_id = String(++this.sent);
      // The shown text needs the whole answer, so the request asks for it without artifacts.
      const meta = { request_id, inline_max_bytes: REPLY_MAX_BYTES, ...this.unpresented };
      const line = JSON.stringify({ version: 1, command, data, meta });
      const bytes = Buffer.byteLength(line);
      if (bytes > REQUEST_MAX_BYTES) return reject(tooLarge(command, bytes));
      this.unpresented = {};
      const cancel = (): void => this.cancel(request_id);
      const settled =
        <A>(settle: (value: A) => void) =>
        (value: A): void => {
          signal?.removeEventListener("abort", cancel);
          settle(value);
        };
      signal?.addEventListener("abort", cancel);
      this.waiting.set(request_id, { resolve: settled(resolve), reject: settled(reject), onRecord });
      this.socket.write(`${line}\n`);
    });
  }

  private cancel(request_id: string): void {
    const request = this.waiting.get(request_id);
    if (request === undefined) return;
    this.waiting.delete(request_id);
    // Its own answer, and that of the cancelled request, belong to nobody.
    const meta = { request_id: String(++this.sent) };
    const line = { version: 1, command: "request/cancel", data: { request_id }, meta };
    this.socket.write(`${JSON.stringify(line)}\n`);
    request.reject(abandoned());
  }
}

/** The cursor before the first record that is at most so old. A watch that ends where every log begins reads nothing. */
export const placeOfAge = async (client: Pick<Client, "watch">, age_ms: number): Promise<string> => {
  const query = { all: true, since_ms: Math.min(Math.ceil(age_ms), DURATION_MAX_MS), until: 0 };
  return (await client.watch(query, () => undefined)).cursor;
};
