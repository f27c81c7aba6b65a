/** The three clocks and the ladder, over a real log: stuck is not slow, and a gap in time harms nobody. */
import { it } from "@effect/vitest";
import { Clock, Effect } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import { voiceOf } from "../../../src/adapters/decoding/events.ts";
import type { RecordType } from "../../../src/protocol/records.ts";
import { figure } from "../../support/figures.ts";
import {
  adapterWith,
  elapse,
  memoryMachine,
  memoryRuntime,
  nth,
  settled,
  shiftingClock,
  spec,
} from "../memory-runtime.ts";

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const slow = { stall_ms: 10_000, heartbeat_ms: 5_000 };

/** An agent whose lines `call ID` and `done ID` are the start and the end of a tool. */
const withTools = adapterWith({
  decode: (state, line) => {
    const [word, use_id = null] = line.kind === "text" ? line.text.split(" ") : [];
    const voice = voiceOf("command");
    const tool = { item_id: null, thread_id: null, kind: "tool_use", name: "Bash", use_id };
    if (word === "call") return { state, records: [voice.toolCall(tool)] };
    if (word === "done") return { state, records: [voice.toolResult(tool, { failed: false, exit_code: 0 })] };
    return { state, records: [voice.text("stdout", String(word))] };
  },
});
const toolWorld = Effect.gen(function* () {
  const machine = yield* memoryMachine;
  const adapterFor = () => withTools;
  return { ...machine, boot: () => machine.boot({ adapterFor }), ...(yield* machine.boot({ adapterFor })) };
});

const LADDER: readonly RecordType[] = [
  "worker_stalled",
  "worker_question",
  "worker_answered",
  "worker_question_withdrawn",
  "worker_limit_reached",
];

describe("a worker that falls silent", () => {
  const silent = (over = {}) =>
    Effect.gen(function* () {
      const world = yield* memoryRuntime;
      const { id } = yield* world.runtime.spawn(spec({ ...slow, ...over }));
      const run = yield* nth(world.memory, 1);
      yield* settled;
      const rungs = () => world.log.stream(id, LADDER).map(({ type }) => type);
      return { ...world, id, run, rungs };
    });

  it.effect("is warned of, asked about, then restarted by its policy, counted", () =>
    Effect.gen(function* () {
      const { memory, log, id, rungs } = yield* silent();
      yield* elapse(11);
      expect(rungs()).toEqual(["worker_stalled"]);
      yield* elapse(11);
      expect(rungs()).toEqual(["worker_stalled", "worker_question"]);
      expect(memory.runs).toHaveLength(1);
      yield* elapse(11);
      yield* nth(memory, 2);
      expect(rungs()).toEqual(["worker_stalled", "worker_question", "worker_limit_reached"]);
      expect(log.stream(id, ["worker_restart_scheduled"])[0]?.payload).toMatchObject({
        restarts_in_window: 1,
      });
      figure("R20", {
        rounds: rungs().length,
        failures: 0,
        note: "rungs: warned of, asked about, restarted",
      });
    }),
  );

  it.effect("that speaks while it is asked about goes on, and the question is withdrawn", () =>
    Effect.gen(function* () {
      const { memory, run, rungs, runtime, id } = yield* silent();
      yield* elapse(22);
      expect((yield* runtime.info(id)).question).toBeDefined();
      run.print("stdout", "here\n");
      yield* settled;
      yield* elapse(9);
      expect(rungs()).toEqual(["worker_stalled", "worker_question", "worker_question_withdrawn"]);
      expect((yield* runtime.info(id)).question).toBeUndefined();
      expect(memory.runs).toHaveLength(1);
    }),
  );

  it.effect("that is asked about says so where it is listed, in the tree, and with the answers in why", () =>
    Effect.gen(function* () {
      const { runtime, id } = yield* silent({ name: "mute" });
      yield* elapse(22);
      const asks = {
        reason: "it may be stuck; a person is asked",
        question: { question_id: expect.any(String), about: "stall" },
      };
      expect(yield* runtime.list()).toMatchObject([{ id, ...asks }]);
      expect((yield* runtime.tree()).children).toMatchObject([{ id, ...asks }]);
      expect(yield* runtime.why("mute")).toMatchObject({
        reason: asks.reason,
        suggestion: "decide what to do with it: agent answer mute wait|restart|kill",
      });
    }),
  );

  it.effect("and is answered for with wait has its stall time once more", () =>
    Effect.gen(function* () {
      const { memory, rungs, runtime, id } = yield* silent();
      yield* elapse(22);
      for (const other of ["continue", "stop", "fresh"] as const)
        expect(yield* Effect.flip(runtime.answer(id, other))).toMatchObject({
          code: "INVALID_STATE",
          message: `Worker ${id} asks something else: whether it is stuck.`,
          suggestion: `Answer it with: agent answer ${id} wait|restart|kill`,
        });
      expect(yield* runtime.answer(id, "wait", { by: "a program" })).toMatchObject({ id, answer: "wait" });
      yield* elapse(9);
      expect(rungs()).toEqual(["worker_stalled", "worker_question", "worker_answered"]);
      yield* elapse(2);
      expect(rungs().at(-1)).toBe("worker_stalled");
      expect(memory.runs).toHaveLength(1);
    }),
  );

  it.effect(
    "and is answered for with restart is restarted, even where its policy says never, uncounted",
    () =>
      Effect.gen(function* () {
        const { memory, runtime, id, log } = yield* silent({ restart: "temporary" });
        yield* elapse(22);
        yield* runtime.answer(id, "restart");
        yield* nth(memory, 2);
        expect(log.stream(id, ["worker_restart_scheduled"])[0]?.payload).toMatchObject({
          reason: "user",
          restarts_in_window: 0,
        });
      }),
  );

  it.effect("and is answered for with kill is killed", () =>
    Effect.gen(function* () {
      const { runtime, id } = yield* silent();
      yield* elapse(22);
      yield* runtime.answer(id, "kill", { by: "ada" });
      expect(yield* runtime.wait([id])).toMatchObject([
        { status: "cancelled", error: { message: "Killed by ada: it was stuck." } },
      ]);
    }),
  );

  it.effect("refuses an answer that it did not ask for", () =>
    Effect.gen(function* () {
      const { runtime, id, rungs } = yield* silent();
      expect(yield* Effect.flip(runtime.answer(id, "kill"))).toMatchObject({ code: "INVALID_STATE" });
      yield* elapse(22);
      const old = yield* Effect.flip(runtime.answer(id, "kill", { question_id: "another" }));
      expect(old.code).toBe("INVALID_STATE");
      expect(rungs().at(-1)).toBe("worker_question");
    }),
  );

  it.effect("is still asked about by the next daemon, which gives the whole time to answer", () =>
    Effect.gen(function* () {
      const { crash, boot, id, rungs, memory } = yield* silent();
      yield* elapse(22);
      yield* crash;
      const { runtime } = yield* boot();
      yield* settled;
      expect((yield* runtime.info(id)).question).toBeDefined();
      yield* elapse(9);
      expect(memory.runs).toHaveLength(1);
      yield* elapse(3);
      yield* nth(memory, 2);
      expect(rungs()).toEqual(["worker_stalled", "worker_question", "worker_limit_reached"]);
    }),
  );
});

