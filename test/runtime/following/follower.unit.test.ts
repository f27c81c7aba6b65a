import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { READ_PAGE_RECORDS, WAKE_SLICE_MS } from "../../../src/base/limits.ts";
import { DAEMON_STREAM, workerStream } from "../../../src/protocol/records.ts";
import { type Follow, Follower, type TakePage } from "../../../src/runtime/following/follower.ts";
import { type ReadableLog, Tail } from "../../../src/runtime/following/tail.ts";
import type { Commit } from "../../../src/store/event-log.ts";

/** A log of lines, with what its followers ask of it. */
const makeLog = (count: number) => {
  const lines = Array.from({ length: count }, (_, n) => `${n + 1}`);
  const listeners = new Set<(commit: Commit) => void>();
  const reads: number[] = [];
  const log: ReadableLog = {
    head: () => lines.length,
    readLines: (after, limit, filter) => {
      if (filter?.worker_ids !== undefined) reads.push(after);
      const page = lines.slice(after, after + limit);
      return { lines: page, seqs: page.map(Number), scanned: after + page.length };
    },
    onCommit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return {
    log,
    listeners: () => listeners.size,
    /** The seqs at which the reads for workers began. */
    reads,
    /** Without a stream, the followers do not learn of which streams the records are. */
    append: (stream?: string) => {
      lines.push(`${lines.length + 1}`);
      const streams = stream === undefined ? undefined : new Set([stream]);
      for (const listener of [...listeners]) listener({ head: lines.length, streams });
    },
  };
};

const monoMs = () => performance.now();

const always: Follow = { from: 0, filter: {}, isOver: () => false, isCut: () => false };

const follow = (tail: Tail, take: TakePage, over: Partial<Follow> = {}) => {
  const ends: unknown[] = [];
  const follower = new Follower(tail, { ...always, ...over }, take, {
    onOver: (next) => ends.push(next),
    onFailure: ({ code }) => ends.push(code),
  });
  follower.wake();
  return { follower, ends };
};

test("a follower is handed the log and then each commit, every line once and in order", async () => {
  const { log, append } = makeLog(3 * READ_PAGE_RECORDS + 1);
  const heard: string[] = [];
  follow(new Tail(log, monoMs), ({ lines }) => void heard.push(...lines));
  for (let n = 0; n < 10; n += 1) {
    append();
    await nextTurn();
  }
  await nextTurn();
  expect(heard).toEqual(Array.from({ length: log.head() }, (_, n) => `${n + 1}`));
});

test("one that wants its pages at once has all that are there in one turn of the loop, and then each commit", async () => {
  const { log, append } = makeLog(3 * READ_PAGE_RECORDS + 1);
  const heard: string[] = [];
  follow(new Tail(log, monoMs), ({ lines }) => {
    heard.push(...lines);
    return "at_once";
  });
  const all = () => Array.from({ length: log.head() }, (_, n) => `${n + 1}`);
  expect(heard).toEqual(all());
  append();
  await nextTurn();
  expect(heard).toEqual(all());
});

test("for one that cannot take its page nothing is read, and the others do not wait for it", async () => {
  const { log, append } = makeLog(0);
  const tail = new Tail(log, monoMs);
  const room = Promise.withResolvers<void>();
  const stalled: string[] = [];
  const heard: string[] = [];
  follow(tail, ({ lines }) => {
    stalled.push(...lines);
    return stalled.length === 1 ? room.promise : undefined;
  });
  follow(tail, ({ lines }) => void heard.push(...lines));
  for (let n = 0; n < 5; n += 1) {
    append();
    await nextTurn();
  }
  expect([stalled, heard]).toEqual([["1"], ["1", "2", "3", "4", "5"]]);
  room.resolve();
  while (stalled.length === 1) await nextTurn();
  expect(stalled).toEqual(["1", "2", "3", "4", "5"]);
});

test.each([
  ["at once", () => undefined],
  ["at the end of the turn", () => Promise.resolve()],
])("one that takes each page %s leaves the loop to others between two pages", async (_, taken) => {
  const { log } = makeLog(3 * READ_PAGE_RECORDS);
  let pages = 0;
  follow(new Tail(log, monoMs), () => {
    pages += 1;
    return taken();
  });
  const seen: number[] = [];
  while (pages < 3) {
    seen.push(pages);
    await nextTurn();
  }
  expect(new Set(seen)).toEqual(new Set([1, 2]));
});

test("it ends at its last seq, when it is over, and when the runtime is shut down", async () => {
  const { log } = makeLog(10);
  const tail = new Tail(log, monoMs);
  const heard: string[] = [];
  const ended = follow(tail, ({ lines }) => void heard.push(...lines), { from: 2, until: 4 });
  await nextTurn();
  expect([heard, ended.ends]).toEqual([["3", "4"], [4]]);
  expect(follow(tail, () => undefined, { from: 10, isOver: () => true }).ends).toEqual([10]);
  expect(follow(tail, () => undefined, { from: 10, isCut: () => true }).ends).toEqual(["UNAVAILABLE"]);
});

test("an error of its reader ends it alone; a reader that has left is told nothing, and at last nobody listens", async () => {
  const { log, append, listeners } = makeLog(0);
  const tail = new Tail(log, monoMs);
  const heard: string[] = [];
  const broken = follow(tail, () => {
    throw new TypeError("a reader broke");
  });
  const left = follow(tail, ({ lines }) => void heard.push(`left ${lines}`));
  const other = follow(tail, ({ lines }) => void heard.push(...lines));
  left.follower.stop();
  append();
  // A slice of waking ends early on a busy machine.
  while (heard.length === 0) await nextTurn();
  expect([heard, broken.ends]).toEqual([["1"], ["INTERNAL"]]);
  expect(listeners()).toBe(1);
  other.follower.stop();
  expect(listeners()).toBe(0);
});

test("many who wait are woken a slice at a time, and what is committed meanwhile reaches all of them", async () => {
  const { log, append } = makeLog(0);
  const tail = new Tail(log, monoMs);
  const heard = new Map<number, string[]>();
  let turns = 0;
  for (let n = 0; n < 3; n += 1)
    follow(tail, ({ lines }) => {
      const until = performance.now() + 2 * WAKE_SLICE_MS;
      while (performance.now() < until);
      heard.set(n, [...(heard.get(n) ?? []), ...lines]);
      return undefined;
    });
  append();
  append();
  while (heard.size < 3) {
    await nextTurn();
    turns += 1;
  }
  append();
  while (heard.get(2)?.length !== 3) await nextTurn();
  expect(turns).toBeGreaterThanOrEqual(3);
  expect([...heard.values()]).toEqual(Array(3).fill(["1", "2", "3"]));
});

test("one that has enough ends there, and the rest is not read", async () => {
  const { log, listeners } = makeLog(3 * READ_PAGE_RECORDS);
  const { ends } = follow(new Tail(log, monoMs), () => "enough");
  await nextTurn();
  expect([ends, listeners()]).toEqual([[READ_PAGE_RECORDS], 0]);
});

test("a follower of some workers is woken for their records and the daemon's, and passes over the others at once", async () => {
  const { log, append, reads } = makeLog(0);
  const tail = new Tail(log, monoMs);
  const { follower } = follow(tail, () => undefined, { filter: { worker_ids: ["a", "b"] } });
  reads.length = 0;
  const readsAfter = async (...streams: readonly (string | undefined)[]): Promise<readonly number[]> => {
    for (const stream of streams) append(stream);
    await nextTurn();
    return reads.splice(0);
  };
  const [a, b, c] = ["a", "b", "c"].map(workerStream);
  expect(await readsAfter(c, "board:x")).toEqual([]);
  expect(await readsAfter(b)).toEqual([2, 3]);
  expect(await readsAfter(c, a)).toEqual([4, 5]);
  expect(await readsAfter(c, DAEMON_STREAM)).toEqual([6, 7]);
  // Records of unknown streams concern everybody.
  expect(await readsAfter(c, undefined)).toEqual([8, 9]);
  follower.stop();
  expect(await readsAfter(a, undefined)).toEqual([]);
});

test("a follower of one worker that ends at a seq ends there although the worker is quiet", async () => {
  const { log, append } = makeLog(0);
  const { ends } = follow(new Tail(log, monoMs), () => undefined, {
    filter: { worker_ids: ["a"] },
    until: 1,
  });
  append(workerStream("b"));
  while (ends.length === 0) await nextTurn();
  expect(ends).toEqual([1]);
});
