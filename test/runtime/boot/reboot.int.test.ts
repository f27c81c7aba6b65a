/** A restart of the machine is told apart from a crash of the daemon: by another boot id, over the same log. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { describe, expect } from "vitest";
import type { RestartPolicy } from "../../../src/protocol/worker.ts";
import { memoryMachine, nth, settled, spec, until } from "../memory-runtime.ts";

type Machine = Effect.Success<typeof memoryMachine>;

const startsOf = (machine: Machine) =>
  machine.log
    .daemonStream(["daemon_started"])
    .map((record) => (record.type === "daemon_started" ? record.payload.start : ""));

const payloads = (machine: Machine, id: string, type: "worker_exited" | "worker_failed" | "worker_ended") =>
  machine.log.stream(id, [type]).map(({ payload }) => payload);

/** One worker runs when the machine goes down, in the middle of a line; the next boot finds it so. */
const rebooted = (restart: RestartPolicy, max_restarts = 0) =>
  Effect.gen(function* () {
    const machine = yield* memoryMachine;
    const first = yield* machine.boot();
    const { id } = yield* first.runtime.spawn(
      spec({ restart, max_restarts, backoff_min_ms: 60_000, backoff_max_ms: 60_000 }),
    );
    const run = yield* nth(machine.memory, 1);
    run.print("stdout", "one\ntw");
    yield* until("a line", () => machine.printed(id).length === 1);
    yield* first.crash;
    run.print("stdout", "o\nthr");
    run.lose("machine_restarted");
    const second = yield* machine.boot({ boot_id: "the next boot" });
    yield* until("its end is on record", () => machine.count(id, "worker_exited") === 1);
    yield* settled;
    return { machine, id, run, ...second };
  });

it.effect.each(["permanent", "transient"] as const)(
  "a %s worker is started again at once, outside its window; its output is read to the end",
  (restart) =>
    Effect.gen(function* () {
      const { machine, id, run } = yield* rebooted(restart);
      expect(payloads(machine, id, "worker_exited")).toMatchObject([
        { reason: "unknown", exit_code: null, signal: null, cause: "machine_restarted" },
      ]);
      expect(payloads(machine, id, "worker_failed")).toMatchObject([
        { error: { code: "WORKER_LOST", message: "The machine was restarted while the agent ran." } },
      ]);
      expect(machine.printed(id)).toEqual(["one\n", "two\n", "thr"]);
      expect(run.signals).toEqual([]);
      yield* nth(machine.memory, 2);
      expect(machine.log.worker(id)).toMatchObject({ incarnation: 2, restarts: 0 });
    }),
);

it.effect("a temporary one stays failed", () =>
  Effect.gen(function* () {
    const { machine, id } = yield* rebooted("temporary");
    expect(payloads(machine, id, "worker_ended")).toMatchObject([{ state: "failed" }]);
    expect(machine.memory.runs).toHaveLength(1);
  }),
);

describe("a daemon that starts says what became of the one before it", () => {
  it.effect("none, a stop, a crash, a restart of the machine", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const stopped = yield* machine.boot();
      yield* stopped.runtime.shutdown("keep", "test");
      yield* stopped.crash;
      yield* (yield* machine.boot()).crash;
      yield* (yield* machine.boot()).crash;
      const other = yield* machine.boot({ boot_id: "the next boot" });
      yield* other.runtime.shutdown("keep", "test");
      yield* other.crash;
      yield* machine.boot({ boot_id: "the boot after it" });
      expect(startsOf(machine)).toEqual([
        "first",
        "after_stop",
        "after_crash",
        "after_reboot",
        "after_reboot",
      ]);
    }),
  );
});
