/** The file of a node: closed to others, and its lease only for the boot in which it was held. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bootClock, forgetKept, readKept, writeKept } from "../../../src/daemon/cluster/kept.ts";

const KEPT = {
  database: "postgres://u:p@db/c",
  name: "a",
  labels: { gpu: "1" },
  capacity: 4,
  endpoint: "ssh://me@a",
  term: 3,
  until_ms: 12,
  session: "s",
};
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-kept-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const file = (): string => join(dir, "cluster.json");

it("a node is read as it was kept, and nobody else may read it", () => {
  expect(readKept(dir)).toBeUndefined();
  writeKept(dir, KEPT);
  expect(readKept(dir)).toEqual(KEPT);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
});

it("a node that was kept before nodes had endpoints has none", () => {
  const { endpoint: _, ...before } = KEPT;
  writeKept(dir, before as typeof KEPT);
  expect(readKept(dir)).toEqual({ ...KEPT, endpoint: "" });
});

it("the guard reads the same lease from a line of its own, and none that is not held", () => {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1");
  const lease = join(dir, "cluster.lease");
  writeKept(dir, KEPT);
  expect(readFileSync(lease, "utf8")).toBe(`a 12 ${boot}`);
  expect(statSync(lease).mode & 0o777).toBe(0o600);
  writeKept(dir, { ...KEPT, until_ms: null });
  expect(readFileSync(lease, "utf8")).toBe(`a - ${boot}`);
});

it("a lease of another boot is over", () => {
  writeKept(dir, KEPT);
  writeFileSync(file(), JSON.stringify({ ...JSON.parse(readFileSync(file(), "utf8")), boot_id: "other" }));
  expect(readKept(dir)).toEqual({ ...KEPT, until_ms: null });
});

it("a file that is none of a node is refused, and one that is gone is none", () => {
  writeFileSync(file(), "{}");
  expect(() => readKept(dir)).toThrow("cluster.json in the state directory cannot be read.");
  forgetKept(dir);
  expect(readKept(dir)).toBeUndefined();
  expect(existsSync(join(dir, "cluster.lease"))).toBe(false);
});

it("a garbled file is refused without a word of its text", () => {
  writeFileSync(file(), '{"database":"postgres://u:hunter2@db/c"oops');
  let refusal: unknown;
  try {
    readKept(dir);
  } catch (cause) {
    refusal = cause;
  }
  expect(refusal).toMatchObject({ code: "FILE_FAILED" });
  expect(inspect(refusal, { depth: 9 })).not.toMatch(/hunter2|oops/);
});

it("the clock goes forwards, and each process of this boot has the same", () => {
  const before = bootClock();
  expect(bootClock()).toBeGreaterThanOrEqual(before);
  expect(Math.abs(before - Number.parseFloat(readFileSync("/proc/uptime", "latin1")) * 1_000)).toBeLessThan(
    5_000,
  );
});
