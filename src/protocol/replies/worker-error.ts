/** The error of a worker, as answers show it. */
import * as z from "zod";
import type { WorkerError } from "../completion.ts";
import { code } from "./reply.ts";

export const workerError = z.object({
  code,
  message: z.string(),
  retry_after_s: z.number().optional(),
  reset_at: z.string().optional().describe("when the provider's limit resets"),
  resets: z
    .object({
      year: z.int().optional(),
      month: z.int().optional(),
      day: z.int().optional(),
      hour: z.int(),
      minute: z.int(),
      zone: z.string().optional(),
    })
    .optional()
    .describe("the same as its CLI printed it; without a zone, in the machine's zone"),
}) satisfies z.ZodType<WorkerError>;
