import { describe, expect, it } from "vitest";
import { didYouMean, nearest } from "../../src/base/suggest.ts";

describe("nearest", () => {
  const words = ["list", "logs", "kill", "spawn", "watch", "wait", "capabilities"];
  it.each([
    ["lsit", "list"],
    ["log", "logs"],
    ["spwan", "spawn"],
    ["LIST", "list"],
    ["capab", "capabilities"],
    ["wacth", "watch"],
  ])("%s means %s", (typed, meant) => {
    expect(nearest(typed, words)).toBe(meant);
  });
  // Words of other tools, which are no typos.
  it.each(["pwsh", "init", "cp", "login", "cost"])("takes %s for no typo", (typed) => {
    expect(nearest(typed, [...words, "bash", "resume", "info", "mcp", "usage"])).toBeUndefined();
  });
  it.each(["x", "frobnicate", "", "tree"])("has nothing for %j", (typed) => {
    expect(nearest(typed, words)).toBeUndefined();
  });
});

describe("didYouMean", () => {
  const policies = ["permanent", "transient", "temporary"];
  it.each([
    ["always", "permanent"],
    ["unless-stopped", "permanent"],
    ["on-failure", "transient"],
    ["on-failure:5", "transient"],
    ["no", "temporary"],
    ["permanant", "permanent"],
  ])("knows what docker and systemd call a policy: %s is %s", (typed, meant) => {
    expect(didYouMean(typed, policies)).toBe(`; did you mean ${meant}?`);
  });
  it("offers nothing that is no choice here", () => {
    expect(didYouMean("always", ["ask", "deny", "allow"])).toBe("");
  });
});
