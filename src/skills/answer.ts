/**
 * Checks what a skill has printed: stdout is exactly one Protocol v1 envelope of its own command, and nothing else
 * (protocol-v1.txt, Review rules). Pure.
 */
import { isUtf8 } from "node:buffer";
import { CAPTURE_MAX_BYTES } from "../base/limits.ts";
import { truncateMessage } from "../protocol/bounds.ts";
import { type EnvelopeV1, type ErrorEnvelope, errorOf } from "../protocol/envelope-v1.ts";
import type { V1Code } from "../protocol/error-row.ts";
import { ERROR_CATALOGUE, type ErrorCode, HoldfastError } from "../protocol/errors.ts";
import { failure, type Outcome, success } from "../protocol/outcome.ts";
import { redactValue } from "../protocol/redact.ts";
import { validateEnvelope } from "../protocol/validate/envelope.ts";

const LOGS = "Print the envelope alone on stdout; logs go to stderr.";

/** The rule for secrets: a skill cannot know each name that looks like one, so its answer is masked, and not refused. */
const MASKED_HERE = ["secret"];

/** Our code for each code of the contract that a skill may name. */
const CODE_OF: Readonly<Record<V1Code, ErrorCode>> = {
  EARG: "INVALID_REQUEST",
  EAUTH: "SKILL_UNAUTHORISED",
  ERATELIMIT: "RATE_LIMITED",
  EPAGINATION: "SKILL_FAILED",
  ERUNTIME: "SKILL_FAILED",
  ENOTFOUND: "FILE_NOT_FOUND",
  ETIMEOUT: "TIMEOUT",
  EPOLICY: "POLICY_VIOLATION",
  ESKILLDOWN: "SKILL_DOWN",
  EPARSE: "PARSE_ERROR",
  EOUTPUT_TOO_LARGE: "SKILL_OUTPUT_TOO_LARGE",
  EENVELOPE: "SKILL_ENVELOPE_INVALID",
  EIO: "FILE_FAILED",
  ECANCELED: "CANCELLED",
  EOPENAPI: "SKILL_FAILED",
};

/** The outcome of a skill by its stdout. `size_bytes` may be more than the bytes that were kept. */
export const answerOf = (
  skill: string,
  stdout: Buffer,
  size_bytes = stdout.length,
): Outcome<Readonly<Record<string, unknown>>> => {
  const bad = (code: ErrorCode, message: string, problems?: readonly string[]) =>
    failure<never>(
      new HoldfastError(code, `${skill} ${message}`, {
        suggestion: LOGS,
        details: { skill },
        ...(problems && { problems }),
      }),
    );
  if (size_bytes > CAPTURE_MAX_BYTES)
    return bad(
      "SKILL_OUTPUT_TOO_LARGE",
      `printed ${size_bytes} bytes; at most ${CAPTURE_MAX_BYTES} are read.`,
    );
  if (!isUtf8(stdout)) return bad("SKILL_OUTPUT_UNREADABLE", "printed something that is no UTF-8.");
  const text = stdout.toString("utf8");
  if (text.trim() === "") return bad("SKILL_ENVELOPE_INVALID", "printed no envelope.");
  const envelope = parsed(text);
  if (envelope === undefined) {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    const isMany = lines.length > 1 && lines.every((line) => parsed(line) !== undefined);
    return isMany
      ? bad("SKILL_ENVELOPE_INVALID", `printed ${lines.length} JSON values instead of one envelope.`)
      : bad("SKILL_OUTPUT_UNREADABLE", "printed something that is no JSON.");
  }
  const findings = validateEnvelope(stdout, {
    level: "spec",
    inlineMaxOf: () => CAPTURE_MAX_BYTES,
    except: MASKED_HERE,
  });
  if (findings.count() > 0) {
    const problems = findings.list.map(({ place, message }) => `${place.pointer}: ${message}`);
    return bad("SKILL_ENVELOPE_INVALID", "printed no valid Protocol v1 envelope.", problems);
  }
  const masked = redactValue(envelope);
  const { command, status } = masked as EnvelopeV1;
  if (command !== skill)
    return bad("SKILL_ENVELOPE_INVALID", `printed an envelope of ${JSON.stringify(command)}.`);
  if (status === "progress") return bad("SKILL_ENVELOPE_INVALID", "printed a progress envelope as its last.");
  return status === "ok"
    ? success((masked as EnvelopeV1).data)
    : failure(errorIn(masked as ErrorEnvelope, skill));
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** A code of ours that a skill names beside the contract's is kept, if the two agree: built-in skills do that. */
const errorIn = (envelope: ErrorEnvelope, skill: string): HoldfastError => {
  const { error, data } = envelope;
  const v1 = error.code as V1Code;
  const named = error.details?.code;
  const isOurs =
    typeof named === "string" &&
    Object.hasOwn(ERROR_CATALOGUE, named) &&
    ERROR_CATALOGUE[named as ErrorCode].v1 === v1;
  const { info, message } = errorOf(envelope);
  const hint = typeof data.hint === "string" ? data.hint : undefined;
  return new HoldfastError(isOurs ? (named as ErrorCode) : CODE_OF[v1], truncateMessage(message), {
    ...info,
    ...(hint !== undefined && { suggestion: truncateMessage(hint) }),
    details: { ...info.details, skill, ...(isOurs ? {} : { skill_code: v1 }) },
  });
};

/** Ends that speak against the skill itself, and not against what it was asked for. */
const OWN_FAULTS: ReadonlySet<V1Code> = new Set([
  "ERUNTIME",
  "ETIMEOUT",
  "EENVELOPE",
  "EPARSE",
  "EOUTPUT_TOO_LARGE",
  "EIO",
]);

/** The meaning of an end for the breaker of the skill. */
export const standingOf = (outcome: Outcome<unknown>): "success" | "failure" | "unknown" => {
  if (outcome.ok) return "success";
  return OWN_FAULTS.has(outcome.error.row.v1) ? "failure" : "unknown";
};
