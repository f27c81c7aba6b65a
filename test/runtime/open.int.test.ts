/** The order in which a runtime of real parts is put together. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "@effect/vitest";
import SQLite from "better-sqlite3";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { CLEAN_PERIOD_MS, RUNS_KEPT_MS } from "../../src/base/limits.ts";
import { makeMemorySpawner } from "../../src/library/memory-spawner.ts";
import { openRuntime } from "../../src/runtime/open.ts";
import { nth, settled, spec } from "./memory-runtime.ts";

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

it.effect(
  "a living run keeps its directory, whatever a row says of its worker; one that is over loses it",
  () =>
    Effect.gen(function* () {
      const stateDir = mkdtempSync(join(tmpdir(), "holdfast-open-"));
      onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
      const memory = makeMemorySpawner();
      const machine = { uptimeMs: () => undefined, memAvailableBytes: () => undefined };
      const world = { spawner: memory.spawner, machine, random: () => 0 };
      const runtime = yield* openRuntime({ stateDir, version: "0", world });
      const lives = yield* runtime.spawn(spec());
      const over = yield* runtime.spawn(spec({ restart: "temporary" }));
      (yield* nth(memory, 2)).exit(0);
      yield* runtime.wait([over.id]);
      const [kept, removed] = [lives.id, over.id].map((id) => join(stateDir, "runs", id, "1"));
      const old = Date.now() / 1_000 - 2 * (RUNS_KEPT_MS / 1_000);
      for (const dir of [kept!, removed!]) {
        mkdirSync(dir, { recursive: true });
        utimesSync(dir, old, old);
      }
      const beside = new SQLite(join(stateDir, "holdfast.db"));
      beside.exec("UPDATE p_workers SET state = 'completed', incarnation = 2");
      beside.close();
      yield* TestClock.adjust(CLEAN_PERIOD_MS);
      // A thread removes them, in its own time.
      yield* Effect.promise(() =>
        vi.waitFor(() => expect(existsSync(removed!)).toBe(false), { timeout: 20_000 }),
      );
      yield* settled;
      expect(existsSync(kept!)).toBe(true);
    }),
);
