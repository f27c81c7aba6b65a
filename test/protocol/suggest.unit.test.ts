import { describe, expect, it } from "vitest";
import { nearest } from "../../src/protocol/suggest.ts";

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
  it.each(["x", "frobnicate", "", "tree"])("has nothing for %j", (typed) => {
    expect(nearest(typed, words)).toBeUndefined();
  });
});
