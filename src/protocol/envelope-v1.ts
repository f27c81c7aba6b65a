/**
 * Protocol v1 envelopes (protocol-v1.txt): one line of JSON each. A stream has any number of `progress` lines with
 * `meta.seq` from 0, then exactly one terminal `ok` or `error` line. Handlers return outcomes and never see an envelope
 * (architecture §6). `meta.request_id` is ours, an optional field that the document allows.
 */

import { isoTime } from "../base/iso-time.ts";
import type { EnvelopeV1 } from "./envelope-schemas.ts";
import { ERROR_CATALOGUE, type ErrorCode, type ErrorDetails, HoldfastError } from "./errors.ts";
import { isDigest, isUlid } from "./forms.ts";
import type { Outcome, RunMeta } from "./outcome.ts";
import { holdsBytes, redactText, redactValue } from "./redact.ts";
import { answerText } from "./same-answers.ts";

export type { EnvelopeV1 };
export type OkEnvelope = Extract<EnvelopeV1, { status: "ok" }>;
export type ErrorEnvelope = Extract<EnvelopeV1, { status: "error" }>;
export type ProgressEnvelope = Extract<EnvelopeV1, { status: "progress" }>;

/** Members that all answers to a request share. */
export interface EnvelopeHead {
  /** `namespace/verb` */
  readonly command: string;
  /** The abilities of the responder, given in a terminal envelope. */
  readonly profiles: readonly string[];
  readonly request_id?: string;
  readonly trace_id?: string;
}

/** When an envelope is made: wall time, and milliseconds since the request arrived. */
export interface EnvelopeTime {
  readonly now_ms: number;
  readonly duration_ms: number;
}

const NO_ERROR = { code: null, message: null } as const;
/** protocol-v1.txt, Versioning and compatibility. */
export const PROTOCOL_VERSION = 1;

const metaOf = (head: EnvelopeHead, time: EnvelopeTime) => ({
  ts: isoTime(time.now_ms),
  duration_ms: Math.max(0, Math.round(time.duration_ms)),
  ...(head.trace_id !== undefined && { trace_id: redactText(head.trace_id) }),
  ...(head.request_id !== undefined && { request_id: head.request_id }),
});

/** `cache_key` is present only on a cache hit: it names the answer that the caller already has. */
const terminalMeta = (head: EnvelopeHead, time: EnvelopeTime, data: object, cache_key?: string) => ({
  ...metaOf(head, time),
  profiles: [...head.profiles],
  source: cache_key === undefined ? ("run" as const) : ("cache" as const),
  ...digestIn(data),
  ...jobIn(data),
  ...(cache_key !== undefined && { cache_key }),
});

/** protocol-v1.txt, meta: `cas_digest`, "if set MUST match data.artifact". */
const digestIn = ({ artifact }: { readonly artifact?: unknown }): { cas_digest?: string } =>
  isDigest(artifact) ? { cas_digest: artifact } : {};

/** protocol-v1.txt, meta: `job_id`, "ULID for async jobs". */
const jobIn = ({ job_id }: { readonly job_id?: unknown }): { job_id?: string } =>
  typeof job_id === "string" && isUlid(job_id) ? { job_id } : {};

interface TerminalFacts {
  readonly cache_key?: string | undefined;
  readonly run?: RunMeta | undefined;
}

export const okEnvelope = (
  head: EnvelopeHead,
  time: EnvelopeTime,
  data: object,
  { cache_key, run }: TerminalFacts = {},
): OkEnvelope => ({
  version: 1,
  status: "ok",
  command: head.command,
  data: (holdsBytes(data) ? data : redactValue(data)) as Record<string, unknown>,
  meta: { ...terminalMeta(head, time, data, cache_key), ...run },
  error: NO_ERROR,
});

