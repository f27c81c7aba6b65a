/** The requests of notifications, as zod schemas. */
import * as z from "zod";
import { NAME_MAX_BYTES, NOTIFY_DEAD_MAX } from "../base/limits.ts";
import { isUlid } from "./forms.ts";

export const NOTIFY_REQUESTS = {
  /** The targets of config.yaml, what waits to be sent, and what could not be. */
  "notify/list": z.strictObject({}),
  /** Sends a test to one target, or to all of them, and waits for the result. */
  "notify/test": z.strictObject({ target: z.string().min(1).max(NAME_MAX_BYTES).optional() }),
  /** Lets notifications that were given up wait again: those with these ids, or all of them. */
  "notify/resend": z.strictObject({
    ids: z.array(z.string().refine(isUlid, "it is no id of a notification")).max(NOTIFY_DEAD_MAX).default([]),
    all: z.boolean().default(false),
  }),
} as const;
