/** Records for a reader of a log that holds much else: looked for a page at a time, from the end where it is the newest. */
import { Effect, Stream } from "effect";
import { describe, expect, it } from "vitest";
import { eachPage } from "../../../src/actors/deciding/paging.ts";
import { tailOf } from "../../../src/runtime/following/cursor.ts";
import { pages } from "../../../src/runtime/following/follower.ts";
import { type ReadableLog, Tail } from "../../../src/runtime/following/tail.ts";

/** Records 1 to `head`, of which `wanted` pass the filter. */
const logOf = (head: number, wanted: readonly number[]) => {
  let looked = 0;
  let reads = 0;
  const readLines: ReadableLog["readLines"] = (after, limit) => {
    const scanned = Math.min(head, after + limit);
    looked += scanned - after;
    reads++;
    const seqs = wanted.filter((seq) => seq > after && seq <= scanned);
    return { seqs, lines: seqs.map(String), scanned };
  };
  const log: ReadableLog = { head: () => head, readLines, onCommit: () => () => {} };
  const tail = (since: number, count: number) => Effect.runPromise(tailOf(log, {}, since, count));
  return { log, looked: () => looked, reads: () => reads, tail };
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
  ])("of %s", async (_, since, count, cursor) => {
    expect(await tail(since, count)).toBe(cursor);
  });

  it("is found without a look at the whole log", async () => {
    const { tail: ofLong, looked } = logOf(1_000_000, [999_999]);
    expect(await ofLong(0, 1)).toBe(999_998);
    expect(looked()).toBeLessThan(10_000);
  });
});

describe("a reader that wants next to nothing of a long log", () => {
  /** The most reads in one turn of the event loop, while `work` goes on. */
  const busiest = async (reads: () => number, work: () => Promise<unknown>): Promise<number> => {
    let most = 0;
    let before = reads();
    let over = false;
    const ended = work().then(() => {
      over = true;
    });
    while (!over) {
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, reads() - before);
      before = reads();
    }
    await ended;
    return most;
  };
  const follow = { from: 0, filter: {}, until: 20_000, isOver: () => true, isCut: () => false };
  it.each<[string, (log: ReadableLog) => Effect.Effect<unknown, unknown>]>([
    ["its newest records", (log) => tailOf(log, {}, 0, 10)],
    ["each page", (log) => eachPage(log, { from: 0, to: 20_000 }, {}, () => {})],
    ["a stream", (log) => Stream.runDrain(pages(new Tail(log, () => 0), follow))],
  ])("leaves the event loop to others between two pages: %s", async (_, read) => {
    const { log, reads } = logOf(20_000, [3]);
    const work = () => Effect.runPromise(read(log));
    expect(await busiest(reads, work)).toBeLessThanOrEqual(2); // the order of two immediates is nobody's promise
    expect(reads()).toBeGreaterThan(30);
  });
});
