import { describe, expect, test } from "vitest";
import { decideExit } from "../../../src/adapters/process/exit.ts";
import {
  killedByKernel,
  MemoryWatch,
  oomKillsOf,
  wasOutOfMemory,
} from "../../../src/adapters/process/out-of-memory.ts";

const AGENT = 42;
const table: readonly [
  what: string,
  of_run: number | undefined,
  of_machine: number | undefined,
  logged: readonly number[] | undefined,
  expected: boolean,
][] = [
  ["the run's cgroup counts a kill", 1, 0, undefined, true],
  ["the run's cgroup counts none, whatever the machine does", 0, 3, [AGENT], false],
  ["the machine counts one, and the kernel's log names the agent", undefined, 1, [7, AGENT], true],
  ["the machine counts one, and the kernel's log names somebody else", undefined, 1, [7], false],
  ["the machine counts one, and its log may not be read", undefined, 1, undefined, true],
  ["the machine counts none: what the log names is of long ago", undefined, 0, [AGENT], false],
  ["the machine does not count", undefined, undefined, undefined, false],
];

test.each(table)("%s", (_what, of_run, of_machine, logged, expected) => {
  const evidence = { of_run, of_machine, logged: () => logged && new Set(logged) };
  expect(wasOutOfMemory(evidence, [AGENT])).toBe(expected);
});

describe("the machine's count", () => {
  test("is what has been added since the look before the last one", () => {
    let kills = 5;
    const watch = new MemoryWatch(
      () => kills,
      () => undefined,
    );
    const moved = () => watch.evidence().of_machine;
    expect(moved()).toBe(0);
    kills = 6;
    expect(moved()).toBe(1);
    watch.look();
    expect(moved()).toBe(1);
    watch.look();
    expect(moved()).toBe(0);
  });

  test("and the log's names are read as the kernel writes them", () => {
    expect(oomKillsOf("nr_free 1\noom_kill 3\nx 1\n")).toBe(3);
    expect(oomKillsOf("nr_free 1\n")).toBeUndefined();
    expect(killedByKernel("3,1,2,-;Out of memory: Killed process 42 (node) total-vm:1kB\n")).toBe(42);
    expect(killedByKernel("3,1,2,-;Memory cgroup out of memory: Killed process 43 (sh) total-vm:1kB\n")).toBe(
      43,
    );
    expect(killedByKernel("6,1,2,-;process 44 started\n")).toBeUndefined();
  });
});

test("only a SIGKILL that is not ours is asked about, and it stays inferred", () => {
  const exit = (raw_status: number | null, signals_sent: readonly string[] = []) =>
    decideExit({ raw_status, exec_failed: false, signals_sent, was_out_of_memory: () => true });
  expect(exit(137)).toMatchObject({ signal: "SIGKILL", signal_inferred: true, cause: "out_of_memory" });
  for (const other of [exit(137, ["SIGKILL"]), exit(143), exit(1), exit(null)])
    expect(other).not.toHaveProperty("cause");
});
