/** The files of a server as another process, or a loss of power, would find them. */
import fs, { mkdtempSync, rmSync, statSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { ServerFiles } from "../../../src/weblisk/server/files.ts";
import { OnceTable } from "../../../src/weblisk/server/once.ts";

/** Inodes of what was synced to the disk. */
const synced: number[] = [];
const { fsyncSync } = fs;
beforeAll(() => {
  fs.fsyncSync = (fd) => {
    synced.push(fs.fstatSync(fd).ino);
    fsyncSync(fd);
  };
  syncBuiltinESMExports();
});
afterAll(() => {
  fs.fsyncSync = fsyncSync;
  syncBuiltinESMExports();
});

let stateDir: string;
let files: ServerFiles;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "holdfast-weblisk-"));
  files = new ServerFiles(stateDir);
  synced.length = 0;
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

const inode = (folder: string): number => statSync(join(stateDir, "weblisk", folder)).ino;

it("a file that is written once is on the disk by its name too, and the first one stays", () => {
  expect(files.writeOnce("results", "a", { first: true }, "draft")).toEqual({ first: true });
  expect(synced).toContain(inode("results"));
  expect(files.writeOnce<object>("results", "a", { first: false }, "draft")).toEqual({ first: true });
});

it("a nonce counts once, for every server on the directory, and its name is on the disk before it counts", () => {
  const now = Date.now();
  new OnceTable(files).take("ci", "a", now);
  expect(synced).toContain(inode("nonces"));
  const other = new OnceTable(new ServerFiles(stateDir));
  expect(() => other.take("ci", "a", now)).toThrow("replay");
  expect(() => other.take("desk", "a", now)).not.toThrow();
});

it("a full table refuses rather than forget, and forgets what is over", () => {
  const now = Date.now();
  const table = new OnceTable(files, 2);
  for (const id of ["a", "b"]) table.take("ci", id, now);
  expect(() => table.take("ci", "c", now)).toThrowError(
    expect.objectContaining({ code: "RATE_LIMITED", facts: expect.objectContaining({ retry_after: 60 }) }),
  );
  expect(() => table.take("ci", "c", now + 602_000)).not.toThrow();
});
