import { describe, expect, it } from "vitest";
import type { ModelUsage, Usage } from "../../../src/protocol/records.ts";
import { modelUsage } from "../../../src/protocol/usage.ts";
import { estimatesBy, type PriceList, priceOf } from "../../../src/runtime/prices/estimate.ts";

const list = (prices: PriceList["prices"], as_of = "2025-11-01"): PriceList => ({ as_of, prices });
const price = (models: string[], input: number, over: object = {}) => ({
  models,
  valid_from: "2025-01-01",
  input,
  output: 10 * input,
  ...over,
});
const DAY = "2025-06-01";
const MILLION = 1_000_000;

const used = (over: Partial<ModelUsage> = {}): ModelUsage => ({
  model: "m",
  input_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: null,
  ...over,
});

describe("a cached token", () => {
  const lists = [list([price(["m"], 10, { cached_input: 1, output: 100 })])];
  const told: Usage = {
    input_tokens: MILLION,
    cached_tokens: 400_000,
    output_tokens: 0,
    reasoning_tokens: 0,
    cost_usd: null,
  };

  it("of codex, which counts it inside its input, is charged once, and as cached", () => {
    expect(estimatesBy(lists)(modelUsage(true, "m", told), DAY).estimated_usd).toBe(6 + 0.4);
  });

  it("of Claude Code, which counts it beside its input, is charged on top of it", () => {
    expect(estimatesBy(lists)(modelUsage(false, "m", told), DAY).estimated_usd).toBe(10 + 0.4);
  });

  it("costs what input costs where the list has no price of its own, and so does one that is written", () => {
    const plain = [list([price(["m"], 10)])];
    const both = used({ cached_tokens: 100_000, cache_write_tokens: 200_000 });
    expect(estimatesBy(plain)(both, DAY).estimated_usd).toBe(3);
    const apart = [list([price(["m"], 10, { cached_input: 1, cache_write: 20 })])];
    expect(estimatesBy(apart)(both, DAY).estimated_usd).toBe(4.1);
  });
});

describe("an estimate", () => {
  const lists = [list([price(["m"], 2)])];

  it("charges reasoning once, as the output that it is a part of, and says of which day its price is", () => {
    const one = used({ output_tokens: MILLION, reasoning_tokens: 900_000 });
    expect(estimatesBy(lists)(one, DAY)).toEqual({ ...one, estimated_usd: 20, price_as_of: "2025-11-01" });
  });

  it("is never made where the agent reports a cost, be it 0", () => {
    for (const cost_usd of [0, 3]) {
      const one = used({ output_tokens: MILLION, cost_usd });
      expect(estimatesBy(lists)(one, DAY)).toEqual(one);
    }
  });

  it("is missing, and not 0, for a model that no list knows and for one without a name", () => {
    for (const model of ["other", null]) {
      const one = used({ model, output_tokens: MILLION });
      expect(estimatesBy(lists)(one, DAY)).toEqual(one);
    }
  });
});

describe("estimates by the same lists", () => {
  const lists = [list([price(["m*"], 1), price(["m1"], 2), price(["m*"], 3, { valid_from: "2025-07-01" })])];
  const tokens = (model: string | null) => used({ model, input_tokens: MILLION });

  it("are what each would be alone, in any order of models and days, however many there are", () => {
    const estimate = estimatesBy(lists);
    const models = [
      "m1",
      "m2",
      "other",
      null,
      ...Array.from({ length: 600 }, (_, n) => `m${n}`),
      "m1",
      "other",
    ];
    for (const day of [DAY, "2025-07-01", DAY, "2024-01-01"])
      for (const model of [...models, ...models])
        expect(estimate(tokens(model), day)).toEqual(estimatesBy(lists)(tokens(model), day));
    expect([DAY, "2025-07-01"].map((day) => estimate(tokens("m2"), day).estimated_usd)).toEqual([1, 3]);
  });
});

describe("the price of a model", () => {
  const inputOf = (lists: readonly PriceList[], model: string, day = DAY) =>
    priceOf(lists, model, day)?.price.input;

  it("is the newest that holds on the day", () => {
    const lists = [
      list([
        price(["m"], 3, { valid_from: "2025-06-01" }),
        price(["m"], 1, { valid_from: "2025-01-01" }),
        price(["m"], 2, { valid_from: "2025-03-01" }),
      ]),
    ];
    expect(
      ["2024-12-31", "2025-01-01", "2025-05-31", "2025-06-01"].map((day) => inputOf(lists, "m", day)),
    ).toEqual([undefined, 1, 2, 3]);
  });

  it("is that of the name itself before that of a pattern, and of a longer pattern before a shorter one", () => {
    const lists = [
      list([price(["*"], 1), price(["gpt-5*"], 2), price(["gpt-5-mini"], 3), price(["gpt-*"], 4)]),
    ];
    expect(["x", "gpt-5-2025", "gpt-5-mini", "gpt-4"].map((model) => inputOf(lists, model))).toEqual([
      1, 2, 3, 4,
    ]);
  });

  it("is the user's before the shipped one, for the models that the user's list has", () => {
    const lists = [list([price(["m*"], 1)], "2026-01-01"), list([price(["m"], 2), price(["n"], 3)])];
    expect(priceOf(lists, "m", DAY)).toMatchObject({ as_of: "2026-01-01", price: { input: 1 } });
    expect(inputOf(lists, "n")).toBe(3);
  });

  it.each([
    ["a*c", "abc", true],
    ["a*c", "ac", true],
    ["a*c", "acd", false],
    ["aa*aa", "aaa", false],
    ["*b*", "abc", true],
    ["a*b*c", "a-c-b", false],
    ["a.c", "abc", false],
  ])("pattern %s fits %s: %s", (pattern, model, fits) => {
    expect(inputOf([list([price([pattern], 1)])], model) !== undefined).toBe(fits);
  });
});
