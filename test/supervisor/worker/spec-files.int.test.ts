/** A launch spec that cannot be kept is the disk's fault: a typed error, no defect, and nothing half-written. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { WorkerSpec } from "../../../src/protocol/worker.ts";
import { specFiles } from "../../../src/supervisor/worker/spec-files.ts";

test("a full disk refuses a launch spec as DISK_FULL, and leaves no half of it", async () => {
  const root = mkdtempSync(join(tmpdir(), "holdfast-spec-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const dir = join(root, "w");
  mkdirSync(dir);
  // What is written there meets ENOSPC (full(4)).
  symlinkSync("/dev/full", join(dir, "spec.json.tmp"));
  const files = specFiles((worker) => join(root, worker));
  const spec = WorkerSpec.parse({ kind: "command", argv: ["true"], cwd: "/", restart: "temporary" });
  await expect(files.save("w", spec)).rejects.toMatchObject({
    code: "DISK_FULL",
    message: expect.stringContaining("The disk of the state directory is full"),
  });
  expect(readdirSync(dir)).toEqual([]);
  await files.save("w", spec);
  expect(await files.load("w")).toEqual(spec);
});
