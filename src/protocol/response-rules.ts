/**
 * The rules of response-envelope.txt, each by its name. Under HOLDFAST_VALIDATE=1, which all tests set, every printed
 * envelope is checked against them. They are written from the document, not from the factory, and without zod, which the
 * client does not load.
 */
import { ERROR_CATALOGUE, type ErrorRow } from "./errors.ts";
import { exitIn, type Generation, retryableIn } from "./generations.ts";

type JsonMembers = Readonly<Record<string, unknown>>;

const MEMBERS = ["data", "error", "meta", "ok", "warnings"];
const ERROR_MEMBERS_G1 = "code message detail retryable retry_after phase suggestion redirect".split(" ");
const PHASES = ["validation", "execution", "cleanup"];
const REASONS = [undefined, "renamed", "restructured", "deprecated", "typo_corrected"];
const REDIRECTED = 13;

const isObject = (value: unknown): value is JsonMembers =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isOptional = (value: unknown, test: (value: unknown) => boolean): boolean =>
  value === undefined || test(value);

/** Names of the rules that an envelope with this exit code breaks. */
export const brokenRules = (envelope: unknown, exit: number, generation: Generation): readonly string[] => {
  if (!isObject(envelope)) return ["an envelope is an object"];
  const { ok, data, error, warnings, meta } = envelope;
  const rules: Readonly<Record<string, boolean>> = {
    "exactly ok, data, error, warnings, meta": Object.keys(envelope).sort().join() === MEMBERS.join(),
    "ok is true exactly for exit code 0": ok === (exit === 0),
    "error is null exactly on success": (error === null) === (exit === 0),
    "data is null on failure": exit === 0 || data === null,
    "data is an object, an array or null": data === null || typeof data === "object",
    "warnings is an array of strings": Array.isArray(warnings) && warnings.every(isText),
    ...(isObject(meta) ? metaRules(meta, data, error) : { "meta is an object": false }),
    ...(isObject(error) ? errorRules(error, exit, generation) : {}),
  };
  return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [rule]));
};

const metaRules = (
  { duration_ms, request_id, schema_version, not_modified, truncated, cursor }: JsonMembers,
  data: unknown,
  error: unknown,
): Readonly<Record<string, boolean>> => ({
  "meta.duration_ms is a whole number from 0": isCount(duration_ms),
  "meta.request_id is a string": isOptional(request_id, isText),
  "meta.schema_version is N.N": isOptional(schema_version, (text) => /^\d+\.\d+$/.test(String(text))),
  "data and error are both null exactly when nothing was modified":
    (data === null && error === null) === (not_modified === true),
  "meta.truncated is true or absent": isOptional(truncated, (flag) => flag === true),
  "meta.cursor goes with meta.truncated": isOptional(cursor, (text) => isText(text) && truncated === true),
});

const errorRules = (
  error: JsonMembers,
  exit: number,
  generation: Generation,
): Readonly<Record<string, boolean>> => {
  const { code, message, detail, retryable, retry_after, retry_after_ms, phase, suggestion, redirect } =
    error;
  const row: ErrorRow | undefined = Object.entries(ERROR_CATALOGUE).find(([name]) => name === code)?.[1];
  const isG1 = generation.backoff === "seconds";
  return {
    "error.code is of the catalogue": row !== undefined,
    "error.message is a sentence": isText(message),
    "error.detail is text": isOptional(detail, isText),
    "error.retryable mirrors the entry of the exit code":
      row !== undefined && retryable === retryableIn(generation, row),
    "error.retry_after goes with retryable, in this generation's unit":
      isOptional(isG1 ? retry_after : retry_after_ms, (wait) => isCount(wait) && retryable === true) &&
      (isG1 ? retry_after_ms : retry_after) === undefined,
    "error has no member that the generation has not":
      !isG1 || Object.keys(error).every((name) => ERROR_MEMBERS_G1.includes(name)),
    "error.phase is one of three": isOptional(phase, (name) => PHASES.includes(String(name))),
    "phase validation means that nothing was done": phase !== "validation" || row?.effects === "none",
    "a bad argument is found in the phase of validation":
      exit !== exitIn(generation, 3) || row?.exit !== 3 || phase === "validation",
    "error.suggestion is the next step": isText(suggestion),
    "error.redirect goes with the errors of exit code 13":
      (redirect !== undefined) === (row?.exit === REDIRECTED),
    "error.redirect has a command, permanent and a reason":
      redirect === undefined ||
      (isObject(redirect) &&
        isText(redirect.command) &&
        typeof redirect.permanent === "boolean" &&
        REASONS.includes(redirect.reason as string | undefined)),
  };
};