describe("a tool in flight", () => {
  it.effect("may be silent for ever; once it has ended the stall time counts again", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* toolWorld;
      const { id } = yield* runtime.spawn(spec(slow));
      const run = yield* nth(memory, 1);
      run.print("stdout", "call a\n");
      yield* settled;
      yield* elapse(120);
      expect(log.stream(id, LADDER)).toEqual([]);
      run.print("stdout", "done a\n");
      yield* settled;
      yield* elapse(11);
      expect(log.stream(id, LADDER)).toMatchObject([{ type: "worker_stalled" }]);
    }),
  );

  it.effect("is ended by its own limit, and the restart policy decides", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* toolWorld;
      const { id } = yield* runtime.spawn(spec({ ...slow, tool_timeout_ms: 30_000 }));
      const run = yield* nth(memory, 1);
      run.print("stdout", "call a\n");
      yield* settled;
      yield* elapse(29);
      expect(log.stream(id, LADDER)).toEqual([]);
      yield* elapse(2);
      yield* nth(memory, 2);
      expect(log.stream(id, ["worker_failed"])[0]?.payload).toMatchObject({
        error: { code: "TIMEOUT", message: "A tool ran longer than 30s" },
      });
    }),
  );

  it.effect("that began under an earlier daemon is known to the next one", () =>
    Effect.gen(function* () {
      const { runtime, memory, log, crash, boot } = yield* toolWorld;
      const { id } = yield* runtime.spawn(spec(slow));
      const run = yield* nth(memory, 1);
      run.print("stdout", "call a\ncall b\ndone b\n");
      yield* settled;
      yield* crash;
      yield* boot();
      yield* settled;
      yield* elapse(40);
      expect(log.stream(id, LADDER)).toEqual([]);
    }),
  );
});

describe("a heartbeat", () => {
  it.effect.each(["stopped", "zombie"] as const)("sees a %s process within two, and says so once", (state) =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec({ heartbeat_ms: 5_000 }));
      const run = yield* nth(memory, 1);
      yield* settled;
      run.process = state;
      yield* elapse(10);
      const seen = () => log.stream(id, ["worker_heartbeat"]);
      expect(seen()).toMatchObject([{ incarnation: 1, payload: { process: state } }]);
      yield* elapse(20);
      expect(seen()).toHaveLength(1);
      figure("R21", {
        rounds: 1,
        failures: 0,
        note: `a ${state} process, seen within two heartbeats of 5 s`,
      });
    }),
  );

  it.effect("of a stopped agent is no stall, and after CONT its patience begins anew", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec({ stall_ms: 10_000, heartbeat_ms: 1_000 }));
      const run = yield* nth(memory, 1);
      yield* settled;
      run.process = "stopped";
      yield* elapse(60);
      run.process = "running";
      yield* elapse(9);
      expect(log.stream(id, LADDER)).toEqual([]);
      yield* elapse(3);
      expect(log.stream(id, LADDER)).toMatchObject([{ type: "worker_stalled" }]);
    }),
  );
});

