/**
 * The client's end of HTTP: each request is a POST of its own, and its envelopes are those of the socket. It has no
 * timeouts, because a wait or a watch may be silent for hours; a request that is given up ends its connection.
 */
import type { ClientRequest, IncomingMessage } from "node:http";
import { HTTP_CONNECTIONS_MAX, REPLY_MAX_BYTES } from "../base/limits.ts";
import { makeLineSplitter } from "../base/line-splitter.ts";
import { type EnvelopeV1, outcomeOf } from "../protocol/envelope-v1.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { RequestName } from "../protocol/requests.ts";
import { abandoned, type Client, valueOrThrow } from "./client.ts";

type TakeItem = (item: never) => void | Promise<void>;

/** `url`: `http://HOST:PORT` or `https://HOST`, with the path before `/api` if a proxy has one. */
export const makeHttpClient = (url: URL, token: string | undefined): Client => {
  const { Agent, request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  const agent = new Agent({ keepAlive: true, maxSockets: HTTP_CONNECTIONS_MAX });
  const open = new Set<ClientRequest>();
  let broken: HoldfastError | undefined;

  const lost = (cause: NodeJS.ErrnoException): HoldfastError =>
    cause.code === "ECONNREFUSED"
      ? new HoldfastError("SUPERVISOR_DOWN", `Nobody answers at ${url.origin}.`, {
          cause,
          suggestion: "Start the daemon there with: agent daemon start --http",
        })
      : new HoldfastError("UNAVAILABLE", `The connection to ${url.origin} broke: ${cause.message}.`, {
          cause,
        });

  const send = <T>(
    name: RequestName,
    data: unknown,
    take?: TakeItem,
    signal?: AbortSignal,
  ): Promise<Outcome<T>> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abandoned());
      if (broken) return reject(broken);
      const body = JSON.stringify(data);
      const sent = request(below(url, name), {
        agent,
        method: "POST",
        headers: {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
          "x-inline-max-bytes": REPLY_MAX_BYTES,
          ...bearer(token),
        },
      });
      open.add(sent);
      const cancel = () => sent.destroy();
      signal?.addEventListener("abort", cancel);
      const fail = (cause: unknown): void => {
        const isOurs = signal?.aborted === true || cause instanceof HoldfastError;
        if (!isOurs) broken ??= lost(cause as NodeJS.ErrnoException);
        reject(signal?.aborted ? abandoned() : cause instanceof HoldfastError ? cause : broken);
      };
      sent.once("close", () => {
        open.delete(sent);
        signal?.removeEventListener("abort", cancel);
      });
      sent.once("error", fail);
      sent.once("response", (response) => {
        answerIn(response, take).then((answer) => resolve(outcomeOf(answer) as Outcome<T>), fail);
      });
      sent.end(body);
    });

  const value = <T>(outcome: Promise<Outcome<T>>): Promise<T> => outcome.then(valueOrThrow);

  return {
    ask: (name, data, signal) => send(name, data, undefined, signal),
    request: (name, data) => value(send(name, data)),
    watch: (data, take) => value(send("agent/watch", data, take)),
    stream: (name, data, take) => value(send(name, data, take)),
    tail: (data, take) => value(send("jobs/tail", data, take)),
    inFlight: () => open.size,
    isBroken: () => broken !== undefined,
    close: () => {
      broken ??= new HoldfastError("CANCELLED", "The connection was closed.");
      for (const one of open) one.destroy(broken);
      agent.destroy();
    },
  };
};

const below = (url: URL, path: string): URL => new URL(`${url.pathname.replace(/\/$/, "")}/api/${path}`, url);

const bearer = (token: string | undefined) =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/** The bytes of an artifact. Rejects with ARTIFACT_NOT_FOUND. */
export const artifactAt = async (
  url: URL,
  token: string | undefined,
  digest: string,
): Promise<Uint8Array> => {
  const response = await fetch(below(url, `artifacts/${digest}`), { headers: bearer(token) });
  if (response.ok) return new Uint8Array(await response.arrayBuffer());
  const answer = outcomeOf(envelopeIn(await response.text(), response.status) as TerminalEnvelope);
  throw answer.ok ? new HoldfastError("ENVELOPE_INVALID", "The answer is no artifact.") : answer.error;
};

type TerminalEnvelope = Exclude<EnvelopeV1, { readonly status: "progress" }>;

/** The terminal envelope of a response; the items before it are taken one after the other. */
const answerIn = async (response: IncomingMessage, take: TakeItem | undefined): Promise<TerminalEnvelope> => {
  const splitter = makeLineSplitter(REPLY_MAX_BYTES);
  for await (const chunk of response)
    for (const line of splitter.push(chunk as Buffer)) {
      if ("tooLong" in line)
        throw new HoldfastError("OUTPUT_TOO_LARGE", `An answer is over ${REPLY_MAX_BYTES} bytes.`);
      const envelope = envelopeIn(line.text.toString("utf8"), response.statusCode ?? 0);
      if (envelope.status !== "progress") return envelope;
      await take?.(envelope.data as never);
    }
  throw new HoldfastError("UNAVAILABLE", "The daemon went away before it had answered.");
};

/** A proxy may answer in the place of the daemon. */
const envelopeIn = (line: string, statusCode: number): EnvelopeV1 => {
  try {
    const read = JSON.parse(line) as EnvelopeV1;
    if (read.meta !== undefined && typeof read.status === "string") return read;
  } catch {
    // No JSON.
  }
  const isAway = statusCode >= 502 && statusCode <= 504;
  throw new HoldfastError(
    isAway ? "UNAVAILABLE" : "ENVELOPE_INVALID",
    `The answer with the HTTP status ${statusCode} is not that of a Holdfast daemon.`,
    { suggestion: "Compare the URL with that of `agent daemon status`." },
  );
};
