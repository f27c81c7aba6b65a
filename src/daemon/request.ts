/**
 * Parses one request line of the socket (architecture §7): checks the frame, then the command's own data. All
 * problems of a request are reported at once. Pure.
 */

import * as z from "zod";
import {
  REPLY_MAX_BYTES,
  REQUEST_ID_MAX_CHARS,
  REQUEST_MAX_DEPTH,
  RUN_MARKER_MAX_CHARS,
  TOKEN_MAX_CHARS,
} from "../base/limits.ts";
import { nearest } from "../base/suggest.ts";
import type { EnvelopeHead } from "../protocol/envelope-v1.ts";
import { type ErrorCode, type ErrorDetails, HoldfastError } from "../protocol/errors.ts";
import { COMMAND_FORM } from "../protocol/forms.ts";
import { problemsOf } from "../protocol/problems.ts";
import { isTellable } from "../protocol/redact.ts";
import { isRequestName, type RequestData, type RequestName, Requests } from "../protocol/requests.ts";
import { duplicateIn } from "../protocol/validate/json.ts";
import { PROFILES } from "./profiles.ts";

export type CommandRequest = {
  readonly [N in RequestName]: { readonly name: N; readonly data: RequestData<N> };
}[RequestName];
/** Cancelling concerns the connection. It is not a command of the runtime. */
export interface CancelRequest {
  readonly name: "request/cancel";
  readonly data: { readonly request_id: string };
}

export interface CheckedRequest {
  readonly head: EnvelopeHead;
  readonly request: CommandRequest | CancelRequest;
  readonly token?: string | undefined;
  /** The marker of the run in which the client says it is. */
  readonly run?: string | undefined;
  /** The bytes that the client accepts in an envelope. Default: INLINE_MAX_BYTES. */
  readonly inline_max_bytes?: number | undefined;
}
export type ParsedRequest = CheckedRequest | { readonly head: EnvelopeHead; readonly error: HoldfastError };

/** The command in an answer to a request that named none. */
export const UNREADABLE: EnvelopeHead = { command: "request/read", profiles: PROFILES };

const id = z.string().min(1).max(REQUEST_ID_MAX_CHARS);
/** Answers repeat the id unchanged. */
const requestId = id.refine(
  isTellable,
  "answers repeat the id, and this one looks like a secret: choose another one",
);
/** Unknown members are accepted, so that a newer client can talk to an older daemon. */
const Frame = z.object({
  version: z.literal(1),
  /** protocol-v1.txt, Field descriptions. */
  command: z.string().max(128).regex(COMMAND_FORM, "a command is written namespace/verb"),
  data: z.record(z.string(), z.unknown()).default({}),
  meta: z
    .object({
      request_id: requestId.optional(),
      trace_id: id.optional(),
      token: z.string().max(TOKEN_MAX_CHARS).optional(),
      run: z.string().max(RUN_MARKER_MAX_CHARS).optional(),
      inline_max_bytes: z.int().min(0).max(REPLY_MAX_BYTES).optional(),
    })
    .default({}),
});
const Cancel = z.strictObject({ request_id: id });

/** A byte order mark is not JSON: nothing is accepted that another reader would refuse. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export const parseRequest = (line: Buffer): ParsedRequest => {
  const read = readJson(line);
  return "error" in read ? { head: UNREADABLE, error: read.error } : checkRequest(read.json);
};

/** A value of JSON in UTF-8 that every reader reads alike, within the bounds of a request; or the mistake in it. */
export const readJson = (bytes: Buffer): { readonly json: unknown } | { readonly error: HoldfastError } => {
  const wrong = (code: ErrorCode, sentence: string, cause?: unknown) => ({
    error: new HoldfastError(code, sentence, { cause, phase: "validation" }),
  });
  if (isTooDeep(bytes))
    return wrong("REQUEST_TOO_LARGE", `A request nests at most ${REQUEST_MAX_DEPTH} levels deep.`);
  let json: unknown;
  let text: string;
  try {
    text = utf8.decode(bytes);
    json = JSON.parse(text);
  } catch (cause) {
    return wrong("PARSE_ERROR", "The request is not JSON in UTF-8.", cause);
  }
  // JSON readers differ in which of two equal members they use, so the request is refused.
  const twice = duplicateIn(text);
  return twice === undefined
    ? { json }
    : wrong("ENVELOPE_INVALID", `The request has the member ${twice} twice.`);
};

/** Checks the frame, then the command's own data. */
export const checkRequest = (json: unknown): ParsedRequest => {
  const frame = Frame.safeParse(json);
  if (!frame.success) {
    return {
      head: headOf(json),
      error: invalid("ENVELOPE_INVALID", "The request is not a Protocol v1 request.", frame.error),
    };
  }
  const { command, data } = frame.data;
  const { token, run, inline_max_bytes, ...meta } = frame.data.meta;
  const head: EnvelopeHead = { command, profiles: PROFILES, ...meta };
  if (command !== "request/cancel" && !isRequestName(command))
    return { head, error: unknownCommand(command) };
  const checked = (command === "request/cancel" ? Cancel : Requests[command]).safeParse(data);
  if (!checked.success)
    return { head, error: invalid("INVALID_REQUEST", `The data of ${command} is not valid.`, checked.error) };
  return {
    head,
    token,
    run,
    inline_max_bytes,
    request: { name: command, data: checked.data } as CommandRequest | CancelRequest,
  };
};

const [QUOTE, ESCAPE, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\[]{}');

/** Counted in the bytes, before anything is built. A short line cannot be too deep. */
const isTooDeep = (line: Buffer): boolean => {
  if (line.length <= 2 * REQUEST_MAX_DEPTH) return false;
  let depth = 0;
  let inString = false;
  for (let at = 0; at < line.length; at += 1) {
    const byte = line[at];
    if (inString) {
      if (byte === ESCAPE) at += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth > REQUEST_MAX_DEPTH) return true;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
  }
  return false;
};

/** INVALID_REQUEST for checks that a schema cannot express. */
export const invalidRequest = (problems: readonly string[]): HoldfastError =>
  new HoldfastError(
    "INVALID_REQUEST",
    problems.length === 1 ? problems[0]! : `The request has ${problems.length} problems.`,
    {
      problems,
      phase: "validation",
    },
  );

const invalid = (
  code: "ENVELOPE_INVALID" | "INVALID_REQUEST",
  sentence: string,
  error: z.ZodError,
): HoldfastError => {
  const problems = problemsOf(error);
  return new HoldfastError(
    code,
    problems.length === 1 ? `${sentence.slice(0, -1)}: ${problems[0]}.` : sentence,
    { problems, phase: "validation" },
  );
};

const unknownCommand = (command: string): HoldfastError => {
  const near = nearest(command, Object.keys(Requests));
  const info: ErrorDetails = near === undefined ? {} : { suggestion: `Did you mean ${near}?` };
  return new HoldfastError("UNKNOWN_COMMAND", `There is no command ${command}.`, {
    ...info,
    phase: "validation",
  });
};

/** The head of an invalid frame, so that the client can tell which of its requests was refused. */
const headOf = (json: unknown): EnvelopeHead => {
  const loose = z
    .object({
      command: Frame.shape.command.catch(UNREADABLE.command),
      meta: z
        .object({
          request_id: requestId.optional().catch(undefined),
          trace_id: id.optional().catch(undefined),
        })
        .catch({}),
    })
    .safeParse(json);
  return loose.success ? { ...UNREADABLE, command: loose.data.command, ...loose.data.meta } : UNREADABLE;
};
