/** Several agents as one decision, and how deep each may go. */
import { describe, expect, it } from "vitest";
import { decideSpawn, depthLimit, type Refusal } from "../../../src/control/overseer/decide.ts";

const ONE = { role: "worker", task: "one" };
const TWO = { role: "coder", task: "two" };
const refusal: Refusal = {
  reason: "policy_violation",
  message: "It asks for too much.",
  suggestion: "Ask for less.",
};

describe("a group", () => {
  it("starts whole", () =>
    expect(decideSpawn([ONE, TWO], [undefined, undefined])).toEqual({
      accepted: true,
      denied: [],
      suggestion: null,
    }));

  it("or not at all: each is told why", () =>
    expect(decideSpawn([ONE, TWO], [undefined, refusal])).toEqual({
      accepted: false,
      denied: [
        { ...ONE, reason: "not_started", message: expect.stringContaining("none of them was started") },
        { ...TWO, reason: "policy_violation", message: "It asks for too much." },
      ],
      suggestion: "Ask for less. Or ask again for the others alone.",
    }));

  it("with nobody left, there are no others to ask for", () =>
    expect(decideSpawn([ONE], [refusal]).suggestion).toBe("Ask for less."));
});

describe("the depth limit of an agent with one above it, and a bound of 3", () => {
  const above = { depth: 1, bound: 3 };
  it.each([
    ["that asks for none", {}, undefined],
    ["whose role may have nobody below it", { levels: 0 }, 1],
    ["whose role may have one level", { levels: 1 }, 2],
    ["that asks for a tighter one itself", { levels: 2, local_max_depth: 1 }, 1],
    ["that asks for a looser one than its role has", { levels: 0, local_max_depth: 3 }, 1],
    ["that asks for more than is above it", { local_max_depth: 9 }, 3],
  ] as const)("%s", (_, asked, limit) => expect(depthLimit(asked, above)).toBe(limit));
});
