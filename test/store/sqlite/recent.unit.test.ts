import { describe, expect, it } from "vitest";
import { makeRecent, type RecentLine } from "../../../src/store/sqlite/recent.ts";

const entry = (seq: number, line = "x"): RecentLine => ({
  seq,
  stream: "worker:w",
  type: "agent.event",
  kind: undefined,
  line,
});

describe("the newest lines in memory", () => {
  it("are as many as the bound allows, the oldest leaving first", () => {
    const recent = makeRecent(4, 1_000);
    for (let seq = 1; seq <= 6; seq++) recent.push(entry(seq));
    expect([1, 2, 3, 4, 5, 6, 7].map((seq) => recent.at(seq)?.seq)).toEqual([
      undefined,
      undefined,
      3,
      4,
      5,
      6,
      undefined,
    ]);
  });

  it("are as many as fit their bytes, two for each unit of text", () => {
    const recent = makeRecent(100, 40);
    for (let seq = 1; seq <= 5; seq++) recent.push(entry(seq, "x".repeat(8)));
    expect([1, 2, 3, 4, 5].map((seq) => recent.at(seq)?.seq)).toEqual([
      undefined,
      undefined,
      undefined,
      4,
      5,
    ]);
  });

  it("do not keep a line that is over the bound by itself, and go on after it", () => {
    const recent = makeRecent(100, 40);
    recent.push(entry(1));
    recent.push(entry(2, "x".repeat(21)));
    expect([recent.at(1), recent.at(2)]).toEqual([undefined, undefined]);
    recent.push(entry(3));
    expect(recent.at(3)?.seq).toBe(3);
  });

  it("begin wherever the log was when it was opened", () => {
    const recent = makeRecent(4, 40);
    for (let seq = 1_001; seq <= 1_008; seq++) recent.push(entry(seq, "x".repeat(10)));
    expect([1_006, 1_007, 1_008].map((seq) => recent.at(seq)?.seq)).toEqual([undefined, 1_007, 1_008]);
  });
});
