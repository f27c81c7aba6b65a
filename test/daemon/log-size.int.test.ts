/** The log of a daemon that runs for months. */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { expect, it } from "vitest";
import { boundedLog } from "../../src/daemon/log-size.ts";
import { temporaryDirectory } from "../adapters/process/support.ts";

const BOUND = 100;
const long = `${"x".repeat(BOUND)}\n`;

it("is put aside once over its bound, and the next line begins a new one", () => {
  const dir = temporaryDirectory();
  const path = join(dir, "daemon.log");
  const fd = openSync(path, "a");
  const { keep } = boundedLog(dir, fd, BOUND);
  writeSync(fd, "short\n");
  Effect.runSync(keep);
  expect(readFileSync(path, "utf8")).toBe("short\n");
  writeSync(fd, long);
  Effect.runSync(keep);
  writeSync(fd, "next\n");
  expect(readFileSync(path, "utf8")).toBe("next\n");
  expect(readFileSync(`${path}.1`, "utf8")).toBe(`short\n${long}`);
  closeSync(fd);
});

it("is not touched where the daemon writes elsewhere", () => {
  const dir = temporaryDirectory();
  const path = join(dir, "of-somebody");
  const fd = openSync(path, "a");
  writeSync(fd, long);
  Effect.runSync(boundedLog(dir, fd, BOUND).keep);
  expect(readFileSync(path, "utf8")).toBe(long);
  closeSync(fd);
});
