/**
 * Data of a Protocol v1 envelope that is over the inline limit moves to an artifact; the envelope has its summary and its digest
 * (protocol-v1.txt, Artifactization). A result that is over the capture limit is refused: EOUTPUT_TOO_LARGE. The caller decides the place of artifacts; if they cannot be kept, on a full disk say, a result is sent whole: a caller with too much is better off
 * than one with nothing, and the one who looks for what fills the disk needs the list most. A record is in the log, where it can be read.
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

/** In the hint of a result that is over the limit because it could not be kept. */
export const SENT_WHOLE = "The result is sent whole, because it cannot be kept as an artifact";

/** Answers the digest, once the bytes are kept. */
export type Keep = (bytes: Uint8Array) => Promise<string>;

export interface Artifactizer {
  /** The limit for who says none. */
  readonly inline_max_bytes: number;
  /**
   * The outcome as it is, where its value has room in an envelope. Never fails. `around`: a text that holds its JSON, where the
   * caller has one; it is then mostly not made again to be measured.
   */
  outcome(
    outcome: Outcome<object>,
    inlineMax?: number,
    around?: string,
  ): Outcome<object> | Promise<Outcome<object>>;
  /** The stand-in of a record in a progress line, given as its JSON; undefined where the record has room itself. Never fails. */
  record(json: string, inlineMax?: number): Promise<object> | undefined;
}

/** `meta.cas_digest` of an envelope "MUST match data.artifact": it is taken from there. */
export interface Artifactized {
  readonly summary: Summary;
  readonly artifact: string;
}

/** How many bytes of what nobody has masked go into an envelope with so much room: they never become an artifact, so the reader takes them in slices. */
export const bytesInline = (inlineMax: number): number =>
  Math.max(RAW_INLINE_MIN_BYTES, Math.floor((inlineMax - RAW_REPLY_REST_BYTES) / 4) * 3);

const isOver = (json: string, bytes: number): boolean =>
  // A UTF-16 unit is at most 3 bytes of UTF-8, so most texts need no counting.
  json.length * 3 > bytes && Buffer.byteLength(json) > bytes;

export const artifactizer = (keep: Keep, limits: OutputLimits): Artifactizer => {
  const { inline_max_bytes, capture_max_bytes } = limits;

  const moved = async (value: unknown): Promise<Artifactized> => {
    if (holdsBytes(value))
      throw new HoldfastError("POLICY_VIOLATION", "It holds bytes that nobody has masked.");
    const masked = redactValue(value);
    const bytes = new TextEncoder().encode(JSON.stringify(masked));
    return { summary: summaryOfJson(masked, bytes.byteLength), artifact: await keep(bytes) };
  };

  const tooLarge = (outcome: Outcome<object>, size_bytes: number): Outcome<object> => {
    const { warnings = [] } = outcome;
    // Its outcome is not hidden by how much was to be said about it.
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
      // The envelope has no place for warnings.
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

/** HOLDFAST_INLINE_OUTPUT (`32KB`) and HOLDFAST_MAX_CAPTURE (`1MB`): the limits, or what is wrong with them. */
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
