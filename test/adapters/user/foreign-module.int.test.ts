/** A module of config.yaml runs with all rights of the daemon's user: one that somebody else could write or replace is refused. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadAdapters } from "../../../src/adapters/user-adapters.ts";

const moduleWith = (mode: number): string => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-module-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const module = join(dir, "adapter.mjs");
  writeFileSync(module, "export default { kind: 5 };\n");
  chmodSync(module, mode);
  return module;
};

const whyOf = async (module: string): Promise<string> =>
  (await loadAdapters([{ module }])).refused[0]?.why ?? "";

test("a module that others can write is not run, and says how to mend that", async () => {
  const module = moduleWith(0o666);
  expect(await whyOf(module)).toBe(`it can be written by others (mode 666): chmod go-w ${module}`);
  chmodSync(module, 0o600);
  expect(await whyOf(module)).toContain("it is not an adapter");
});

test("a module that is no regular file is refused at once: Node would wait in a FIFO", async () => {
  const module = moduleWith(0o600);
  rmSync(module);
  execFileSync("mkfifo", ["-m", "600", module]);
  expect(await whyOf(module)).toBe("it is not a regular file: name a JavaScript module");
});

test.each(["its own directory", "one above that"])(
  "nor is one that others could replace: %s is open",
  async (which) => {
    const module = moduleWith(0o600);
    const inner = join(dirname(module), "inner");
    mkdirSync(inner, { mode: 0o700 });
    const moved = join(inner, "adapter.mjs");
    renameSync(module, moved);
    const open = which === "one above that" ? dirname(module) : inner;
    chmodSync(open, 0o777);
    expect(await whyOf(moved)).toBe(
      `${open}, a directory above it, can be written by others (mode 777): chmod go-w ${open}`,
    );
    const link = join(mkdtempSync(join(dirname(inner), "link-")), "adapter.mjs");
    symlinkSync(moved, link);
    expect(await whyOf(link)).toContain("can be written by others");
    // Nobody removes what is another's from a sticky directory; a module that lies in it could be given one to import.
    chmodSync(open, 0o1777);
    expect(await whyOf(moved)).toContain(
      open === inner ? "can be written by others" : "it is not an adapter",
    );
  },
);

test.skipIf(process.getuid?.() !== 0)("a module of another user is not run", async () => {
  const module = moduleWith(0o600);
  chownSync(module, 12_345, 12_345);
  expect(await whyOf(module)).toContain("it belongs to another user (uid 12345)");
});
