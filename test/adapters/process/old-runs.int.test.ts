import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { removeOldRuns } from "../../../src/adapters/process/old-runs.ts";
import { RUNS_KEPT_MS } from "../../../src/base/limits.ts";

const runs = mkdtempSync(join(tmpdir(), "holdfast-keep-"));
afterEach(() => rmSync(runs, { recursive: true, force: true }));

it("raw output goes a day after its end; what is in use, what is younger and the launch spec stay", async () => {
  const now = Date.now();
  /** `endedAgo`: its exit is younger than the directory, in which every file was made at its start. */
  const incarnation = (name: string, ageMs: number, endedAgo = ageMs) => {
    const dir = join(runs, "W", name);
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "stdout"), "text");
    writeFileSync(join(dir, "exit"), "0\n");
    utimesSync(join(dir, "exit"), (now - endedAgo) / 1000, (now - endedAgo) / 1000);
    utimesSync(dir, (now - ageMs) / 1000, (now - ageMs) / 1000);
    return dir;
  };
  const [old, young, inUse, long] = [
    incarnation("1", RUNS_KEPT_MS + 1_000),
    incarnation("2", RUNS_KEPT_MS - 60_000),
    incarnation("3", RUNS_KEPT_MS + 1_000),
    incarnation("4", 2 * RUNS_KEPT_MS, RUNS_KEPT_MS - 60_000),
  ];
  writeFileSync(join(runs, "W", "spec.json"), "{}");
  expect(await removeOldRuns(runs, (_, n) => n === 3, now)).toBe(1);
  expect([old, young, inUse, long, join(runs, "W", "spec.json")].map((path) => existsSync(path))).toEqual([
    false,
    true,
    true,
    true,
    true,
  ]);
});
