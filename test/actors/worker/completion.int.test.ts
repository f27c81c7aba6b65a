/** Finality and cancellation of a run (agent-event notes A.4): when it is complete, with what, and what a cancel changes of it. */
import { it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import { describe, expect } from "vitest";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { LogRecord } from "../../../src/protocol/records.ts";
import {
  elapse,
  memoryMachine,
  memoryRuntime,
  nth,
  settled,
  spec,
  until,
} from "../../runtime/memory-runtime.ts";

const once = (over: Parameters<typeof spec>[0] = {}) => spec({ restart: "temporary", ...over });
const TERMINAL = ["worker_completed", "worker_failed", "worker_cancelled"] as const;

type Of<T extends LogRecord["type"]> = Extract<LogRecord, { type: T }>;
const errorsOf = (records: readonly LogRecord[]): readonly (string | undefined)[] =>
  records.flatMap((record) =>
    record.type === "agent.event" && record.payload.kind === "Error" ? [record.payload.message] : [],
  );

describe("completion", () => {
  it.effect("is told after the exit and after every event, all of them durable, and once", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(once());
      const waiting = yield* Effect.forkChild(runtime.wait([id]));
      const run = yield* nth(memory, 1);
      for (let n = 0; n < 300; n += 1) run.print("stdout", `line ${n}\n`);
      run.print("stdout", "the last, without its end");
      yield* settled;
      // Nobody reads, and the process has not exited.
      expect(waiting.pollUnsafe()).toBeUndefined();
      run.exit(0);
      yield* Fiber.join(waiting);
      const records = log.stream(id);
      const at = (type: LogRecord["type"]) => records.findIndex((record) => record.type === type);
      const events = records.filter(({ type }) => type === "agent.event");
      expect(events.at(-1)?.payload).toMatchObject({ text: "the last, without its end" });
      expect(events).toHaveLength(301);
      expect(records.findLastIndex(({ type }) => type === "agent.event")).toBeLessThan(at("worker_exited"));
      expect(at("worker_completed")).toBe(at("worker_exited") + 1);
      expect(log.stream(id, [...TERMINAL])).toHaveLength(1);
    }),
  );

  it.effect("waits for the store: what is not durable is not complete", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      let refuses = false;
      const log = Object.create(machine.log, {
        commit: {
          value: (...asked: Parameters<typeof machine.log.commit>) =>
            refuses && asked[0].some(({ type }) => type === "worker_exited")
              ? Promise.reject(new HoldfastError("STORE_FAILED", "The disk is full."))
              : machine.log.commit(...asked),
        },
      }) as typeof machine.log;
      const { runtime } = yield* machine.boot({ log });
      const { id } = yield* runtime.spawn(once());
      const waiting = yield* Effect.forkChild(runtime.wait([id]));
      const run = yield* nth(machine.memory, 1);
      run.print("stdout", "said\n");
      refuses = true;
      run.exit(0);
      yield* settled;
      expect(waiting.pollUnsafe()).toBeUndefined();
      expect(machine.log.stream(id, [...TERMINAL])).toHaveLength(0);
    }),
  );
});

describe("a cancel", () => {
  it.effect("changes the value and never the timing: it is complete when its process has exited", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(once({ grace_ms: 60_000 }));
      const run = yield* nth(memory, 1);
      memory.onSignal = () => undefined;
      const killing = yield* Effect.forkChild(runtime.kill({ ids: [id] }));
      yield* elapse(5);
      expect(run.signals).toEqual(["SIGTERM"]);
      expect(killing.pollUnsafe()).toBeUndefined();
      expect((yield* runtime.info(id)).state).toBe("stopping");
      expect(log.stream(id, [...TERMINAL])).toHaveLength(0);
      // It ends well, and is cancelled all the same.
      run.exit(0);
      yield* Fiber.join(killing);
      expect(log.stream(id, [...TERMINAL])).toMatchObject([
        { type: "worker_cancelled", payload: { error: { code: "WORKER_CANCELLED" } } },
      ]);
    }),
  );

  it.effect(
    "is idempotent: one request and one end on record, however often it is asked for, and none after it",
    () =>
      Effect.gen(function* () {
        const { runtime, memory, log } = yield* memoryRuntime;
        const { id } = yield* runtime.spawn(once());
        yield* nth(memory, 1);
        const kills = yield* Effect.all(
          [1, 2, 3].map(() => runtime.kill({ ids: [id] })),
          { concurrency: "unbounded" },
        );
        expect(kills.flat().every(({ ok }) => ok)).toBe(true);
        expect(log.stream(id, ["worker_cancel_requested"])).toHaveLength(1);
        expect(log.stream(id, [...TERMINAL])).toHaveLength(1);
        const head = log.head();
        expect(yield* runtime.kill({ ids: [id] })).toMatchObject([{ ok: true, effect: "noop" }]);
        expect(log.head()).toBe(head);
      }),
  );

  it.effect.each([
    ["well", 0],
    ["badly", 1],
  ] as const)("wins the tie with an exit that is not on record yet, and went %s", ([, code]) =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(once());
      const run = yield* nth(memory, 1);
      run.exit(code);
      yield* runtime.kill({ ids: [id] });
      yield* until("its end", () => log.stream(id, [...TERMINAL]).length === 1);
      const [end] = log.stream(id, [...TERMINAL]) as Of<"worker_cancelled">[];
      expect(end).toMatchObject({
        type: "worker_cancelled",
        payload: { error: { code: "WORKER_CANCELLED" } },
      });
      // The agent's word on its own death is overridden, too.
      expect(errorsOf(log.stream(id))).toEqual([]);
    }),
  );

  it.effect("of one that is complete does nothing", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(once());
      (yield* nth(memory, 1)).exit(0);
      yield* runtime.wait([id]);
      yield* runtime.kill({ ids: [id] });
      expect(log.stream(id, [...TERMINAL])).toMatchObject([{ type: "worker_completed" }]);
    }),
  );
});

describe("a failure has one terminal Error event, with the very message of its completion", () => {
  const failedAs = (id: string, log: { stream(id: string): readonly LogRecord[] }) => {
    const records = log.stream(id);
    const failed = records.find((record): record is Of<"worker_failed"> => record.type === "worker_failed");
    const events = records.filter(({ type }) => type === "agent.event");
    expect(errorsOf(records)).toEqual([failed?.payload.error.message]);
    expect(events.at(-1)?.payload).toMatchObject({ kind: "Error", channel: "error" });
    return failed?.payload.error;
  };

  it.effect("when it exited with a code", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(once());
      (yield* nth(memory, 1)).exit(3);
      yield* runtime.wait([id]);
      expect(failedAs(id, log)).toMatchObject({ code: "AGENT_FAILED" });
    }),
  );

  it.effect("when we stopped it for its time, and it exited with an error", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(once({ timeout_ms: 2_000 }));
      const run = yield* nth(memory, 1);
      run.print("stdout", "here\n");
      yield* elapse(3);
      yield* runtime.wait([id]);
      expect(failedAs(id, log)).toMatchObject({ code: "TIMEOUT" });
    }),
  );

  it.effect("when it could not be started", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const { spawner } = machine.services;
      const { runtime } = yield* machine.boot({
        spawner: { ...spawner, launch: () => Promise.reject(new Error("no such thing")) },
      });
      const { id } = yield* runtime.spawn(once());
      yield* runtime.wait([id]);
      expect(failedAs(id, machine.log)).toMatchObject({ code: "INTERNAL" });
    }),
  );
});
