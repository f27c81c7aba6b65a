import { it } from "@effect/vitest";
import { Effect, Exit, Scope } from "effect";
import { TestClock } from "effect/testing";
import { expect } from "vitest";
import { makeAlarms } from "../../../src/actors/machine/alarms.ts";

it.effect("rings each once, in the order in which they are due, whatever the order of asking", () =>
  Effect.gen(function* () {
    const alarms = yield* makeAlarms(() => undefined);
    const rung: number[] = [];
    const due = Array.from({ length: 200 }, (_, n) => ((n * 7_919) % 200) * 10 + 10);
    for (const at of due) alarms.after(at, () => rung.push(at));
    yield* TestClock.adjust("500 millis");
    expect(rung).toEqual(due.filter((at) => at <= 500).sort((a, b) => a - b));
    yield* TestClock.adjust("1 hour");
    expect(rung).toEqual([...due].sort((a, b) => a - b));
  }),
);

it.effect("one that is taken back stays silent, wherever it stands; the others ring in order", () =>
  Effect.gen(function* () {
    for (let seed = 1; seed <= 50; seed += 1) {
      const alarms = yield* makeAlarms(() => undefined);
      const rung: number[] = [];
      const made = Array.from({ length: 60 }, (_, n) => {
        const at = ((n * 7_919 * seed + n * n) % 401) + 1;
        return { at, alarm: alarms.after(at, () => rung.push(at)) };
      });
      const isTaken = (n: number) => (n * seed) % 4 === 1;
      for (const [n, { alarm }] of made.entries()) if (isTaken(n)) alarm.disarm();
      yield* TestClock.adjust("1 second");
      const kept = made.filter((_, n) => !isTaken(n)).map(({ at }) => at);
      expect(rung).toEqual(kept.sort((a, b) => a - b));
      for (const { alarm } of made) alarm.disarm();
    }
  }),
);

it.effect("one that is asked for while another rings has its own time", () =>
  Effect.gen(function* () {
    const alarms = yield* makeAlarms(() => undefined);
    const rung: string[] = [];
    alarms.after(1_000, () => {
      rung.push("first");
      alarms.after(1_000, () => rung.push("second"));
    });
    yield* TestClock.adjust("1500 millis");
    expect(rung).toEqual(["first"]);
    yield* TestClock.adjust("500 millis");
    expect(rung).toEqual(["first", "second"]);
  }),
);

it.effect("none rings once their scope is closed", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make();
    const alarms = yield* Scope.provide(
      makeAlarms(() => undefined),
      scope,
    );
    let rung = 0;
    const count = () => {
      rung += 1;
    };
    alarms.after(10, count);
    yield* Scope.close(scope, Exit.void);
    alarms.after(10, count);
    yield* TestClock.adjust("1 hour");
    expect(rung).toBe(0);
  }),
);

it.effect("one that throws is told, and keeps no other from ringing", () =>
  Effect.gen(function* () {
    const thrown: unknown[] = [];
    const alarms = yield* makeAlarms((cause) => thrown.push(cause));
    const rung: number[] = [];
    for (const at of [10, 20, 30])
      alarms.after(at, () => {
        if (at === 20) throw new TypeError("boom");
        rung.push(at);
      });
    yield* TestClock.adjust("1 second");
    expect(rung).toEqual([10, 30]);
    expect(thrown).toEqual([new TypeError("boom")]);
  }),
);
