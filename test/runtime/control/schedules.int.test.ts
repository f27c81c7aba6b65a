/** Schedules through the whole runtime, on a real log, a clock that the test moves, and a wall clock that it sets. */
import { it } from "@effect/vitest";
import { Clock, Effect } from "effect";
import { describe, expect } from "vitest";
import { readCron } from "../../../src/base/cron.ts";
import type { HoldfastError } from "../../../src/protocol/errors.ts";
import type { LogRecord } from "../../../src/protocol/records.ts";
import { type RequestInput, Requests } from "../../../src/protocol/requests.ts";
import type { ScheduleSpecInput } from "../../../src/protocol/schedule-spec.ts";
import type { RuntimeApi } from "../../../src/runtime/api.ts";
import { elapse, memoryMachine, settled, shiftingClock, spec } from "../memory-runtime.ts";

const DAY_MS = 86_400_000;
const at = (text: string): number => Date.parse(text);

const worker = spec({ restart: "temporary" });
const asked = (over: Partial<ScheduleSpecInput> = {}) =>
  Requests["schedule/add"].parse({
    schedule: { name: "nightly", cron: "0 3 * * *", zone: "UTC", spec: worker, ...over },
  } satisfies RequestInput<"schedule/add">).schedule;

const outcome = <A>(work: Effect.Effect<A, HoldfastError>) =>
  Effect.match(work, { onSuccess: (value) => value, onFailure: ({ code }) => code });

/** A machine whose wall clock stands where a test sets it; monotonic time goes by as the test says. */
const scheduling = Effect.gen(function* () {
  const { shift, clock } = yield* shiftingClock;
  const machine = yield* Effect.provideService(memoryMachine, Clock.Clock, clock);
  const set = (time: string | number): void => {
    const wanted = typeof time === "number" ? time : at(time);
    shift.wall_ms += wanted - clock.currentTimeMillisUnsafe();
  };
  const boot = Effect.provideService(machine.boot(), Clock.Clock, clock);
  /** The alarm looks at the wall clock within its period. */
  const look = Effect.andThen(elapse(11), settled);
  const records = (): readonly LogRecord[] => {
    const found: LogRecord[] = [];
    for (let after = 0; ; ) {
      const page = machine.log.read(after, 1_000).records;
      found.push(...page);
      if (page.length === 0) return found;
      after = page.at(-1)!.seq;
    }
  };
  /** The runs that were to begin, by their times. */
  const runs = (name = "nightly") =>
    records().flatMap((record) =>
      record.stream === `schedule:${name}` && record.type === "schedule_due" ? [record.payload] : [],
    );
  const spawned = () => records().filter(({ type }) => type === "worker_spawn_requested");
  /** Agents that run end well. */
  const finish = Effect.gen(function* () {
    yield* settled;
    for (const run of machine.memory.runs) run.exit(0);
    yield* settled;
  });
  return { ...machine, set, boot, look, runs, spawned, finish };
});

const alone = (runtime: RuntimeApi) =>
  Effect.map(runtime.list({ all: true }), (all) => all.map(({ name }) => name));

