/** plugin/pagination: tells by one page of an answer which items it has, and where the next page is. */
import * as z from "zod";
import { PAGE_FIELD_MAX_UNITS, SKILL_PATH_MAX_BYTES } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { paginationSchema, stepOf } from "../openapi/pagination.ts";
import type { BuiltinSkill } from "../skill.ts";

const input = z.strictObject({
  pagination: paginationSchema.describe("way to the next pages; auto finds it out"),
  url: z.url().max(SKILL_PATH_MAX_BYTES).describe("URL of the page, without credentials"),
  headers: z.record(z.string(), z.string()).default({}).describe("headers of the answer"),
  body: z.unknown().describe("body of the answer, as a value of JSON"),
  parameters: z
    .array(z.string().max(PAGE_FIELD_MAX_UNITS))
    .default([])
    .describe("query parameters that the operation has; for auto"),
  items_before: z.int().min(0).default(0).describe("items of all pages before"),
});
type PagingInput = z.output<typeof input>;

const output = z.object({
  strategy_used: z.string(),
  item_count: z.int(),
  has_more: z.boolean(),
  /** With `has_more`. */
  next_url: z.string().optional(),
  total_items: z.int().optional(),
  total_pages: z.int().optional(),
});
type PagingOutput = z.output<typeof output>;

export const pluginPagination: BuiltinSkill<PagingInput, PagingOutput> = {
  name: "plugin/pagination",
  summary: "Find the next page of an answer.",
  version: "1.0.0",
  effect: "any",
  input,
  output,
  network: "none",
  run: async ({ pagination, headers, ...page }) => {
    if (pagination.strategy === "none")
      throw new HoldfastError("INVALID_REQUEST", "The strategy none has no pages.", {
        suggestion: "Give another strategy, or auto.",
      });
    const inSmallLetters = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    const step = stepOf(pagination, { ...page, headers: Object.fromEntries(inSmallLetters) });
    const { next, total_items, total_pages } = step;
    return {
      strategy_used: step.strategy.strategy,
      item_count: step.items.length,
      has_more: next !== undefined,
      ...(next !== undefined && { next_url: next }),
      ...(total_items !== undefined && { total_items }),
      ...(total_pages !== undefined && { total_pages }),
    };
  },
};