/** `data` holds what was done before the failure (the results by id, for example); `data.hint` is the next step for the caller. */
export const errorEnvelope = (
  head: EnvelopeHead,
  time: EnvelopeTime,
  error: HoldfastError,
  data: object = {},
): ErrorEnvelope => ({
  version: 1,
  status: "error",
  command: head.command,
  data: errorData(error, data),
  meta: terminalMeta(head, time, data),
  error: { code: error.row.v1, message: redactText(error.message), details: detailsOf(error) },
});

export const progressEnvelope = (
  head: EnvelopeHead,
  time: EnvelopeTime,
  seq: number,
  data: object,
): ProgressEnvelope => ({
  version: 1,
  status: "progress",
  command: head.command,
  data: data as Record<string, unknown>,
  meta: { ...metaOf(head, time), ...digestIn(data), seq },
  error: NO_ERROR,
});

export const terminalEnvelope = (
  head: EnvelopeHead,
  time: EnvelopeTime,
  outcome: Outcome<unknown>,
  cache_key?: string,
): OkEnvelope | ErrorEnvelope =>
  outcome.ok
    ? okEnvelope(head, time, objectOf(outcome.value), { cache_key, run: outcome.run })
    : errorEnvelope(head, time, outcome.error, objectOf(outcome.value));

const errorData = (error: HoldfastError, data: object): Record<string, unknown> => ({
  hint: redactText(error.suggestion),
  ...redactValue(data),
});

/** `data` of the terminal envelope. */
export const dataOf = (outcome: Outcome<unknown>): object => {
  const data = objectOf(outcome.value);
  return outcome.ok ? data : errorData(outcome.error, data);
};

/** protocol-v1.txt, Field descriptions: `data` is an object. */
const objectOf = (value: unknown): object => {
  if (value === undefined || value === null) return {};
  return typeof value === "object" && !Array.isArray(value) ? value : { value };
};

/** Gives the line of `encodeEnvelope(terminalEnvelope(…))`. */
export const encodeTerminal = (
  head: EnvelopeHead,
  time: EnvelopeTime,
  outcome: Outcome<unknown>,
  cache_key?: string,
): string => {
  const data = objectOf(outcome.value);
  if (!outcome.ok || holdsBytes(data))
    return encodeEnvelope(terminalEnvelope(head, time, outcome, cache_key));
  const meta = { ...terminalMeta(head, time, data, cache_key), ...outcome.run };
  return `{"version":1,"status":"ok","command":${JSON.stringify(head.command)},"data":${answerText(head.command, data)},"meta":${JSON.stringify(meta)},"error":${JSON.stringify(NO_ERROR)}}\n`;
};

export const encodeEnvelope = (envelope: EnvelopeV1): string => `${JSON.stringify(envelope)}\n`;

/** The facts of the error, with its code. `attempts`, `backoff` and `retry_after` (seconds) are named as in Retry transparency. */
const detailsOf = ({ code, info }: HoldfastError): Record<string, unknown> =>
  redactValue({
    ...info.details,
    code,
    ...(info.detail !== undefined && { detail: info.detail }),
    ...(info.problems !== undefined && { problems: info.problems }),
    ...(info.suggestion !== undefined && { suggestion: info.suggestion }),
    ...(info.phase !== undefined && { phase: info.phase }),
    ...(info.attempts !== undefined && { attempts: info.attempts }),
    ...(info.backoff !== undefined && { backoff: info.backoff }),
    ...(info.retry_after_s !== undefined && { retry_after: info.retry_after_s }),
    ...(info.redirect !== undefined && { redirect: info.redirect }),
  });

/** The outcome in a terminal envelope, with the original error. An unknown code (of a newer version) becomes INTERNAL. */
export const outcomeOf = (envelope: OkEnvelope | ErrorEnvelope): Outcome<Record<string, unknown>> => {
  if (envelope.status === "ok") return { ok: true, value: envelope.data, ...runIn(envelope.meta) };
  const { hint: _hint, ...value } = envelope.data;
  return { ok: false, error: errorOf(envelope), ...(Object.keys(value).length > 0 && { value }) };
};

