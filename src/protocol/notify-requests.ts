/** The requests of notifications, as zod schemas. */
import * as z from "zod";
import { NAME_MAX_BYTES } from "../base/limits.ts";

export const NOTIFY_REQUESTS = {
  /** The targets of config.yaml, what waits to be sent, and what could not be. */
  "notify/list": z.strictObject({}),
  /** Sends a test to one target, or to all of them, and waits for the result. */
  "notify/test": z.strictObject({ target: z.string().min(1).max(NAME_MAX_BYTES).optional() }),
} as const;
