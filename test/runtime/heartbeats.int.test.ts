/** When each worker's process was last looked at: in the rows, beside the log, over the death of a daemon, and never as a record. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { describe, expect } from "vitest";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { elapse, memoryMachine, nth, settled, spec } from "./memory-runtime.ts";

const world = Effect.gen(function* () {
  const machine = yield* memoryMachine;
  return { ...machine, ...(yield* machine.boot()) };
});

describe("a heartbeat", () => {
  it.effect("is told in list and info, moves on while its agent lives, and stays when it has ended", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* world;
      const { id } = yield* runtime.spawn(spec({ heartbeat_ms: 5_000, restart: "temporary" }));
      const run = yield* nth(memory, 1);
      yield* settled;
      const [first] = yield* runtime.list();
      yield* elapse(31);
      const [later] = yield* runtime.list();
      expect(Date.parse(later!.heartbeat_at!) - Date.parse(first!.heartbeat_at!)).toBeGreaterThanOrEqual(
        25_000,
      );
      expect((yield* runtime.info(id)).heartbeat_at).toBe(later!.heartbeat_at);
      expect(log.stream(id, ["worker_heartbeat"])).toEqual([]);
      yield* elapse(31);
      run.exit(0);
      yield* settled;
      const ended = (yield* runtime.info(id)).heartbeat_at;
      expect(Date.parse(ended!)).toBeGreaterThan(Date.parse(later!.heartbeat_at!));
    }),
  );

  it.effect("is written for all workers at once, and is there before the next daemon has looked", () =>
    Effect.gen(function* () {
      const { runtime, memory, log, crash } = yield* world;
      const ids: string[] = [];
      for (let n = 0; n < 5; n++)
        ids.push((yield* runtime.spawn(spec({ heartbeat_ms: 5_000, restart: "temporary" }))).id);
      yield* nth(memory, 5);
      yield* elapse(62);
      const written = ids.map((id) => log.heartbeat(id));
      expect(written).toMatchObject(ids.map((worker_id) => ({ worker_id, incarnation: 1 })));
      expect(new Set(written.map((beat) => beat!.at_ms > 0))).toEqual(new Set([true]));
      const { records } = log.rebuild();
      expect(records).toBe(log.head());
      expect(ids.map((id) => log.heartbeat(id))).toEqual(written);
      yield* crash;
      expect(log.heartbeat(ids[0]!)).toEqual(written[0]);
    }),
  );

  it.effect("that the store does not take is no defect, and is written once there is room", () =>
    Effect.gen(function* () {
      const { log, memory, boot } = yield* memoryMachine;
      let isFull = true;
      const beat: typeof log.beat = (beats) => {
        if (isFull) throw new HoldfastError("DISK_FULL", "There is no space.");
        log.beat(beats);
      };
      const { runtime } = yield* boot({ upkeep: { ...log, beat } });
      const { id } = yield* runtime.spawn(spec({ heartbeat_ms: 5_000 }));
      yield* nth(memory, 1);
      yield* elapse(40);
      expect(log.heartbeat(id)).toBeUndefined();
      expect(log.daemonStream(["daemon_defect"])).toEqual([]);
      isFull = false;
      yield* elapse(2);
      expect(log.heartbeat(id)).toMatchObject({ incarnation: 1 });
    }),
  );

  it.effect("of a worker that nobody looks at is late, and one that is paused is none", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* world;
      yield* runtime.spawn(spec({ name: "a", heartbeat_ms: 5_000 }));
      yield* nth(memory, 1);
      yield* elapse(12);
      const { heartbeats } = (yield* runtime.status()).workers;
      expect(heartbeats).toMatchObject({ late: 0, oldest_ms: expect.any(Number) });
      expect(heartbeats.oldest_ms).toBeLessThanOrEqual(7_000);
      yield* runtime.pause(["a"]);
      yield* elapse(60);
      expect((yield* runtime.status()).workers.heartbeats).toEqual({ late: 0, oldest_ms: null });
      yield* runtime.unpause(["a"]);
      yield* elapse(7);
      expect((yield* runtime.status()).workers.heartbeats.oldest_ms).toBeLessThanOrEqual(7_000);
    }),
  );
});
