/**
 * The usage of the open turn so far. Every `assistant` line has the usage of its message so far, and a
 * message may have several lines: it counts once, with its latest usage. The usage of a streamed message is
 * complete only at the end of the stream.
 */

import { asCount, asName, asObject, type JsonObject } from "../../../base/json.ts";
import { MODELS_PER_TURN_MAX } from "../../../base/limits.ts";
import type { ModelUsage } from "../../../protocol/records.ts";
import type { DecodedItem } from "../../adapter.ts";
import { addUsage, NO_USAGE } from "../../decoding/usage.ts";
import { type ClaudeState, MESSAGES_COUNTED_MAX } from "./state.ts";

type Counts = Omit<ModelUsage, "model" | "cost_usd" | "estimated_usd" | "price_as_of">;

/** Notes the usage of a message. */
export const onMessageUsage = (state: ClaudeState, message: JsonObject | undefined): ClaudeState => {
  const id = asName(message?.id);
  const told = asObject(message?.usage);
  if (id === null || told === undefined) return state;
  const { before, messages } = state.spending ?? NOTHING;
  const known = messages.find(([of]) => of === id)?.[1];
  const usage: ModelUsage = {
    model: known?.model ?? asName(message?.model),
    ...larger(countsOf(told), known ?? NO_COUNTS),
    cost_usd: null,
  };
  if (known !== undefined)
    return {
      ...state,
      spending: { before, messages: messages.map((one) => (one[0] === id ? [id, usage] : one)) },
    };
  const [oldest, ...rest] = messages;
  const isFull = messages.length >= MESSAGES_COUNTED_MAX;
  return {
    ...state,
    spending: {
      before: isFull ? summed(before, oldest![1]) : before,
      messages: [...(isFull ? rest : messages), [id, usage]],
    },
  };
};

/** Reports the usage when the turn continues, with a tool call or its result. */
export const tellSpending = ({ spending }: ClaudeState, out: DecodedItem[]): void => {
  if (spending == null) return;
  const models = spending.messages.reduce((sum, [, one]) => summed(sum, one), spending.before);
  out.push({ type: "turn_usage", usage: models.reduce(addUsage, NO_USAGE), models });
};

const NOTHING = { before: [], messages: [] } as const;

const NO_COUNTS: Counts = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
};

const countsOf = (told: JsonObject): Counts => ({
  input_tokens: asCount(told.input_tokens),
  output_tokens: asCount(told.output_tokens),
  cached_tokens: asCount(told.cache_read_input_tokens),
  cache_write_tokens: asCount(told.cache_creation_input_tokens),
  reasoning_tokens: asCount(asObject(told.output_tokens_details)?.thinking_tokens),
});

const each = (one: (field: keyof Counts) => number): Counts => ({
  input_tokens: one("input_tokens"),
  output_tokens: one("output_tokens"),
  cached_tokens: one("cached_tokens"),
  cache_write_tokens: one("cache_write_tokens"),
  reasoning_tokens: one("reasoning_tokens"),
});

const larger = (a: Counts, b: Counts): Counts => each((field) => Math.max(a[field], b[field]));

/** Adds usage by model. Models beyond the bound are summed into one without a name. */
const summed = (models: readonly ModelUsage[], more: ModelUsage): readonly ModelUsage[] => {
  const hasRoom = models.length < MODELS_PER_TURN_MAX - 1;
  const model = hasRoom || models.some((one) => one.model === more.model) ? more.model : null;
  const known = models.find((one) => one.model === model);
  if (known === undefined) return [...models, { ...more, model }];
  const both: ModelUsage = { ...known, ...each((field) => known[field] + more[field]) };
  return models.map((one) => (one === known ? both : one));
};
