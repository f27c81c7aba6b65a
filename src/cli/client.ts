/**
 * The client's end of the socket (architecture §7): one connection, any number of requests, answers told apart by
 * their request id. It loads nothing but Node's own modules.
 */
import type { Socket } from "node:net";
import { REPLY_MAX_BYTES, REQUEST_MAX_BYTES } from "../base/limits.ts";
import { makeLineSplitter } from "../daemon/line-splitter.ts";
import type { Replies } from "../daemon/replies.ts";
import { type EnvelopeV1, errorOf, outcomeOf } from "../protocol/envelope-v1.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { RequestInput, RequestName } from "../protocol/requests.ts";

export interface Client {
  /** The daemon's answer; rejects with UNAVAILABLE when the connection breaks first. */
  ask<N extends RequestName>(command: N, data: RequestInput<N>): Promise<Outcome<Replies[N]>>;
  /** The same for the usual case: the value, or the daemon's error thrown. */
  request<N extends RequestName>(command: N, data: RequestInput<N>): Promise<Replies[N]>;
  /** Hands each record to `onRecord`; resolves with the terminal answer. Reading pauses while `onRecord`'s promise is open. */
  watch(
    data: RequestInput<"agent/watch">,
    onRecord: (record: LogRecord) => void | Promise<void>,
  ): Promise<Replies["agent/watch"]>;
  /** Nothing can be asked any more. */
  isBroken(): boolean;
  close(): void;
}

const valueOrThrow = <T>(outcome: Outcome<T>): T => {
  if (outcome.ok) return outcome.value;
  throw outcome.error;
};

interface Waiting {
  readonly resolve: (outcome: Outcome<never>) => void;
  readonly reject: (error: HoldfastError) => void;
  readonly onRecord?: (record: LogRecord) => void | Promise<void>;
}

/** It would be refused unread. JSON writes some characters as six (`\u001b`), so that a text may be larger there than it is. */
const tooLarge = (command: string, bytes: number): HoldfastError =>
  new HoldfastError(
    "REQUEST_TOO_LARGE",
    `The request ${command} has ${bytes} bytes as JSON, and at most ${REQUEST_MAX_BYTES} are taken.`,
    {
      phase: "validation",
      suggestion: "Put the text into a file in the worker's directory, and let the prompt name the file.",
    },
  );

/** `token` is presented with the first request, and so is the marker of the run in which this client is. */
export const makeClient = (socket: Socket, token?: string, run?: string): Client => {
  const waiting = new Map<string, Waiting>();
  const splitter = makeLineSplitter(REPLY_MAX_BYTES);
  let broken: HoldfastError | undefined;
  /** Request ids need be unique on their connection only. */
  let sent = 0;
  /** The first request that is sent has the token and the marker. */
  let hasPresented = false;

  const fail = (error: HoldfastError): void => {
    broken ??= error;
    for (const each of waiting.values()) each.reject(broken);
    waiting.clear();
    socket.destroy();
  };

  const take = async (line: Buffer): Promise<void> => {
    const answer = JSON.parse(line.toString("utf8")) as EnvelopeV1;
    const { request_id } = answer.meta;
    // An answer that names no request is about the whole connection: it was turned away, or a line of it could not be read.
    if (request_id === undefined && answer.status === "error") throw errorOf(answer);
    const request = waiting.get(request_id ?? "");
    if (request === undefined) return;
    if (answer.status === "progress") return request.onRecord?.(answer.data as unknown as LogRecord);
    waiting.delete(request_id!);
    request.resolve(outcomeOf(answer) as Outcome<never>);
  };

  /** Lines are taken in order; the socket rests while a slow terminal is written to, so the daemon holds the rest back. */
  const readAll = async (): Promise<void> => {
    for await (const chunk of socket) {
      for (const line of splitter.push(chunk as Buffer)) {
        if ("tooLong" in line)
          throw new HoldfastError(
            "OUTPUT_TOO_LARGE",
            `An answer of the daemon is over ${REPLY_MAX_BYTES} bytes.`,
          );
        await take(line.text);
      }
    }
    throw new HoldfastError("UNAVAILABLE", "The daemon went away before it had answered.", {
      suggestion: "Agents go on without it. Start the next one with: agent daemon start",
    });
  };

  readAll().catch((cause) =>
    fail(
      cause instanceof HoldfastError
        ? cause
        : new HoldfastError(
            "UNAVAILABLE",
            `The connection to the daemon broke: ${(cause as Error).message}.`,
            { cause },
          ),
    ),
  );

  const send = <T>(
    command: RequestName,
    data: unknown,
    onRecord?: Waiting["onRecord"],
  ): Promise<Outcome<T>> =>
    new Promise((resolve, reject) => {
      if (broken) return reject(broken);
      const request_id = String(++sent);
      // The text that is shown is made of the whole answer: nothing of it moves to an artifact on its way.
      const whole = { request_id, inline_max_bytes: REPLY_MAX_BYTES };
      const meta = hasPresented
        ? whole
        : { ...whole, ...(token === undefined ? {} : { token }), ...(run === undefined ? {} : { run }) };
      const line = JSON.stringify({ version: 1, command, data, meta });
      const bytes = Buffer.byteLength(line);
      if (bytes > REQUEST_MAX_BYTES) return reject(tooLarge(command, bytes));
      hasPresented = true;
      waiting.set(request_id, { resolve, reject, onRecord });
      socket.write(`${line}\n`);
    });

  return {
    ask: (command, data) => send(command, data),
    request: (command, data) => send<Replies[typeof command]>(command, data).then(valueOrThrow),
    watch: (data, onRecord) => send<Replies["agent/watch"]>("agent/watch", data, onRecord).then(valueOrThrow),
    isBroken: () => broken !== undefined,
    close: () => fail(new HoldfastError("CANCELLED", "The connection was closed.")),
  };
};
