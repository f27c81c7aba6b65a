/** Tokens, dollars and times, as answers sum them. */
import * as z from "zod";
import type { ModelUsage, Usage } from "../token-counts.ts";
import { id, type Reply, time } from "./reply.ts";
import { workerError } from "./worker-error.ts";

export const usage: z.ZodType<Usage> = z.object({
  input_tokens: z.int(),
  output_tokens: z.int(),
  cached_tokens: z.int(),
  reasoning_tokens: z.int(),
  cost_usd: z.number().nullable().describe("dollars as the agent reports them"),
  estimated_usd: z
    .number()
    .optional()
    .describe("dollars by the price list, for usage without a reported cost"),
});

const modelUsage: z.ZodType<ModelUsage> = z.object({
  model: z.string().nullable(),
  input_tokens: z.int().describe("without tokens read from the cache or written to it"),
  cached_tokens: z.int(),
  cache_write_tokens: z.int(),
  output_tokens: z.int().describe("including the reasoning tokens"),
  reasoning_tokens: z.int(),
  cost_usd: z.number().nullable(),
  estimated_usd: z.number().optional(),
  price_as_of: z.string().optional().describe("the day on which its price was looked up"),
});

export const TurnRow = z.object({
  worker_id: id,
  incarnation: z.int(),
  turn: z.int(),
  started_at: time,
  ended_at: time.nullable(),
  /** Milliseconds as the agent reports, else between its records; null while the turn is open. */
  duration_ms: z.number().nullable(),
  usage: usage.nullable(),
  /** Null while the turn is open, and in records of an early version. */
  models: z.array(modelUsage).nullable(),
  tool_calls: z.int().nullable(),
  error: workerError.nullable(),
});
export type TurnRow = Reply<typeof TurnRow>;

/** The sum of a worker and everything below it, from their rows; tokens as the CLIs count them. */
export const SubtreeSum = z.object({
  workers: z.int(),
  turns: z.int(),
  tool_calls: z.int(),
  turn_ms: z.number(),
  unpriced_turns: z.int(),
  usage,
});
export type SubtreeSum = Reply<typeof SubtreeSum>;

/** A sum of usage. If a turn has several models, the one with the most output gets the turn, its calls and its time. */
const UsageSum = z.object({
  workers: z.int().describe("workers that have completed a turn"),
  turns: z.int(),
  tool_calls: z.int(),
  input_tokens: z.int().describe("neither read from the provider's cache nor written to it"),
  cached_tokens: z.int(),
  cache_write_tokens: z.int(),
  output_tokens: z.int().describe("including the reasoning tokens"),
  reasoning_tokens: z.int(),
  cost_usd: z.number().nullable().describe("as agents reported it"),
  estimated_usd: z.number().nullable().describe("by the price list, for usage without a reported cost"),
  unpriced: z.int().describe("turns, or parts of turns, with neither cost nor estimate"),
  duration_ms: z.int(),
});
export type UsageSum = Reply<typeof UsageSum>;

const UsageRow = UsageSum.extend({
  key: z.string().nullable().describe("a day in UTC, a kind, a model, a worker's id, a label's value"),
  name: z.string().optional(),
});
export type UsageRow = Reply<typeof UsageRow>;

/** `rows`: at most USAGE_ROWS_MAX. `unpriced_models`: at most USAGE_UNPRICED_NAMED_MAX; null stands for one without a name. */
const UsageReport = z.object({
  rows: z.array(UsageRow),
  total: UsageSum,
  omitted: z.int().describe("rows that are not shown; the total has them"),
  unpriced_models: z.array(z.string().nullable()),
});
export type UsageReport = Reply<typeof UsageReport>;

/** `agent usage`. `by`: the grouping as requested, `day`, `kind`, `model`, `worker` or `label:KEY`. */
export const UsageReply = z.object({ by: z.string(), since: time.nullable(), ...UsageReport.shape });
export type UsageReply = Reply<typeof UsageReply>;
