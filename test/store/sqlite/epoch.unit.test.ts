/** When a log that is found is not the one that its witness saw. */
import { describe, expect, it } from "vitest";
import { isOfHistory } from "../../../src/store/history.ts";
import { judge } from "../../../src/store/sqlite/epoch.ts";

const witness = { store_id: "S", epoch: "B", made: "1", seq: 90, id: "id90" };
const found = {
  store_id: "S",
  epoch: "B",
  made: "1",
  head: 100,
  former: [{ epoch: "A", why: "older", up_to: 40, lost: 9, ended_ms: 0 }],
  idAt: (seq: number) => `id${seq}`,
} as const;

describe("a log", () => {
  it.each([
    ["that goes on from its witness", witness, found],
    ["without a witness", undefined, found],
    ["that ends at its witness", witness, { ...found, head: 90 }],
    ["whose witness was written before its epoch began", { ...witness, epoch: "A", seq: 60 }, found],
    ["on a file system that tells no birth time", { ...witness, made: null }, found],
    ["whose witness names no record yet", { ...witness, seq: 0, id: null }, { ...found, head: 0 }],
  ])("%s is the same history", (_, seen, log) => {
    expect(judge(seen, log)).toBeUndefined();
  });

  it.each([
    ["that ends before it", witness, { ...found, head: 70 }, { why: "older", up_to: 70, lost: 20 }],
    [
      "of an epoch before that of its witness",
      { ...witness, epoch: "C" },
      found,
      { why: "older", up_to: 100, lost: null },
    ],
    [
      "with another record in the place",
      witness,
      { ...found, idAt: () => "x" },
      { why: "other", up_to: 0, lost: null },
    ],
    [
      "without the record",
      witness,
      { ...found, idAt: () => undefined },
      { why: "other", up_to: 0, lost: null },
    ],
    ["of another store", witness, { ...found, store_id: "T" }, { why: "other", up_to: 100, lost: 90 }],
    ["in another file", witness, { ...found, made: "2" }, { why: "copied", up_to: 100, lost: 0 }],
  ])("%s is another one", (_, seen, log, broken) => {
    expect(judge(seen, log)).toEqual(broken);
  });
});

it.each([
  ["B", 1_000_000, true],
  ["A", 40, true],
  ["A", 41, false],
  ["C", 1, false],
])("a cursor of epoch %s at %i is of the log's history: %s", (epoch, seq, is) => {
  expect(isOfHistory(found, epoch, seq)).toBe(is);
});
