/** The records of a log as they are copied: dense, whatever retention has removed. */
import { Effect } from "effect";
import { expect, it } from "vitest";
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

it("the log is asked for what follows", async () => {
  const asked: unknown[] = [];
  const log = shippedLog(
    {
      epoch: "e",
      follow: (query, take) =>
        Effect.sync(() => {
          asked.push(query);
          expect(take({ lines: ["x"], seqs: [8], head: 8 })).toBe("enough");
          return 8;
        }),
    },
    "s",
  );
  expect(await Effect.runPromise(log.read(7, 500))).toEqual([{ seq: 8, run: null, text: "x" }]);
  expect(asked).toEqual([{ from: 7, follow: true }]);
});
