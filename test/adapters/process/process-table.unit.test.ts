import { describe, expect, test } from "vitest";
import { type ProcessStat, parseStat } from "../../../src/adapters/process/identity.ts";
import { markerIn } from "../../../src/adapters/process/marker.ts";
import { descendantsOf, groupMembers, kinshipOf } from "../../../src/adapters/process/process-table.ts";

const at = (pid: number, ppid: number, session: number, more: Partial<ProcessStat> = {}): ProcessStat => ({
  pid,
  ppid,
  session,
  pgrp: session,
  state: "S",
  start_time: `t${pid}`,
  ...more,
});
const tableOf = (...stats: ProcessStat[]) => new Map(stats.map((stat) => [stat.pid, stat]));
const LEADER = 10;
const known = new Map([
  [10, "t10"],
  [11, "t11"],
]);
const found = (stats: ProcessStat[], recorded = known) =>
  [...descendantsOf(kinshipOf(tableOf(...stats)), LEADER, recorded).keys()].sort();

describe("descendants", () => {
  test("are children of children, through any session", () => {
    expect(found([at(10, 1, 10), at(11, 10, 10), at(12, 11, 12), at(13, 12, 13), at(99, 1, 99)])).toEqual([
      10, 11, 12, 13,
    ]);
  });

  test("are members of the session whose parent is gone", () => {
    expect(found([at(10, 1, 10), at(20, 1, 10)])).toEqual([10, 20]);
  });

  test("once recorded stay so when their parents end, and theirs are found", () => {
    const recorded = new Map([...known, [12, "t12"]]);
    expect(found([at(12, 1, 12), at(13, 12, 13)], recorded)).toEqual([12, 13]);
  });

  test("end at a daemon that one of them started, also where it was recorded before it was one", () => {
    const stats = [at(10, 1, 10), at(11, 10, 10), at(12, 11, 12), at(13, 12, 13), at(14, 11, 10)];
    const recorded = new Map([...known, [12, "t12"]]);
    const ours = descendantsOf(kinshipOf(tableOf(...stats)), LEADER, recorded, ({ pid }) => pid === 12);
    expect([...ours.keys()].sort()).toEqual([10, 11, 14]);
  });

  test("are not those of a process that has a recycled pid", () => {
    expect(
      found([
        at(10, 1, 10, { start_time: "later" }),
        at(11, 10, 10, { start_time: "later" }),
        at(30, 11, 10),
      ]),
    ).toEqual([]);
  });

  test("are no zombies, but a zombie leader vouches for its session", () => {
    expect(found([at(10, 1, 10, { state: "Z" }), at(20, 1, 10)])).toEqual([20]);
  });
});

test("a group is trusted only while a known process is in it", () => {
  const stranger = at(20, 1, 10);
  expect(groupMembers(tableOf(at(11, 10, 10), stranger), 10, known).map(({ pid }) => pid)).toEqual([11, 20]);
  expect(groupMembers(tableOf(at(10, 1, 10, { start_time: "later" }), stranger), 10, known)).toEqual([]);
});

test("a command name may hold anything, also what looks like fields", () => {
  const line = `42 (a) R 1 (b) S 7 6 5 ${Array.from({ length: 15 }, (_, n) => n).join(" ")} 1234 0`;
  expect(parseStat(line)).toEqual({ pid: 42, state: "S", ppid: 7, pgrp: 6, session: 5, start_time: "1234" });
  expect(parseStat("garbage")).toBeUndefined();
});

test.each<[string, string | undefined]>([
  ["HOLDFAST_RUN=s/w/1\0A=b\0", "s/w/1"],
  ["A=b\0HOLDFAST_RUN=s/w/1\0", "s/w/1"],
  ["A=HOLDFAST_RUN=no\0XHOLDFAST_RUN=no\0", undefined],
  ["XHOLDFAST_RUN=no\0HOLDFAST_RUN=yes", "yes"],
  ["", undefined],
])("the marker in %j is %s", (block, marker) => {
  expect(markerIn(Buffer.from(block))).toBe(marker);
});
