import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { type Kinship, readTable } from "../../../src/adapters/process/process-table.ts";
import { Snapshots } from "../../../src/adapters/process/snapshots.ts";

/** Snapshots whose newest pid the test says, how many scans they have made, and what the last one says of this process. */
const watched = () => {
  let scans = 0;
  let newest: number | undefined = 100;
  let last: Kinship | undefined;
  const record = (kinship: Kinship): void => {
    scans += 1;
    last = kinship;
  };
  const begin = (pid: number | undefined): void => {
    newest = pid;
  };
  const snapshots = new Snapshots(new Set([{ record }]), () => newest);
  return { snapshots, scans: () => scans, begin, seen: () => last?.table.get(process.pid) };
};

test("the scan of the period is left out while no process has begun, and made for who asks", async () => {
  const { snapshots, scans, begin } = watched();
  const processes = await snapshots.keep();
  expect(processes).toBeGreaterThan(1);
  expect(await snapshots.keep()).toBe(processes);
  expect(scans()).toBe(1);
  begin(101);
  await snapshots.keep();
  expect(scans()).toBe(2);
  await snapshots.refresh();
  expect(scans()).toBe(3);
});

test("every scan is made if the system does not tell its newest pid", async () => {
  const { snapshots, scans, begin } = watched();
  begin(undefined);
  await snapshots.keep();
  await snapshots.keep();
  expect(scans()).toBe(2);
});

test("on the period a process is read once, until the pids begin anew or somebody asks", async () => {
  const { snapshots, begin, seen } = watched();
  await snapshots.keep();
  const first = seen();
  begin(101);
  await snapshots.keep();
  expect(seen()).toBe(first);
  begin(99);
  await snapshots.keep();
  const second = seen();
  expect(second).not.toBe(first);
  await snapshots.refresh();
  expect(seen()).not.toBe(second);
  expect(seen()).toMatchObject({ pid: process.pid, start_time: first?.start_time });
});

test("scans that meet are made one after the other, and the one for who asks begins after the question", async () => {
  const { snapshots, scans, begin } = watched();
  const kept = snapshots.keep();
  const asked = [snapshots.refresh(), snapshots.refresh()];
  begin(101);
  const keptAgain = snapshots.keep();
  await Promise.all([kept, ...asked, keptAgain]);
  expect(scans()).toBe(3);
});

test("whose parent is gone is read again, because it has another one now", async () => {
  const known = (await readTable()).get(process.pid)!;
  const orphan = { ...known, ppid: 2 ** 30 };
  const table = await readTable(new Map([[process.pid, orphan]]));
  expect(table.get(process.pid)).toMatchObject({ pid: process.pid, ppid: process.ppid });
  const earlier = new Map([[process.pid, known]]);
  expect((await readTable(earlier)).get(process.pid)).toBe(known);
});

test("a process that begins is seen, as the kernel tells it", async () => {
  let scans = 0;
  const record = (): void => {
    scans += 1;
  };
  const snapshots = new Snapshots(new Set([{ record }]));
  await snapshots.keep();
  spawnSync("true");
  await snapshots.keep();
  expect(scans).toBe(2);
});
