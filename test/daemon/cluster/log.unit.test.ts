/** The records of a log as they are copied: dense, whatever retention has removed. */
import { Effect } from "effect";
import { expect, it } from "vitest";
import {
  CLUSTER_SHIP_MAX_CHARS,
  CLUSTER_SHIP_PAGES_AT_ONCE,
  READ_PAGE_MAX_CHARS,
  READ_PAGE_RECORDS,
} from "../../../src/base/limits.ts";
import { denseRecords, shippedLog } from "../../../src/daemon/cluster/log.ts";

it("a record that was removed has its place", () => {
  const page = { lines: ["a", "c"], seqs: [3, 5], head: 6 };
  expect(denseRecords(2, 10, page)).toEqual([
    { seq: 3, run: null, text: "a" },
    { seq: 4, run: null, text: "null" },
    { seq: 5, run: null, text: "c" },
    { seq: 6, run: null, text: "null" },
  ]);
});

it("a page gives no more than was asked for, and the next one goes on there", () => {
  const page = { lines: ["z"], seqs: [1_000_000], head: 1_000_000 };
  const records = denseRecords(0, 500, page);
  expect([records.length, records.at(-1)?.seq]).toEqual([500, 500]);
});

/** A log of `size` records, in pages as the daemon's. */
const logOf = (size: number, asked: object[], lineOf: (seq: number) => string, said: unknown[] = []) =>
  shippedLog(
    {
      epoch: "e",
      placeOf: () => undefined,
      follow: (query, take) =>
        Effect.sync(() => {
          asked.push(query);
          let head = query.from as number;
          while (head < size) {
            const seqs: number[] = [];
            const lines: string[] = [];
            for (
              let chars = 0;
              head < size && seqs.length < READ_PAGE_RECORDS && chars < READ_PAGE_MAX_CHARS;
            ) {
              head += 1;
              seqs.push(head);
              lines.push(lineOf(head));
              chars += lineOf(head).length;
            }
            said.push(take({ lines, seqs, head }));
            if (said.at(-1) === "enough") break;
          }
          return head;
        }),
    },
    "s",
  );
const read = async (size: number, after: number, max: number, lineOf: (seq: number) => string = String) => {
  const asked: object[] = [];
  const records = await Effect.runPromise(logOf(size, asked, lineOf).read(after, max));
  return { asked, seqs: records.map(({ seq }) => seq), texts: records.map(({ text }) => text) };
};

it("at the end of the log, what is there is copied at once", async () => {
  expect(await read(8, 7, 2_000)).toEqual({ asked: [{ from: 7, follow: true }], seqs: [8], texts: ["8"] });
});

it("a full page is followed by more, as many as are there, or as were asked for", async () => {
  const some = await read(READ_PAGE_RECORDS * 2 + 7, 0, 2_000);
  expect(some.asked).toEqual([
    { from: 0, follow: true },
    { from: READ_PAGE_RECORDS, follow: false },
  ]);
  expect(some.texts).toEqual(Array.from({ length: READ_PAGE_RECORDS * 2 + 7 }, (_, at) => String(at + 1)));
  const many = await read(READ_PAGE_RECORDS * 9, 3, READ_PAGE_RECORDS * 2 + 1);
  expect([many.seqs.length, many.seqs[0], many.seqs.at(-1)]).toEqual([1_001, 4, 1_004]);
});

it("pages are read some at a time in one turn of the loop, so that a busy one holds up no statement", async () => {
  const said: unknown[] = [];
  const pages = 2 * CLUSTER_SHIP_PAGES_AT_ONCE + 1;
  const records = READ_PAGE_RECORDS * pages;
  await Effect.runPromise(logOf(records + 1, [], String, said).read(0, records));
  const some = [...Array(CLUSTER_SHIP_PAGES_AT_ONCE - 1).fill("at_once"), undefined];
  expect(said).toEqual(["enough", ...some, ...some.slice(0, -1), "enough"]);
});

it("long records make a statement that the database does in its time, also after short ones", async () => {
  const long = "x".repeat(64 * 1024);
  const { seqs, texts } = await read(2_000, 0, 2_000, (seq) => (seq <= READ_PAGE_RECORDS ? "short" : long));
  expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, at) => at + 1));
  const chars = texts.reduce((sum, text) => sum + text.length, 0);
  expect(chars).toBeGreaterThanOrEqual(CLUSTER_SHIP_MAX_CHARS);
  expect(chars).toBeLessThan(CLUSTER_SHIP_MAX_CHARS + READ_PAGE_MAX_CHARS + long.length);
});

it("a page that is full of long records is followed by more", async () => {
  const long = "x".repeat(64 * 1024);
  const { asked, texts } = await read(30, 0, 2_000, () => long);
  expect([asked.length, texts.length]).toEqual([2, 30]);
});
