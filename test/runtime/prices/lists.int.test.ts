import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { PRICES_FILE_MAX_BYTES } from "../../../src/base/limits.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import { priceOf } from "../../../src/runtime/prices/estimate.ts";
import { openPrices } from "../../../src/runtime/prices/lists.ts";

const dir = mkdtempSync(join(tmpdir(), "holdfast-prices-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const fileOf = (content: unknown): string => {
  const path = join(dir, "prices.json");
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
};
const refused = (path: string): HoldfastError => {
  try {
    openPrices(path);
  } catch (cause) {
    if (cause instanceof HoldfastError) return cause;
    throw cause;
  }
  throw new Error("it was taken");
};

const TODAY = "2025-11-20";

describe("the shipped list", () => {
  const lists = openPrices(undefined);

  it.each([
    ["claude-sonnet-4-5-20250929", 3, 15],
    ["claude-opus-4-1-20250805", 15, 75],
    ["claude-opus-4-5-20251101", 5, 25],
    ["claude-haiku-4-5", 1, 5],
    ["gpt-5", 1.25, 10],
    ["gpt-5-codex", 1.25, 10],
    ["gpt-5-mini", 0.25, 2],
    ["gemini-2.5-pro", 1.25, 10],
    ["gemini-2.5-flash", 0.3, 2.5],
  ])("has %s", (model, input, output) => {
    expect(priceOf(lists, model, TODAY)?.price).toMatchObject({ input, output });
  });

  it("has no price for what it does not know, be its name ever so near", () => {
    for (const model of ["gpt-5-pro", "gpt-6", "claude-sonnet-5", "sonnet", ""])
      expect(priceOf(lists, model, TODAY)).toBeUndefined();
  });

  it("has cached input cheaper than input, and output dearer: two columns were not mixed up", () => {
    for (const { input, cached_input = input, cache_write = input, output } of lists[0]?.prices ?? [])
      expect([cached_input < input, cache_write >= input, output > input]).toEqual([true, true, true]);
  });
});

describe("a user's list", () => {
  const mine = { models: ["gpt-5*", "house-*"], valid_from: "2025-01-01", input: 7, output: 8 };

  it("comes before the shipped one, which has the rest", () => {
    const lists = openPrices(fileOf({ as_of: "2026-02-03", prices: [mine] }));
    expect(priceOf(lists, "gpt-5", TODAY)).toMatchObject({ as_of: "2026-02-03", price: { input: 7 } });
    expect(priceOf(lists, "gemini-2.5-pro", TODAY)?.price.input).toBe(1.25);
  });

  it("with mistakes is refused with all of them and where they are, and nothing of it is used", () => {
    const path = fileOf({
      as_of: "yesterday",
      prices: [mine, { ...mine, input: "7", valid_from: "2025-13-01", ouput: 1 }],
    });
    const { code, message, info } = refused(path);
    expect(code).toBe("INVALID_REQUEST");
    expect(message).toContain(`The prices in ${path} cannot be used: `);
    const told = info.problems?.join("\n");
    for (const place of ["as_of", "prices.1.input", "prices.1.valid_from", "ouput"])
      expect(told).toContain(place);
    expect(info.suggestion).toContain("unset HOLDFAST_PRICES");
  });

  it.each([
    ["that is no JSON", () => fileOf("{"), "it is not JSON"],
    ["that is not there", () => join(dir, "none.json"), "no such file"],
    ["of a relative path, which would depend on who starts the daemon", () => "prices.json", "absolute path"],
    ["over its bound", () => fileOf(" ".repeat(PRICES_FILE_MAX_BYTES + 1)), "is over"],
    [
      "with a negative price",
      () => fileOf({ as_of: TODAY, prices: [{ ...mine, output: -1 }] }),
      "prices.0.output",
    ],
  ])("%s is refused", (_, path, why) => {
    expect(refused(path()).message).toContain(why);
  });
});
