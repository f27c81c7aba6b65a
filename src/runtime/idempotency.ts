/** A request that is repeated under its key is done once; another one under the same key is a mistake of who asks. */
import { HoldfastError } from "../protocol/errors.ts";

export const keyReused = (key: string): HoldfastError =>
  new HoldfastError("VERSION_CONFLICT", `The idempotency key ${key} was given to another request.`, {
    suggestion: "Use a new idempotency key for a new request.",
  });
