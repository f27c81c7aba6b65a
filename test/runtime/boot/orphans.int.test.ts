/** An agent that is supervised is nobody's orphan, whatever a row of the projections says of its worker. */
import { join } from "node:path";
import { it } from "@effect/vitest";
import SQLite from "better-sqlite3";
import { Effect } from "effect";
import { expect } from "vitest";
import { ORPHAN_CONFIRM_MS, ORPHAN_PERIOD_MS } from "../../../src/base/limits.ts";
import { elapse, memoryMachine, nth, settled, spec, until } from "../memory-runtime.ts";

it.effect.each(["DELETE FROM p_workers", "UPDATE p_workers SET state = 'completed'"])(
  "under a daemon that runs: %s",
  (sql) =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const { runtime } = yield* machine.boot();
      const { id } = yield* runtime.spawn(spec());
      const run = yield* nth(machine.memory, 1);
      yield* settled;
      const beside = new SQLite(join(machine.dir, "holdfast.db"));
      beside.exec(sql);
      beside.close();
      // Its row is read anew after a record.
      run.print("stdout", "hello\n");
      yield* until("told", () => machine.printed(id).length === 1);
      yield* elapse((ORPHAN_PERIOD_MS + 2 * ORPHAN_CONFIRM_MS) / 1_000);
      expect(machine.log.daemonStream(["run_orphaned"])).toEqual([]);
      expect(machine.count(id, "worker_exited")).toBe(0);
    }),
);
