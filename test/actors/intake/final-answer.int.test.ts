/** The output that a worker may leave on the disk, and the room that the disk must have for another one (processes.md, Bounds). */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { describe, expect } from "vitest";
import { adapterWith, elapse, memoryMachine, nth, settled, spec } from "../../runtime/memory-runtime.ts";

/** Its stderr is not read: what it writes there stays. */
const deaf = adapterWith({ streams: ["stdout"] });

const over = (bytes = 100) => spec({ output_quota_bytes: bytes, grace_ms: 1_000 });

describe("the quota of output", () => {
  it.effect("ends who leaves more than that unread, with its reason first, and does not restart it", () =>
    Effect.gen(function* () {
      const { boot, memory, log, typesOf } = yield* memoryMachine;
      const { runtime } = yield* boot({ adapterFor: () => deaf });
      const { id } = yield* runtime.spawn(over());
      const run = yield* nth(memory, 1);
      run.print("stdout", `${"x".repeat(500)}\n`);
      run.print("stderr", "y".repeat(100));
      yield* elapse(2);
      expect(run.signals).toEqual([]);
      run.print("stderr", "y");
      yield* elapse(2);
      expect(run.signals).toEqual(["SIGTERM"]);
      expect(log.stream(id, ["worker_limit_reached"]).map(({ payload }) => payload)).toEqual([
        { limit: "output", value: 101, bound: 100 },
      ]);
      expect(typesOf(id).slice(-7)).toEqual([
        "worker_limit_reached",
        "worker_state_changed",
        "worker_signal_sent",
        "agent.event",
        "worker_exited",
        "worker_failed",
        "worker_ended",
      ]);
      expect(yield* runtime.info(id)).toMatchObject({
        state: "failed",
        error: { code: "OUTPUT_TOO_LARGE", message: "Its output took more than 100 bytes of the disk" },
      });
    }),
  );

  it.effect("is none where it is 0, and nothing is said of who has ended by itself", () =>
    Effect.gen(function* () {
      const { boot, memory, count } = yield* memoryMachine;
      const { runtime } = yield* boot({ adapterFor: () => deaf });
      const free = yield* runtime.spawn(over(0));
      (yield* nth(memory, 1)).print("stderr", "y".repeat(10_000));
      yield* elapse(2);
      expect(yield* runtime.info(free.id)).toMatchObject({ state: "running" });
      const done = yield* runtime.spawn({ ...over(), restart: "temporary" });
      const second = yield* nth(memory, 2);
      yield* settled;
      second.print("stderr", "y".repeat(10_000));
      second.exit(0);
      yield* elapse(2);
      expect(yield* runtime.info(done.id)).toMatchObject({ state: "completed" });
      expect([count(free.id, "worker_limit_reached"), count(done.id, "worker_limit_reached")]).toEqual([
        0, 0,
      ]);
    }),
  );

  it.effect("goes on to be asked while the store refuses", () =>
    Effect.gen(function* () {
      const { boot, memory, log, count } = yield* memoryMachine;
      let refusals = 2;
      const refusing = {
        ...log,
        commit: (...given: Parameters<typeof log.commit>) =>
          given[0].some(({ type }) => type === "worker_limit_reached") && refusals-- > 0
            ? Promise.reject(new Error("no"))
            : log.commit(...given),
      };
      const { runtime } = yield* boot({ log: refusing, adapterFor: () => deaf });
      const { id } = yield* runtime.spawn(over());
      const run = yield* nth(memory, 1);
      yield* settled;
      run.print("stderr", "y".repeat(200));
      yield* elapse(4);
      expect(count(id, "worker_limit_reached")).toBe(1);
      expect(run.signals).toEqual(["SIGTERM"]);
    }),
  );
});

describe("below the floor of free disk", () => {
  it.effect("nobody new begins, what runs goes on, a restart waits, and all goes on with room", () =>
    Effect.gen(function* () {
      const { boot, memory, log, reports } = yield* memoryMachine;
      const free = { bytes: 10_000 };
      const { runtime } = yield* boot({ diskFreeBytes: () => free.bytes }, { disk_min_bytes: 1_000 });
      const first = yield* runtime.spawn(spec());
      const run = yield* nth(memory, 1);
      yield* settled;
      free.bytes = 999;
      yield* elapse(1);
      const refused = yield* Effect.flip(runtime.spawn(spec()));
      expect(refused).toMatchObject({
        code: "DISK_FULL",
        info: { details: { reason_code: "resource_exhausted" } },
      });
      expect(refused.message).toContain("nothing is started below");
      expect(yield* runtime.info(first.id)).toMatchObject({ state: "running" });
      expect((yield* runtime.status()).disk).toEqual({ free_bytes: 999, floor_bytes: 1_000, low: true });
      run.exit(1);
      yield* elapse(2);
      expect(yield* runtime.info(first.id)).toMatchObject({
        state: "backing_off",
        queue: { place: 1, waits_for: "disk" },
      });
      expect(log.stream(first.id, ["worker_queued"])).toHaveLength(1);
      expect(memory.runs).toHaveLength(1);
      free.bytes = 1_250;
      yield* elapse(1);
      yield* nth(memory, 2);
      yield* runtime.spawn(spec());
      yield* nth(memory, 3);
      expect(reports.filter((line) => line.includes("on the disk"))).toHaveLength(2);
    }),
  );
});
