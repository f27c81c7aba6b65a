/** A launch spec that cannot be kept is the disk's fault: a typed error, no defect, and nothing half-written. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { WorkerSpec } from "../../src/protocol/worker.ts";
import { specFiles } from "../../src/runtime/spec-files.ts";

test("a full disk refuses a launch spec as DISK_FULL, and leaves no half of it", async () => {
  const root = mkdtempSync(join(tmpdir(), "holdfast-spec-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const dir = join(root, "w");
  let isFull = true;
  const files = specFiles(
    (worker) => join(root, worker),
    async (path, text, how) => {
      await writeFile(path, isFull ? text.slice(0, 5) : text, how);
      if (isFull)
        throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    },
  );
  const spec = WorkerSpec.parse({ kind: "command", argv: ["true"], cwd: "/", restart: "temporary" });
  await expect(files.save("w", spec)).rejects.toMatchObject({
    code: "DISK_FULL",
    message: expect.stringContaining("The disk of the state directory is full"),
  });
  expect(readdirSync(dir)).toEqual([]);
  isFull = false;
  await files.save("w", spec);
  expect(await files.load("w")).toEqual(spec);
});

test("a spec that a crash has torn is replaced by the next one, whose half is never seen under its name", async () => {
  const root = mkdtempSync(join(tmpdir(), "holdfast-spec-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "w"));
  writeFileSync(join(root, "w", "spec.json"), '{"kind":');
  const spec = WorkerSpec.parse({ kind: "command", argv: ["true"], cwd: "/", restart: "temporary" });
  const written: string[] = [];
  const files = specFiles(
    (worker) => join(root, worker),
    (path, text, how) => {
      written.push(path);
      return writeFile(path, text, how);
    },
  );
  await expect(files.load("w")).rejects.toMatchObject({ code: "INVALID_STATE" });
  await files.save("w", spec);
  expect(written).toEqual([join(root, "w", "spec.json.tmp")]);
  expect(await files.load("w")).toEqual(spec);
});

test("a file that an agent has put under the name of a spec is neither written to nor read, and nobody waits for it", async () => {
  const root = mkdtempSync(join(tmpdir(), "holdfast-spec-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const files = specFiles((worker) => join(root, worker));
  const spec = WorkerSpec.parse({ kind: "command", argv: ["true"], cwd: "/", restart: "temporary" });
  await files.save("w", spec);
  execFileSync("mkfifo", [join(root, "w", "spec.json.tmp"), join(root, "w", "message-m")]);
  await files.save("w", spec);
  expect(await files.load("w")).toEqual(spec);
  expect(await files.loadMessage("w", "m")).toBeUndefined();
  rmSync(join(root, "w", "spec.json"));
  symlinkSync("/dev/zero", join(root, "w", "spec.json"));
  await expect(files.load("w")).rejects.toMatchObject({ code: "INVALID_STATE" });
});
