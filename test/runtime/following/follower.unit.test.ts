import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { READ_PAGE_RECORDS, WAKE_SLICE_MS } from "../../../src/base/limits.ts";
import { type Follow, Follower, type TakePage } from "../../../src/runtime/following/follower.ts";
import { type ReadableLog, Tail } from "../../../src/runtime/following/tail.ts";

/** A log of lines, with what its followers ask of it. */
const makeLog = (count: number) => {
  const lines = Array.from({ length: count }, (_, n) => `${n + 1}`);
  const listeners = new Set<(head: number) => void>();
  const log: ReadableLog = {
    head: () => lines.length,
    readLines: (after, limit) => {
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
    append: () => {
      lines.push(`${lines.length + 1}`);
      for (const listener of [...listeners]) listener(lines.length);
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
  await nextTurn();
  expect(stalled).toEqual(["1", "2", "3", "4", "5"]);
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
