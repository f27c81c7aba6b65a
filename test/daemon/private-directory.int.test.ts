/** The state directory is made with all that leads to it, for its owner alone; where that cannot be, it is said, and soon. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ensurePrivateDirectory } from "../../src/daemon/private-directory.ts";

const dir = mkdtempSync(join(tmpdir(), "holdfast-private-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("each missing directory on the way is made, and none is open to others", () => {
  const path = join(dir, "a/b/c");
  ensurePrivateDirectory(path);
  ensurePrivateDirectory(path);
  for (const one of ["a", "a/b", "a/b/c"]) expect(statSync(join(dir, one)).mode & 0o777).toBe(0o700);
});

test.each([
  [
    "is in /proc, where nothing can be made",
    () => "/proc/holdfast",
    /^The directory \/proc\/holdfast cannot be used: ENOENT/,
  ],
  ["is far down in /proc", () => "/proc/holdfast/a/b", /cannot be used: ENOENT/],
  [
    "is below a file",
    () => {
      writeFileSync(join(dir, "file"), "");
      return join(dir, "file/a");
    },
    /cannot be used: ENOTDIR/,
  ],
])("one that %s is refused", (_, pathOf, message) => {
  expect(() => ensurePrivateDirectory(pathOf())).toThrow(message);
});

test.each([
  ["somebody's files", ["index.html"], 0o755],
  ["a tree file, and nothing of ours", ["holdfast.yaml"], 0o755],
  ["nothing", [], 0o700],
  ["a log, and somebody's files", ["holdfast.db", "notes.txt"], 0o700],
  ["what a daemon writes before its log", ["config.yaml", "daemon.lock", "daemon.log.1", "runs"], 0o700],
])("one with %s, which others may enter, is closed only where it is ours", (what, names, mode) => {
  const path = join(dir, what.replaceAll(/\W/g, "-"));
  mkdirSync(path);
  chmodSync(path, 0o755);
  for (const name of names) writeFileSync(join(path, name), "");
  if (mode === 0o700) ensurePrivateDirectory(path);
  else expect(() => ensurePrivateDirectory(path)).toThrow(/lets others in \(mode 755\)/);
  expect(statSync(path).mode & 0o777).toBe(mode);
});
