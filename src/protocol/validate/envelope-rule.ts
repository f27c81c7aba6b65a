/** A rule over one envelope, and how it sees the envelope. */

import { isObject, type JsonObject } from "../forms.ts";
import type { Rule } from "./finding.ts";

/** Members that are not of the type that they should be are seen as empty objects: one rule tells that, the others need not. */
export interface View {
  readonly envelope: JsonObject;
  readonly status: unknown;
  readonly data: JsonObject;
  readonly meta: JsonObject;
  readonly error: JsonObject;
  /** The bytes that its reader takes inline. */
  readonly inline_max_bytes: number;
}

export type Tell = (pointer: string, message: string) => void;

export interface EnvelopeRule extends Rule {
  readonly check: (view: View, tell: Tell) => void;
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

/** A value in a sentence. */
export const shown = (value: unknown): string => {
  if (value === undefined) return "missing";
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > SHOWN_MAX_CHARS ? `${text.slice(0, SHOWN_MAX_CHARS)}…` : text;
};
const SHOWN_MAX_CHARS = 80;

export const isBlank = (value: unknown): boolean => typeof value !== "string" || value.trim() === "";
/** As the originals' decoder leaves a member that is missing or null. */
export const isUnset = (value: unknown): boolean => value === undefined || value === null || value === "";
