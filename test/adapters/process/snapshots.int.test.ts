import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { Snapshots } from "../../../src/adapters/process/snapshots.ts";

/** Snapshots whose newest pid the test says, and how many scans they have made. */
const watched = () => {
  let scans = 0;
  let newest: string | undefined = "100";
  const record = (): void => {
    scans += 1;
  };
  const begin = (pid: string | undefined): void => {
    newest = pid;
  };
  const snapshots = new Snapshots(new Set([{ record }]), () => newest);
  return { snapshots, scans: () => scans, begin };
};

test("the scan of the period is left out while no process has begun, and made for who asks", async () => {
  const { snapshots, scans, begin } = watched();
  const processes = await snapshots.keep();
  expect(processes).toBeGreaterThan(1);
  expect(await snapshots.keep()).toBe(processes);
  expect(scans()).toBe(1);
  begin("101");
  await snapshots.keep();
  expect(scans()).toBe(2);
  await snapshots.refresh();
  expect(scans()).toBe(3);
});

test("where the system does not say which pid is the newest, every scan is made", async () => {
  const { snapshots, scans, begin } = watched();
  begin(undefined);
  await snapshots.keep();
  await snapshots.keep();
  expect(scans()).toBe(2);
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