/** The answer of a skill says how it was made. */
const runIn = ({ runner, workspace, job_id, skill_version }: OkEnvelope["meta"]): { run?: RunMeta } =>
  runner && workspace !== undefined && job_id !== undefined && skill_version !== undefined
    ? { run: { runner, workspace, job_id, skill_version } }
    : {};

/** The error of an error envelope. */
export const errorOf = ({ error }: ErrorEnvelope): HoldfastError => {
  const { code, detail, problems, suggestion, phase, attempts, backoff, retry_after, ...details } =
    error.details ?? {};
  const known =
    typeof code === "string" && Object.hasOwn(ERROR_CATALOGUE, code) ? (code as ErrorCode) : "INTERNAL";
  return new HoldfastError(known, error.message, {
    ...(typeof detail === "string" && { detail }),
    ...(Array.isArray(problems) && { problems: problems.map(String) }),
    ...(typeof suggestion === "string" && { suggestion }),
    ...(isPhase(phase) && { phase }),
    ...(typeof attempts === "number" && { attempts }),
    ...(typeof backoff === "string" && { backoff }),
    ...(typeof retry_after === "number" && { retry_after_s: retry_after }),
    ...(Object.keys(details).length > 0 && { details }),
  });
};

const isPhase = (phase: unknown): phase is ErrorDetails["phase"] =>
  phase === "validation" || phase === "execution" || phase === "cleanup";

/** The answer to one request, as lines in the order that the protocol demands. */
export interface EnvelopeStream {
  /** Returns one progress line for each record (the JSON text of an object). The lines share one time. */
  progress(records: readonly string[], time: EnvelopeTime, meta?: ProgressMeta): string;
  /** The progress line of a record whose payload moved to an artifact (`artifactize.ts`). */
  moved(data: object, time: EnvelopeTime): string;
  /** The terminal line; `cache_key` if the caller already has the answer. Any later call is a defect and throws INTERNAL. */
  end(outcome: Outcome<unknown>, time: EnvelopeTime, cache_key?: string): string;
}

export const envelopeStream = (head: EnvelopeHead): EnvelopeStream => {
  let seq = 0;
  let ended = false;
  const open = (): void => {
    if (ended)
      throw new HoldfastError("INTERNAL", `An envelope of ${head.command} was to follow the terminal one.`);
  };
  return {
    progress: (records, time, meta) => {
      open();
      const frame = progressFrame(head, time, meta);
      let lines = "";
      for (const record of records) lines += progressLine(frame, seq++, record);
      return lines;
    },
    moved: (data, time) => {
      open();
      return encodeEnvelope(progressEnvelope(head, time, seq++, data));
    },
    end: (outcome, time, cache_key) => {
      open();
      ended = true;
      return encodeTerminal(head, time, outcome, cache_key);
    },
  };
};

/** The text around the data and the seq of a progress line, which many lines share. */
export interface ProgressFrame {
  readonly beforeData: string;
  readonly beforeSeq: string;
  readonly end: string;
}

/** protocol-v1.txt, meta: the job that a progress line tells of; `final`: it is the last one of the stream. */
export interface ProgressMeta {
  readonly job_id?: string | undefined;
  readonly final?: true | undefined;
}

export const progressFrame = (
  head: EnvelopeHead,
  time: EnvelopeTime,
  { job_id, final }: ProgressMeta = {},
): ProgressFrame => ({
  beforeData: `{"version":1,"status":"progress","command":${JSON.stringify(head.command)},"data":`,
  beforeSeq: `,"meta":${JSON.stringify({ ...metaOf(head, time), ...(job_id && { job_id }) }).slice(0, -1)},"seq":`,
  end: `${final ? ',"final":true' : ""}},"error":${JSON.stringify(NO_ERROR)}}\n`,
});

/** Gives the line of `encodeEnvelope(progressEnvelope(…))` without parsing and printing the record again. */
export const progressLine = (frame: ProgressFrame, seq: number, recordJson: string): string =>
  frame.beforeData + recordJson + frame.beforeSeq + seq + frame.end;
