/** A request repeated with its key is carried out once. Another request with the same key is the caller's mistake. */
import { HoldfastError } from "../protocol/errors.ts";

export const keyReused = (key: string): HoldfastError =>
  new HoldfastError("VERSION_CONFLICT", `The idempotency key ${key} was given to another request.`, {
    suggestion: "Use a new idempotency key for a new request.",
  });

/** The id of the record of a spawn with this key. */
export const spawnRecordId = (key: string): string => `spawn:${key}`;