describe("time that nobody saw", () => {
  const shifting = Effect.gen(function* () {
    const { shift, clock, uptimeMs } = yield* shiftingClock;
    const machine = yield* memoryMachine;
    const port = { uptimeMs, memAvailableBytes: () => undefined };
    const boot = () => Effect.provideService(machine.boot({ machine: port }), Clock.Clock, clock);
    const { runtime, crash } = yield* boot();
    /** Silent, with a tool's, a question's and a wall clock's deadline. */
    const ids: string[] = [];
    for (const over of [slow, { ...slow, tool_timeout_ms: 20_000 }, { timeout_ms: 30_000 }]) {
      const { id } = yield* Effect.provideService(runtime.spawn(spec(over)), Clock.Clock, clock);
      ids.push(id);
      yield* nth(machine.memory, ids.length);
    }
    yield* settled;
    yield* elapse(3);
    const resumed = () =>
      machine.log.read(0, 500, { types: ["daemon_resumed"] }).records.map(({ payload }) => payload);
    const touched = () =>
      ids.flatMap((id) => machine.log.stream(id, [...LADDER, "worker_exited"]).map(({ type }) => type));
    return { ...machine, runtime, crash, boot, shift, clock, ids, resumed, touched };
  });

  it.effect("while the machine slept is one record, and ends, warns and stalls nobody", () =>
    Effect.gen(function* () {
      const { shift, resumed, touched } = yield* shifting;
      shift.uptime_ms += HOUR_MS;
      shift.wall_ms += HOUR_MS;
      yield* elapse(9);
      expect(resumed()).toMatchObject([{ kind: "suspended", gap_ms: HOUR_MS + 1_000, counted_ms: 1_000 }]);
      expect(touched()).toEqual([]);
      yield* elapse(3);
      expect(touched()).toEqual(["worker_stalled", "worker_stalled"]);
    }),
  );

  it.effect("while the daemon was stopped is one record, and ends, warns and stalls nobody", () =>
    Effect.gen(function* () {
      const { shift, resumed, touched, memory } = yield* shifting;
      shift.mono_ms += HOUR_MS;
      shift.wall_ms += HOUR_MS;
      yield* elapse(9);
      expect(resumed()).toMatchObject([
        { kind: "stopped", gap_ms: HOUR_MS + 1_000, counted_ms: HOUR_MS + 1_000 },
      ]);
      expect(touched()).toEqual([]);
      // Three seconds before the gap: the wall clock of the third has its other 27 still.
      yield* elapse(17);
      expect(memory.runs[2]?.signals).toEqual([]);
      yield* elapse(5);
      expect(memory.runs[2]?.signals).toEqual(["SIGTERM"]);
    }),
  );

  it.effect("is seen by a wall clock that rings before the next look", () =>
    Effect.gen(function* () {
      const { shift, memory, ids, runtime, resumed, clock } = yield* shifting;
      const asked = runtime.spawn(spec({ timeout_ms: 2_500 }));
      const { id } = yield* Effect.provideService(asked, Clock.Clock, clock);
      yield* nth(memory, ids.length + 1);
      yield* settled;
      yield* elapse(2);
      shift.mono_ms += HOUR_MS;
      yield* TestClock.adjust("900 millis");
      yield* settled;
      expect((yield* runtime.info(id)).state).toBe("running");
      yield* elapse(2);
      expect(resumed()).toHaveLength(1);
      expect(yield* runtime.wait([id])).toMatchObject([{ error: { code: "TIMEOUT" } }]);
    }),
  );

  it.effect("counts for nothing under the next daemon either", () =>
    Effect.gen(function* () {
      const { shift, touched, crash, boot, ids, log } = yield* shifting;
      shift.mono_ms += HOUR_MS;
      yield* elapse(2);
      yield* crash;
      yield* boot();
      yield* settled;
      yield* elapse(9);
      expect(log.stream(ids[2] as string, ["worker_adopted"])).toHaveLength(1);
      expect(touched()).toEqual([]);
    }),
  );

  it.effect.each([YEAR_MS, -YEAR_MS])("the wall clock set by %d ms changes nothing", (by) =>
    Effect.gen(function* () {
      const { shift, resumed, touched } = yield* shifting;
      shift.wall_ms += by;
      yield* elapse(6);
      expect(touched()).toEqual([]);
      yield* elapse(3);
      expect(touched()).toEqual(["worker_stalled", "worker_stalled"]);
      shift.wall_ms -= 2 * by;
      yield* elapse(6);
      expect(touched()).toEqual(["worker_stalled", "worker_stalled"]);
      yield* elapse(4);
      expect(touched()).toHaveLength(4);
      expect(resumed()).toEqual([]);
      figure("R22", { rounds: 2, failures: 0, note: "jumps of the wall clock, of a year and of two" });
    }),
  );
});
