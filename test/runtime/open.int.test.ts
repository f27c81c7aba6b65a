/** The order in which a runtime of real parts is put together. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { expect, onTestFinished, test } from "vitest";
import { openRuntime } from "../../src/runtime/open.ts";

test("runs that die with their daemon are told of the next one before its log is opened, which may take long", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "holdfast-open-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const fifo = join(stateDir, "runs", "lifeline");
  mkdirSync(join(stateDir, "runs"));
  execFileSync("mkfifo", [fifo]);
  writeFileSync(`${fifo}.holder`, "the daemon before\n");
  writeFileSync(join(stateDir, "holdfast.db"), "no database".repeat(1_000));
  const failure = await Effect.runPromise(
    Effect.flip(Effect.scoped(openRuntime({ stateDir, version: "0" }))),
  );
  expect(failure).toMatchObject({ code: "STORE_CORRUPT" });
  expect(readFileSync(`${fifo}.holder`, "utf8")).not.toBe("the daemon before\n");
});
