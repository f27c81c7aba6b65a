/**
 * Estimates the cost of a model's tokens by a price list, for agents that report no cost. Pure. An estimate is never mixed
 * with a reported cost: lists lag behind, and know no discounts, tiers by length of context, or fees of tools.
 */
import { PRICES_REMEMBERED_MAX } from "../../base/limits.ts";
import type { ModelUsage } from "../../protocol/records.ts";
import { dollars } from "../../protocol/usage.ts";

/** Prices of one or more models from a day on, in dollars per million tokens. */
export interface Price {
  /** Names of models; `*` stands for any characters. */
  readonly models: readonly string[];
  /** The first day, in UTC, on which the price holds: `2025-08-01`. */
  readonly valid_from: string;
  readonly input: number;
  /** Tokens read from the provider's cache. Default: as `input`. */
  readonly cached_input?: number | undefined;
  /** Tokens written to that cache. Default: as `input`. */
  readonly cache_write?: number | undefined;
  /** Output tokens, including reasoning. */
  readonly output: number;
}

export interface PriceList {
  /** The day on which the prices were looked up. */
  readonly as_of: string;
  readonly prices: readonly Price[];
}

const MILLION = 1e6;

/**
 * The number of literal characters in a pattern that the name matches: the more, the better the match. Undefined without a
 * match. Linear in both lengths.
 */
const fitOf = (pattern: string, name: string): number | undefined => {
  const [head = "", ...rest] = pattern.split("*");
  const tail = rest.pop();
  if (tail === undefined) return name === pattern ? Number.POSITIVE_INFINITY : undefined;
  if (!name.startsWith(head)) return undefined;
  let at = head.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return undefined;
    at = found + part.length;
  }
  return name.length - tail.length >= at && name.endsWith(tail)
    ? pattern.length - rest.length - 1
    : undefined;
};

const bestFit = ({ models }: Price, name: string): number =>
  Math.max(...models.map((pattern) => fitOf(pattern, name) ?? -1));

/** The price of the best match; among equal ones, the newest that holds on that day. */
const priceIn = ({ prices }: PriceList, model: string, day: string): Price | undefined => {
  let best: { readonly price: Price; readonly fits: number } | undefined;
  for (const price of prices) {
    const fits = price.valid_from > day ? -1 : bestFit(price, model);
    if (fits < 0 || (best !== undefined && fits < best.fits)) continue;
    if (best === undefined || fits > best.fits || price.valid_from > best.price.valid_from)
      best = { price, fits };
  }
  return best?.price;
};

/** Finds the price in the first list that has one for the model. `day`: `2025-08-01`, in UTC. */
export const priceOf = (
  lists: readonly PriceList[],
  model: string,
  day: string,
): { readonly price: Price; readonly as_of: string } | undefined => {
  for (const list of lists) {
    const price = priceIn(list, model, day);
    if (price !== undefined) return { price, as_of: list.as_of };
  }
  return undefined;
};

type FoundPrice = NonNullable<ReturnType<typeof priceOf>>;

/**
 * Adds an estimate to usage without a reported cost if a list has a price. All other usage stays as it is; nothing becomes
 * 0. Every message of an agent asks, and agents name few models, so the prices of a day are remembered.
 */
export const estimatesBy = (lists: readonly PriceList[]): ((one: ModelUsage, day: string) => ModelUsage) => {
  const known = new Map<string, FoundPrice | undefined>();
  let knownOn = "";
  const find = (model: string, day: string): FoundPrice | undefined => {
    if (day !== knownOn || known.size >= PRICES_REMEMBERED_MAX) known.clear();
    knownOn = day;
    if (!known.has(model)) known.set(model, priceOf(lists, model, day));
    return known.get(model);
  };
  return (one, day) => {
    const found = one.cost_usd !== null || one.model === null ? undefined : find(one.model, day);
    return found === undefined ? one : priced(one, found);
  };
};

const priced = (one: ModelUsage, { price, as_of }: FoundPrice): ModelUsage => {
  const { input, output, cached_input = input, cache_write = input } = price;
  const usd =
    one.input_tokens * input +
    one.cached_tokens * cached_input +
    one.cache_write_tokens * cache_write +
    one.output_tokens * output;
  return { ...one, estimated_usd: dollars(usd / MILLION), price_as_of: as_of };
};
