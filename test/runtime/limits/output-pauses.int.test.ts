/** `on_output_quota: pause`: an agent stands still at its quota and on a full disk, and goes on by itself. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { describe, expect } from "vitest";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import { adapterWith, elapse, memoryMachine, nth, settled, spec } from "../memory-runtime.ts";

const QUOTA = 1_000;
const patient = () => spec({ output_quota_bytes: QUOTA, on_output_quota: "pause", grace_ms: 1_000 });
const LINE = `${"x".repeat(99)}\n`;
const FLOOD = LINE.repeat(20);

/** A log that takes nothing of agents' output while `isHeld`: the ingest falls behind. */
const slowLog = Effect.gen(function* () {
  const machine = yield* memoryMachine;
  const { log } = machine;
  const held = { isHeld: true };
  const slow: typeof log = {
    ...log,
    commit: (drafts, options) =>
      held.isHeld && options?.checkpoint !== undefined
        ? Promise.reject(new HoldfastError("QUEUE_FULL", "Not yet."))
        : log.commit(drafts, options),
  };
  return { ...machine, held, slow };
});

describe("over its quota", () => {
  it.effect("it is paused, record first, and goes on by itself once it is read", () =>
    Effect.gen(function* () {
      const { boot, memory, log, held, slow, printed } = yield* slowLog;
      const { runtime } = yield* boot({ log: slow });
      const { id } = yield* runtime.spawn(patient());
      const run = yield* nth(memory, 1);
      run.print("stdout", FLOOD);
      yield* elapse(3);
      expect(run.signals).toEqual(["SIGSTOP"]);
      const paused = [{ reason: "output", detail: "more than 1000 bytes of its output waits to be read" }];
      expect(yield* runtime.info(id)).toMatchObject({ state: "running", paused });
      held.isHeld = false;
      yield* elapse(3);
      expect(run.signals).toEqual(["SIGSTOP", "SIGCONT"]);
      expect(printed(id).join("")).toBe(FLOOD);
      const told = log.stream(id, ["worker_paused", "worker_unpaused", "worker_limit_reached"]);
      expect(told.map(({ type, payload }) => [type, payload])).toMatchObject([
        ["worker_paused", { reason: "output", pids: [1] }],
        ["worker_unpaused", { reason: "output", by: "daemon" }],
      ]);
    }),
  );

  it.effect("it stays paused for the operator who paused it too", () =>
    Effect.gen(function* () {
      const { boot, memory, held, slow } = yield* slowLog;
      const { runtime } = yield* boot({ log: slow });
      const { id } = yield* runtime.spawn(patient());
      const run = yield* nth(memory, 1);
      run.print("stdout", FLOOD);
      yield* elapse(2);
      yield* runtime.pause([id], { reason: "too hot" });
      held.isHeld = false;
      yield* elapse(3);
      expect(run.signals).toEqual(["SIGSTOP"]);
      expect(yield* runtime.info(id)).toMatchObject({ paused: [{ reason: "operator" }] });
      yield* runtime.unpause([id]);
      yield* settled;
      expect(run.signals).toEqual(["SIGSTOP", "SIGCONT"]);
    }),
  );

  it.effect("it is adopted as paused by the next daemon, which reads on and lets it go on", () =>
    Effect.gen(function* () {
      const { boot, memory, held, slow, printed } = yield* slowLog;
      const first = yield* boot({ log: slow });
      const { id } = yield* first.runtime.spawn(patient());
      const run = yield* nth(memory, 1);
      run.print("stdout", FLOOD);
      yield* elapse(2);
      yield* first.crash;
      const second = yield* boot({ log: slow });
      yield* elapse(3);
      expect(run.signals).toEqual(["SIGSTOP"]);
      expect(yield* second.runtime.info(id)).toMatchObject({ paused: [{ reason: "output" }] });
      held.isHeld = false;
      yield* elapse(3);
      expect(run.signals).toEqual(["SIGSTOP", "SIGCONT"]);
      expect(printed(id).join("")).toBe(FLOOD);
    }),
  );

  it.effect("it is ended where no reading would help: nobody reads its stderr", () =>
    Effect.gen(function* () {
      const { boot, memory, count } = yield* memoryMachine;
      const { runtime } = yield* boot({ adapterFor: () => adapterWith({ streams: ["stdout"] }) });
      const { id } = yield* runtime.spawn(patient());
      const run = yield* nth(memory, 1);
      run.print("stderr", FLOOD);
      yield* elapse(2);
      expect(run.signals).toEqual(["SIGTERM"]);
      expect(count(id, "worker_paused")).toBe(0);
      expect(yield* runtime.info(id)).toMatchObject({ error: { code: "OUTPUT_TOO_LARGE" } });
    }),
  );

  it.effect("output that an earlier daemon has read does not count", () =>
    Effect.gen(function* () {
      const { boot, memory, count } = yield* memoryMachine;
      const first = yield* boot();
      const { id } = yield* first.runtime.spawn(spec({ output_quota_bytes: QUOTA }));
      const run = yield* nth(memory, 1);
      yield* settled;
      run.print("stdout", FLOOD);
      yield* settled;
      yield* first.crash;
      yield* boot();
      yield* elapse(3);
      expect(run.signals).toEqual([]);
      expect(count(id, "worker_limit_reached")).toBe(0);
    }),
  );
});

describe("below the floor of free disk", () => {
  it.effect(
    "a worker that asked for it is paused and goes on with room, over a daemon's death; others go on",
    () =>
      Effect.gen(function* () {
        const { boot, memory, count } = yield* memoryMachine;
        const free = { bytes: 10_000 };
        const ports = { diskFreeBytes: () => free.bytes };
        const first = yield* boot(ports, { disk_min_bytes: 1_000 });
        const { id } = yield* first.runtime.spawn(patient());
        const run = yield* nth(memory, 1);
        yield* first.runtime.spawn(spec());
        const other = yield* nth(memory, 2);
        yield* settled;
        free.bytes = 999;
        yield* elapse(2);
        expect([run.signals, other.signals]).toEqual([["SIGSTOP"], []]);
        expect(yield* first.runtime.info(id)).toMatchObject({
          reason: "paused: less than 1000 bytes are free on the disk of the state directory",
        });
        yield* first.crash;
        const second = yield* boot(ports, { disk_min_bytes: 1_000 });
        // A little over the floor is not room yet.
        free.bytes = 1_249;
        yield* elapse(2);
        expect(yield* second.runtime.info(id)).toMatchObject({ paused: [{ reason: "disk" }] });
        free.bytes = 1_250;
        yield* elapse(2);
        expect([run.signals, other.signals]).toEqual([["SIGSTOP", "SIGCONT"], []]);
        expect([count(id, "worker_paused"), count(id, "worker_unpaused")]).toEqual([1, 1]);
      }),
  );
});
