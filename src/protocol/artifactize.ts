/**
 * Moves large data of a Protocol v1 envelope to an artifact (protocol-v1.txt, Artifactization). Data over the inline limit
 * becomes an artifact; the envelope then has its summary and digest. A result over the capture limit is refused:
 * EOUTPUT_TOO_LARGE. A record over it stays readable in the log.
 * The caller provides the store of artifacts. If it cannot keep one, because the disk is full for example, the result is
 * sent whole: a client that looks for what fills the disk needs the list most.
 */

import { parseSize } from "../base/durations.ts";
import {
  CAPTURE_MAX_BYTES,
  INLINE_MAX_BYTES,
  RAW_INLINE_MIN_BYTES,
  RAW_REPLY_REST_BYTES,
  REPLY_MAX_BYTES,
} from "../base/limits.ts";
import { dataOf } from "./envelope-v1.ts";
import { asHoldfastError, HoldfastError } from "./errors.ts";
import { failure, type Outcome } from "./outcome.ts";
import { holdsBytes, redactText, redactValue } from "./redact.ts";
import { type Summary, summaryOfJson } from "./summary.ts";

export interface OutputLimits {
  readonly inline_max_bytes: number;
  readonly capture_max_bytes: number;
}

/** Begins the hint of a result that was sent whole because its artifact could not be kept. */
export const SENT_WHOLE = "The result is sent whole, because it cannot be kept as an artifact";

/** Resolves to the digest once the bytes are kept. */
export type KeepArtifact = (bytes: Uint8Array) => Promise<string>;

export interface Artifactizer {
  /** The limit for a client that gives none. */
  readonly inline_max_bytes: number;
  /**
   * Returns the outcome unchanged if its value fits into an envelope. Never fails. `around` is a text that contains the
   * value's JSON, if the caller has one: if that text fits, the value is not serialised again to be measured.
   */
  outcome(
    outcome: Outcome<object>,
    inlineMax?: number,
    around?: string,
  ): Outcome<object> | Promise<Outcome<object>>;
  /** The replacement for a record (as JSON) in a progress line; undefined if the record fits. Never fails. */
  record(json: string, inlineMax?: number): Promise<object> | undefined;
}

/** `meta.cas_digest` of an envelope "MUST match data.artifact", so it is copied from there. */
export interface ArtifactizedData {
  readonly summary: Summary;
  readonly artifact: string;
}

/**
 * How many raw bytes go into an envelope with this limit. Raw bytes are not masked, so they never become an artifact; the
 * reader takes them in slices.
 */
export const bytesInline = (inlineMax: number): number =>
  Math.max(RAW_INLINE_MIN_BYTES, Math.floor((inlineMax - RAW_REPLY_REST_BYTES) / 4) * 3);

const isOver = (json: string, bytes: number): boolean =>
  // A UTF-16 unit is at most 3 bytes of UTF-8, so most texts need no counting.
  json.length * 3 > bytes && Buffer.byteLength(json) > bytes;

export const artifactizer = (keep: KeepArtifact, limits: OutputLimits): Artifactizer => {
  const { inline_max_bytes, capture_max_bytes } = limits;

  const moved = async (value: unknown): Promise<ArtifactizedData> => {
    if (holdsBytes(value))
      throw new HoldfastError("POLICY_VIOLATION", "It holds bytes in which secrets are not masked.");
    const masked = redactValue(value);
    const bytes = new TextEncoder().encode(JSON.stringify(masked));
    return { summary: summaryOfJson(masked, bytes.byteLength), artifact: await keep(bytes) };
  };

  const tooLarge = (outcome: Outcome<object>, size_bytes: number): Outcome<object> => {
    const { warnings = [] } = outcome;
    // A failed command keeps its own error, however large its result is.
    const error = outcome.ok
      ? new HoldfastError(
          "CAPTURE_TOO_LARGE",
          `The result has ${size_bytes} bytes, and at most ${capture_max_bytes} are captured.`,
          { details: { size_bytes, limit_bytes: capture_max_bytes } },
        )
      : outcome.error;
    return failure(error, warnings);
  };

  const inArtifact = async (outcome: Outcome<object>): Promise<Outcome<object>> => {
    try {
      return { ...outcome, value: await moved(outcome.value) };
    } catch (cause) {
      const warning = `${SENT_WHOLE}: ${redactText(asHoldfastError(cause).message)}`;
      // An envelope has no field for warnings, so the warning also goes into the hint.
      const hint = outcome.ok ? warning : `${outcome.error.suggestion} ${warning}`;
      const warnings = [...(outcome.warnings ?? []), warning];
      return { ...outcome, value: { ...outcome.value, hint }, warnings };
    }
  };

  return {
    inline_max_bytes,
    outcome: (outcome, inlineMax = inline_max_bytes, around) => {
      if (outcome.value === undefined || inlineMax >= REPLY_MAX_BYTES) return outcome;
      if (around !== undefined && !isOver(around, inlineMax)) return outcome;
      const json = JSON.stringify(dataOf(outcome));
      if (!isOver(json, inlineMax)) return outcome;
      return isOver(json, Math.max(capture_max_bytes, inlineMax))
        ? tooLarge(outcome, Buffer.byteLength(json))
        : inArtifact(outcome);
    },
    record: (json, inlineMax = inline_max_bytes) => {
      if (!isOver(json, inlineMax)) return undefined;
      return (async (): Promise<object> => {
        const { payload: _, ...head } = JSON.parse(json) as Record<string, unknown>;
        let why = "is over the capture limit";
        try {
          if (!isOver(json, capture_max_bytes)) return { ...head, ...(await moved(JSON.parse(json))) };
        } catch {
          why = "cannot be kept as an artifact";
        }
        const summary = summaryOfJson(redactValue(JSON.parse(json)), Buffer.byteLength(json));
        return {
          ...head,
          summary,
          hint: `The record ${why}: agent db export --from ${head.seq} --to ${head.seq}`,
        };
      })();
    },
  };
};

/** Reads HOLDFAST_INLINE_OUTPUT (`32KB`) and HOLDFAST_MAX_CAPTURE (`1MB`): the limits, and the problems with their values. */
export const outputLimits = (
  env: Readonly<Record<string, string | undefined>>,
): OutputLimits & { readonly problems: readonly string[] } => {
  const problems: string[] = [];
  const read = (name: string, otherwise: number): number => {
    const text = env[name];
    if (text === undefined || text === "") return otherwise;
    const bytes = parseSize(text);
    if (bytes === undefined) problems.push(`${name} is a size such as 32KB or 4MB, not "${text}"`);
    return bytes ?? otherwise;
  };
  const inline_max_bytes = read("HOLDFAST_INLINE_OUTPUT", INLINE_MAX_BYTES);
  const capture_max_bytes = read("HOLDFAST_MAX_CAPTURE", CAPTURE_MAX_BYTES);
  return { inline_max_bytes, capture_max_bytes, problems };
};
