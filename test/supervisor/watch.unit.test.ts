/** The newest records that a reader wants: looked for from the end of the log. */
import { describe, expect, it } from "vitest";
import type { EventLog } from "../../src/store/port.ts";
import { tailOf } from "../../src/supervisor/watch.ts";

/** Records 1 to `head`, of which `wanted` pass the filter. */
const logOf = (head: number, wanted: readonly number[]) => {
  let looked = 0;
  const readLines: EventLog["readLines"] = (after, limit) => {
    const scanned = Math.min(head, after + limit);
    looked += scanned - after;
    const seqs = wanted.filter((seq) => seq > after && seq <= scanned);
    return { seqs, lines: seqs.map(String), scanned };
  };
  const log = { head: () => head, readLines } as unknown as EventLog;
  return { looked: () => looked, tail: (since: number, count: number) => tailOf(log, {}, since, count) };
};

describe("the cursor before the newest records", () => {
  const { tail } = logOf(10_000, [3, 4_000, 9_990, 9_991]);
  it.each([
    ["none of them", 0, 0, 10_000],
    ["those at the end", 0, 2, 9_989],
    ["those far back", 0, 3, 3_999],
    ["all, where there are fewer", 0, 100, 2],
    ["none before where it may begin", 9_990, 5, 9_990],
    ["the end, where nothing is wanted", 9_995, 5, 10_000],
  ])("of %s", (_, since, count, cursor) => {
    expect(tail(since, count)).toBe(cursor);
  });

  it("is found without a look at the whole log", () => {
    const { tail: ofLong, looked } = logOf(1_000_000, [999_999]);
    expect(ofLong(0, 1)).toBe(999_998);
    expect(looked()).toBeLessThan(10_000);
  });
});
