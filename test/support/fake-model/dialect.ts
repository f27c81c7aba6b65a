/**
 * The question of a request and the parts of a reply, whatever the wire. A dialect reads the one and writes the other; both are
 * pure but for the ids. The server keeps no conversation: all that a scenario goes by is in the request.
 */
import { randomUUID } from "node:crypto";

export interface Tool {
  readonly name: string;
  readonly schema?: { readonly properties?: Readonly<Record<string, unknown>> };
}

export interface Ask {
  /** Texts of the user's messages that are no tool's results, in their order. */
  readonly prompts: readonly string[];
  /** Rounds of tool results after the last of them. */
  readonly round: number;
  /** The results of the last round's tools. */
  readonly results: readonly string[];
  /** Without any it is a side request: a title, a summary, a probe. */
  readonly tools: readonly Tool[];
  readonly model: string;
  readonly stream: boolean;
  /** The form of the answer that the request demands. */
  readonly schema?: unknown;
}

export type Block =
  | { readonly kind: "text" | "thinking"; readonly text: string }
  | { readonly kind: "call"; readonly name: string; readonly input: Readonly<Record<string, unknown>> };

/**
 * `silence`, `cut`, `reset` and `garbage` come in the middle of the last block: the line stays open, is dropped, is reset, or goes on with
 * something that is no JSON.
 */
export type End = "stop" | "refusal" | "max_tokens" | "silence" | "cut" | "reset" | "garbage" | Failure;

/** In the Responses API the stream ends with `response.failed`; the others answer with an HTTP error. */
export type Failure = "overflow" | "quota" | "nomodel";

export interface FailedReply {
  readonly status: number;
  readonly body: unknown;
}

export interface Reply {
  readonly blocks: readonly Block[];
  readonly end: End;
}

/** The data of one server-sent event. */
export interface ServerEvent {
  readonly [field: string]: unknown;
}

export interface Dialect {
  /** `path` is that of the request, without the prefix of a scenario. */
  read(body: Readonly<Record<string, unknown>>, path: string): Ask;
  /** The reply as it is streamed. After `silence` and `cut` the events stop where the line does. */
  events(reply: Reply, model: string): Iterable<ServerEvent>;
  /** The reply in one piece, for requests that do not stream. */
  whole(reply: Reply, model: string): unknown;
  error(status: number): unknown;
  /** The HTTP error for a failure that this dialect does not tell in its stream. */
  failures?: Readonly<Record<Failure, FailedReply>>;
  /** An event as it goes over the wire. */
  frame(event: ServerEvent): string;
}

/** With the event's `type` as its name. */
export const named = (event: ServerEvent): string => `event: ${event.type}\n${unnamed(event)}`;

export const unnamed = (event: ServerEvent): string => `data: ${JSON.stringify(event)}\n\n`;

const BROKEN: ReadonlySet<End> = new Set(["silence", "cut", "reset", "garbage"]);
export const isBroken = (end: End): boolean => BROKEN.has(end);

export const newId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll("-", "").slice(0, 20)}`;

/** The same for every reply, so that tests can add up. */
export const USAGE = { input: 1_234, cached: 100, output: 56 } as const;

const DELTAS_MIN = 4;
const DELTA_MAX_CHARS = 2_048;

/** Cuts a text between code points into at least four deltas, so that every reader has to join. */
export const deltas = (text: string): readonly string[] => {
  const points = Array.from(text);
  const size = Math.max(1, Math.min(DELTA_MAX_CHARS, Math.ceil(points.length / DELTAS_MIN)));
  return Array.from({ length: Math.ceil(points.length / size) }, (_, index) =>
    points.slice(index * size, (index + 1) * size).join(""),
  );
};

/** Text of a message's content: a string, or a list of parts of which some have text. */
export const textOf = (content: unknown): string => {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map(({ text }: { text?: unknown }) => (typeof text === "string" ? text : "")).join("\n");
};
