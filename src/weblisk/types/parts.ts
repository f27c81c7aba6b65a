/** Parts of the canonical types (weblisk.txt, Canonical Types and Type Rules). Unknown members are kept in all of them. */
import * as z from "zod";
import {
  WEBLISK_NAME_MAX_CHARS,
  WEBLISK_PROOF_MAX_CHARS,
  WEBLISK_TEXT_MAX_CHARS,
  WEBLISK_TOKEN_MAX_CHARS,
  WEBLISK_URL_MAX_CHARS,
} from "../../base/limits.ts";

/** Lower-case letters, digits and dashes, as an agent is named. */
export const AGENT_NAME = /^[a-z][a-z0-9-]{0,63}$/;

export const name = z.string().max(WEBLISK_NAME_MAX_CHARS);
export const id = z.string().min(1).max(WEBLISK_NAME_MAX_CHARS);
export const text = z.string().max(WEBLISK_TEXT_MAX_CHARS);
export const url = z.string().max(WEBLISK_URL_MAX_CHARS);
/** Epoch seconds. */
export const seconds = z.int().nonnegative();
export const map = z.record(z.string(), z.unknown());
/** A key or a signature in the text form of its algorithm. */
export const proof = z.string().max(WEBLISK_PROOF_MAX_CHARS);
export const token = z.string().max(WEBLISK_TOKEN_MAX_CHARS);

/** weblisk.txt, Capability Format. */
export const STANDARD_CAPABILITIES = [
  "file:read",
  "file:write",
  "llm:chat",
  "agent:message",
  "workflow:execute",
  "http:get",
  "http:send",
  "http:receive",
  "database:read",
  "database:write",
  "realtime:publish",
] as const;

export const Capability = z.looseObject({
  /** `namespace:action`. */
  name: z
    .string()
    .regex(/^[a-z][a-z0-9_-]*:[a-z][a-z0-9_-]*$/)
    .max(WEBLISK_NAME_MAX_CHARS),
  /** Globs to which it is confined; none means all. */
  resources: z.array(text).optional(),
});

export const IOSpec = z.looseObject({ name, type: name, description: text.optional() });