describe("a schedule", () => {
  it.effect("starts a worker when its time comes, and tells when it comes next", () =>
    Effect.gen(function* () {
      const { set, boot, look, finish } = yield* scheduling;
      set("2026-01-01T00:00:00Z");
      const { runtime } = yield* boot;
      expect(yield* runtime.schedules.add(asked())).toMatchObject({
        name: "nightly",
        zone: "UTC",
        next_at: "2026-01-01T03:00:00.000Z",
        effect: "created",
      });
      yield* look;
      expect(yield* alone(runtime)).toEqual([]);
      set("2026-01-01T03:00:00Z");
      yield* look;
      expect(yield* alone(runtime)).toEqual(["nightly-20260101T030000Z"]);
      expect(yield* runtime.list({ labels: { schedule: "nightly" } })).toHaveLength(1);
      expect(yield* runtime.schedules.show("nightly")).toMatchObject({
        next_at: "2026-01-02T03:00:00.000Z",
        last: { cause: "due", worker: "nightly-20260101T030000Z", status: "running" },
        runs: 1,
        running: [expect.any(String)],
      });
      yield* finish;
      expect((yield* runtime.schedules.list({ limit: 10 })).schedules).toMatchObject([
        { name: "nightly", running: [], last: { status: "completed" } },
      ]);
    }),
  );

  it.effect("that is removed starts nothing, and one of its name afterwards is another one", () =>
    Effect.gen(function* () {
      const { set, boot, look, spawned, specs } = yield* scheduling;
      set("2026-01-01T00:00:00Z");
      const { runtime } = yield* boot;
      const first = yield* runtime.schedules.add(asked());
      expect(yield* outcome(runtime.schedules.add(asked()))).toBe("ALREADY_EXISTS");
      expect(yield* runtime.schedules.remove("nightly")).toMatchObject({ effect: "deleted", next_at: null });
      expect(specs.has(first.schedule_id), "its launch spec may hold secrets").toBe(false);
      expect(yield* outcome(runtime.schedules.remove("nightly"))).toBe("SCHEDULE_NOT_FOUND");
      set("2026-01-01T03:00:00Z");
      yield* look;
      expect(spawned()).toEqual([]);
      const second = yield* runtime.schedules.add(asked());
      expect(second.schedule_id).not.toBe(first.schedule_id);
    }),
  );

  it.effect("that is paused lets times pass, and goes on with the next one", () =>
    Effect.gen(function* () {
      const { set, boot, look, runs } = yield* scheduling;
      set("2026-01-01T00:00:00Z");
      const { runtime } = yield* boot;
      yield* runtime.schedules.add(asked({ missed: "all" }));
      expect(yield* runtime.schedules.pause("nightly")).toMatchObject({ effect: "updated", next_at: null });
      expect(yield* runtime.schedules.pause("nightly")).toMatchObject({ effect: "noop" });
      set("2026-01-05T12:00:00Z");
      yield* look;
      expect(runs()).toEqual([]);
      expect(yield* runtime.schedules.resume("nightly")).toMatchObject({
        next_at: "2026-01-06T03:00:00.000Z",
      });
      set("2026-01-06T03:00:10Z");
      yield* look;
      expect(runs().map(({ due_at }) => due_at)).toEqual(["2026-01-06T03:00:00.000Z"]);
    }),
  );

  it.effect("runs when it is asked to, beside its times; its policy for overlaps holds", () =>
    Effect.gen(function* () {
      const { set, boot, finish } = yield* scheduling;
      set("2026-01-01T00:00:00Z");
      const { runtime } = yield* boot;
      yield* runtime.schedules.add(asked());
      const run = yield* runtime.schedules.run("nightly");
      expect(run).toMatchObject({
        name: "nightly",
        effect: "created",
        worker: expect.stringMatching(/^nightly-/),
      });
      expect(yield* outcome(runtime.schedules.run("nightly"))).toBe("INVALID_STATE");
      yield* finish;
      expect((yield* runtime.schedules.run("nightly")).worker_id).not.toBe(run.worker_id);
      expect((yield* runtime.schedules.show("nightly")).next_at).toBe("2026-01-01T03:00:00.000Z");
    }),
  );

  it.effect("whose worker cannot start says why, and tries its next time", () =>
    Effect.gen(function* () {
      const { set, boot, look, specs } = yield* scheduling;
      set("2026-01-01T00:00:00Z");
      const { runtime } = yield* boot;
      const { schedule_id } = yield* runtime.schedules.add(asked());
      const kept = specs.get(schedule_id)!;
      specs.set(schedule_id, { ...kept, kind: "gone" as never });
      set("2026-01-01T03:00:00Z");
      yield* look;
      const shown = yield* runtime.schedules.show("nightly");
      expect(shown).toMatchObject({
        failures: 1,
        waiting: 0,
        last: { error: { code: "INVALID_AGENT_KIND" } },
      });
      expect(yield* outcome(runtime.schedules.run("nightly"))).toBe("INVALID_AGENT_KIND");
      specs.set(schedule_id, kept);
      set("2026-01-02T03:00:00Z");
      yield* look;
      expect(yield* runtime.schedules.show("nightly")).toMatchObject({ runs: 1 });
    }),
  );

  it.effect("replaces the worker before", () =>
    Effect.gen(function* () {
      const { set, boot, look } = yield* scheduling;
      set("2026-01-01T00:00:00Z");
      const { runtime } = yield* boot;
      yield* runtime.schedules.add(asked({ overlap: "replace" }));
      set("2026-01-01T03:00:00Z");
      yield* look;
      set("2026-01-02T03:00:00Z");
      yield* look;
      yield* look;
      const all = yield* runtime.list({ all: true });
      expect(all.map(({ name, status }) => [name, status])).toEqual([
        ["nightly-20260101T030000Z", "cancelled"],
        ["nightly-20260102T030000Z", "running"],
      ]);
    }),
  );

  it.effect("is refused where it could never start a worker", () =>
    Effect.gen(function* () {
      const { set, boot } = yield* scheduling;
      set("2026-01-01T00:00:00Z");
      const { runtime } = yield* boot;
      expect(yield* outcome(runtime.schedules.add(asked({ cron: "0 0 30 2 *" })))).toBe("INVALID_REQUEST");
      const noKind = { ...asked(), spec: { ...asked().spec, kind: "nothing" as never } };
      expect(yield* outcome(runtime.schedules.add(noKind))).toBe("INVALID_AGENT_KIND");
      for (const wrong of [
        { cron: "61 * * * *" },
        { zone: "Mars/Olympus" },
        { overlap: "replace", missed: "all" },
        { spec: spec({ restart: "permanent" }) },
        { spec: { ...worker, name: "mine" } },
      ] as const)
        expect(() => asked(wrong as Partial<ScheduleSpecInput>), JSON.stringify(wrong)).toThrow();
    }),
  );
});

