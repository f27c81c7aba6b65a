import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { initCheck, zombiesOfInit } from "../../../src/cli/commands/init-check.ts";

test.each([
  ["no daemon", undefined, 0, undefined],
  ["a daemon like any other process", 4_242, 3, undefined],
  ["a daemon that is PID 1", 1, 0, "the daemon is PID 1, and nothing reaps the orphans of its agents"],
  ["a PID 1 that does not reap", 4_242, 20, "PID 1 does not reap: it has 20 ended children"],
])("%s", (_what, pid, zombies, finding) => {
  const check = initCheck(pid, zombies);
  expect(check?.finding).toBe(finding);
  if (finding !== undefined)
    expect(check).toMatchObject({ result: "warn", fix: expect.stringContaining("--init") });
});

test("ended children of PID 1 are counted, whatever their names look like", () => {
  const proc = mkdtempSync(join(tmpdir(), "holdfast-proc-"));
  onTestFinished(() => rmSync(proc, { recursive: true }));
  const stats = ["7 (sh) Z 1 7 7 0", "8 (a) S 1 ) Z 1 8 8 0", "9 (sh) S 1 9 9 0", "10 (sh) Z 9 9 9 0"];
  for (const stat of stats) {
    const dir = join(proc, stat.split(" ")[0] as string);
    mkdirSync(dir);
    writeFileSync(join(dir, "stat"), stat);
  }
  mkdirSync(join(proc, "net"));
  expect(zombiesOfInit(proc)).toBe(2);
  expect(zombiesOfInit(join(proc, "nowhere"))).toBe(0);
});
