/** A request that is repeated under its key is done once; another one under the same key is a mistake of who asks. */
import { HoldfastError } from "../protocol/errors.ts";

export const keyReused = (key: string | undefined, first: string): HoldfastError =>
  new HoldfastError(
    "IDEMPOTENCY_CONFLICT",
    `The idempotency key "${key}" belongs to another ${first}; nothing was done.`,
  );