describe("over the end of a daemon", () => {
  it.effect("missed runs go one after the other, where they may not overlap", () =>
    Effect.gen(function* () {
      const { set, boot, look, runs, finish } = yield* scheduling;
      set("2026-01-01T00:00:00Z");
      const first = yield* boot;
      yield* first.runtime.schedules.add(asked({ missed: "all", missed_max: 2 }));
      yield* first.crash;
      set("2026-01-04T12:00:00Z");
      const { runtime } = yield* boot;
      yield* look;
      expect(runs().map(({ due_at }) => due_at.slice(0, 10))).toEqual(["2026-01-03", "2026-01-04"]);
      expect(yield* alone(runtime)).toEqual(["nightly-20260103T030000Z"]);
      expect(yield* runtime.schedules.show("nightly")).toMatchObject({ waiting: 1 });
      yield* finish;
      yield* look;
      expect(yield* alone(runtime)).toEqual(["nightly-20260103T030000Z", "nightly-20260104T030000Z"]);
    }),
  );

  it.effect(
    "a year of times in two zones, with the daemon down over some: each once, missed ones by their policy",
    () =>
      Effect.gen(function* () {
        const { set, boot, look, runs, spawned, finish } = yield* scheduling;
        const begin = at("2026-01-01T00:00:00Z");
        const end = at("2027-01-01T00:00:00Z");
        set(begin);
        const plans = {
          "berlin-skip": { cron: "30 2 * * 1", zone: "Europe/Berlin", missed: "skip" },
          "berlin-all": {
            cron: "30 2 * * 0",
            zone: "Europe/Berlin",
            missed: "all",
            missed_max: 100,
            overlap: "allow",
          },
          "york-once": { cron: "30 1 * * 0", zone: "America/New_York", missed: "once" },
        } as const;
        let { runtime, crash } = yield* boot;
        for (const [name, plan] of Object.entries(plans))
          yield* runtime.schedules.add(asked({ name, ...plan }));
        const all = Object.entries(plans).flatMap(([name, { cron, zone }]) => {
          const read = readCron(cron, zone);
          const times: { readonly name: string; readonly due: number }[] = [];
          if (read.ok)
            for (let next = read.value.next(begin)!; next < end; next = read.value.next(next)!)
              times.push({ name, due: next });
          return times;
        });
        all.sort((one, other) => one.due - other.due);
        /** No daemon: two weeks, and one week around each change of a clock. */
        const isDown = (due: number): boolean =>
          [
            ["2026-02-10", "2026-02-24"],
            ["2026-03-27", "2026-04-01"],
            ["2026-10-23", "2026-10-28"],
          ].some(([from, to]) => due >= at(`${from}T12:00:00Z`) && due < at(`${to}T12:00:00Z`));
        let down = false;
        for (const { due } of all) {
          if (isDown(due)) {
            if (!down) yield* crash;
            down = true;
            continue;
          }
          if (down) {
            set(due - 3_600_000);
            ({ runtime, crash } = yield* boot);
            yield* look;
            yield* finish;
            down = false;
          }
          set(due + 5_000);
          yield* look;
          yield* finish;
        }
        const timesOf = (name: string) => runs(name).map(({ due_at }) => at(due_at));
        const expected = (name: string) => all.filter((one) => one.name === name).map(({ due }) => due);
        expect(timesOf("berlin-all"), "each of them").toEqual(expected("berlin-all"));
        expect(timesOf("berlin-all")).toContain(at("2026-03-29T01:30:00Z"));
        expect(timesOf("berlin-all")).toContain(at("2026-10-25T00:30:00Z"));
        expect(timesOf("berlin-skip"), "none that was missed").toEqual(
          expected("berlin-skip").filter((due) => !isDown(due)),
        );
        const once = timesOf("york-once");
        expect(new Set(once).size).toBe(once.length);
        expect(expected("york-once").filter((due) => !isDown(due) && !once.includes(due))).toEqual([]);
        const madeUp = once.filter((due) => isDown(due));
        expect(madeUp.map((due) => new Date(due).toISOString().slice(0, 10))).toEqual([
          "2026-02-22",
          "2026-03-29",
          "2026-10-25",
        ]);
        const workers = spawned().map(({ worker_id }) => worker_id);
        expect(workers).toHaveLength(Object.keys(plans).reduce((sum, name) => sum + timesOf(name).length, 0));
        expect(timesOf("berlin-all").length).toBeGreaterThan(50);
      }),
    120_000,
  );

  it.effect("the wall clock jumps: forward it makes up for what it skipped, back it runs nothing twice", () =>
    Effect.gen(function* () {
      const { set, boot, look, runs, finish } = yield* scheduling;
      set("2026-01-01T00:00:00Z");
      const { runtime } = yield* boot;
      yield* runtime.schedules.add(asked());
      set("2026-01-01T03:00:01Z");
      yield* look;
      yield* finish;
      set("2026-01-01T02:00:00Z");
      yield* look;
      set("2026-01-01T03:00:05Z");
      yield* look;
      expect(runs()).toHaveLength(1);
      set("2030-01-01T12:00:00Z");
      yield* look;
      yield* finish;
      expect(runs().map(({ due_at, cause }) => [due_at.slice(0, 10), cause])).toEqual([
        ["2026-01-01", "due"],
        ["2030-01-01", "missed"],
      ]);
      set("2026-01-02T00:00:00Z");
      yield* look;
      set("2026-01-02T03:00:00Z");
      yield* look;
      expect(runs()).toHaveLength(3);
      set(at("2026-01-02T03:00:00Z") + DAY_MS);
      yield* finish;
      yield* look;
      expect(runs()).toHaveLength(4);
    }),
  );
});
