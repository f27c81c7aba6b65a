import { describe, expect, it } from "vitest";
import type { RelatedProcess } from "../../../src/adapters/posix.ts";
import { readStat } from "../../../src/adapters/process/identity.ts";
import {
  type KnownRun,
  lineageOf,
  originBelowDaemon,
  originIn,
  statClock,
} from "../../../src/adapters/process/origin.ts";

const place = { storeId: "store", runsDir: "/state/runs" };
const relative = (pid: number, given: Partial<RelatedProcess> = {}): RelatedProcess => ({
  pid,
  ppid: pid - 1,
  start_time: String(pid * 10),
  pgrp: pid,
  session: pid,
  marker: undefined,
  spools: [],
  cgroup: undefined,
  ...given,
});
const run = (worker_id: string, pids: readonly number[], cgroup?: string): KnownRun => ({
  worker_id,
  incarnation: 1,
  owns: (pid, start) => pids.includes(pid) && start === String(pid * 10),
  leads: (group) => group === pids[0],
  cgroup,
});
const runs = [run("A", [100, 101]), run("B", [200, 201], "/sys/fs/cgroup/user/run-store-B-1")];
const of = (...lineage: RelatedProcess[]) => {
  const origin = originIn(lineage, runs, place);
  return origin.type === "run" ? `${origin.worker_id} by ${origin.by}` : origin.type;
};

describe("the run of a process", () => {
  it.each([
    ["a user's shell", [relative(7), relative(6)], "outside"],
    [
      "a child of an agent, whatever it says",
      [relative(7, { marker: "store/B/1" }), relative(101)],
      "A by descent",
    ],
    ["a child without a marker", [relative(7), relative(8), relative(101)], "A by descent"],
    ["a foreign process with an agent's pid", [relative(101, { start_time: "9" })], "outside"],
    ["the nearer of two agents", [relative(7), relative(201), relative(101)], "B by descent"],
    [
      "in a run's cgroup, with nobody above it",
      [relative(7, { cgroup: "/user/run-store-B-1/deeper" })],
      "B by cgroup",
    ],
    ["in the group that a launcher leads", [relative(7, { pgrp: 100 })], "A by group"],
    ["in its session", [relative(7, { session: 100 })], "A by group"],
    ["writing to a spool of a run", [relative(7, { spools: ["/state/runs/C/3"] })], "C by spool"],
    [
      "writing to a file that is called so elsewhere",
      [relative(7, { spools: ["/elsewhere/C/3"] })],
      "outside",
    ],
    ["with a marker", [relative(7, { marker: "store/C/2" })], "C by marker"],
    ["with a marker above it", [relative(7), relative(6, { marker: "store/C/2" })], "C by marker"],
    [
      "with another marker than the one above it",
      [relative(7, { marker: "store/D/1" }), relative(6, { marker: "store/C/2" })],
      "C by marker",
    ],
    ["with a marker of another store", [relative(7, { marker: "other/C/2" })], "outside"],
  ] as const)("%s", (_, lineage, expected) => {
    expect(of(...lineage)).toBe(expected);
  });
});

describe("below the daemon", () => {
  const below = (given: Partial<RelatedProcess>, starting = "") => {
    const lineage = [relative(7, given), relative(given.pid ?? 6, { ppid: 5, ...given })];
    const origin = originBelowDaemon(
      lineage,
      5,
      originIn(lineage, runs, place),
      ({ worker_id }) => worker_id === starting,
    );
    return origin.type === "run" ? `${origin.worker_id} by ${origin.by}` : origin.type;
  };
  it.each([
    ["a program that it runs", below({ ppid: 5 }), "daemon"],
    ["an agent", below({ ppid: 5, pid: 100 }), "A by descent"],
    ["one that says it is of a run", below({ ppid: 5, marker: "store/B/2" }), "daemon"],
    ["one that writes to a spool of a run", below({ ppid: 5, spools: ["/state/runs/C/3"] }), "daemon"],
    ["one of a run that is starting", below({ ppid: 5, marker: "store/C/2" }, "C"), "C by marker"],
    ["a user's shell", below({ ppid: 1 }), "outside"],
  ])("%s", (_, found, expected) => {
    expect(found).toBe(expected);
  });
});

it("the clock of the process table is the machine's, as far as this process's own start shows", () => {
  const own = readStat(process.pid)!;
  const age_s = statClock()() - Number(own.start_time) / 100;
  expect(Math.abs(age_s - process.uptime())).toBeLessThan(5);
});

it("a process is no other one that has its pid since", () => {
  expect(lineageOf(process.pid, 1)?.[0]).toMatchObject({ pid: process.pid });
  expect(lineageOf(process.pid, 1, statClock()() - process.uptime() - 60)).toBeUndefined();
  expect(lineageOf(-1, 1)).toBeUndefined();
});
