/** A rule over one envelope, and the rule's view of the envelope. */

import type { JsonObject } from "../../base/json.ts";
import { isObject } from "../forms.ts";
import type { ContractRule } from "./finding.ts";

/** A member of a wrong type is seen as an empty object: one rule reports the type, so the others need not check it. */
export interface View {
  readonly envelope: JsonObject;
  readonly status: unknown;
  readonly data: JsonObject;
  readonly meta: JsonObject;
  readonly error: JsonObject;
  /** The bytes that the reader accepts inline. */
  readonly inline_max_bytes: number;
}

export type ReportProblem = (pointer: string, message: string) => void;

export interface EnvelopeRule extends ContractRule {
  readonly check: (view: View, tell: ReportProblem) => void;
}

export const viewOf = (envelope: JsonObject, inline_max_bytes: number): View => ({
  envelope,
  status: envelope.status,
  data: objectOf(envelope.data),
  meta: objectOf(envelope.meta),
  error: objectOf(envelope.error),
  inline_max_bytes,
});

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** A value as it is quoted in a sentence. */
export const shown = (value: unknown): string => {
  if (value === undefined) return "missing";
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > SHOWN_MAX_CHARS ? `${text.slice(0, SHOWN_MAX_CHARS)}…` : text;
};
const SHOWN_MAX_CHARS = 80;

export const isBlank = (value: unknown): boolean => typeof value !== "string" || value.trim() === "";
/** Missing, null or empty: what the originals' decoder treats as unset. */
export const isUnset = (value: unknown): boolean => value === undefined || value === null || value === "";
