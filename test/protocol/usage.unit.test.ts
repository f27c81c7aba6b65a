import { describe, expect, it } from "vitest";
import type { ModelUsage, Usage } from "../../src/protocol/records.ts";
import { estimateOf, isUnpriced, modelsOf } from "../../src/protocol/usage.ts";

const usage: Usage = {
  input_tokens: 10,
  output_tokens: 5,
  cached_tokens: 4,
  reasoning_tokens: 1,
  cost_usd: null,
};
const one: ModelUsage = { model: "m", ...usage, cache_write_tokens: 0 };

describe("a record of an early version, which names no model", () => {
  it("counts for one without a name, each token once whatever its CLI counts where", () => {
    expect(modelsOf("codex", { usage })).toEqual([{ ...one, model: null, input_tokens: 6 }]);
    expect(modelsOf("claude_code", { usage })).toEqual([{ ...one, model: null, input_tokens: 10 }]);
    expect(modelsOf("codex", { usage: { ...usage, cached_tokens: 99 } })[0]?.input_tokens).toBe(0);
  });
});

describe("usage without a known price", () => {
  it("took something, and has neither a cost nor an estimate", () => {
    expect(isUnpriced(one)).toBe(true);
    expect(isUnpriced({ ...one, cost_usd: 0 })).toBe(false);
    expect(isUnpriced({ ...one, estimated_usd: 0 })).toBe(false);
    const nothing = { input_tokens: 0, output_tokens: 0, cached_tokens: 0 };
    expect(isUnpriced({ ...one, ...nothing })).toBe(false);
  });
});

it("estimates are summed without the drift of binary fractions, and none is not 0", () => {
  expect(estimateOf([one])).toBeUndefined();
  expect(estimateOf([{ ...one, estimated_usd: 0.1 }, one, { ...one, estimated_usd: 0.2 }])).toBe(0.3);
});
