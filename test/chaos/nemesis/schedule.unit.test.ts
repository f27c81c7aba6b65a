import { expect, it } from "vitest";
import { FAULTS, scheduleOf } from "./schedule.ts";

it("the same seed makes the same sequence of faults, another one another", () => {
  expect(scheduleOf(7, 1)).toEqual(scheduleOf(7, 1));
  expect(scheduleOf(8, 1)).not.toEqual(scheduleOf(7, 1));
});

it.each([0.1, 0.5, 10])("every kind of fault is among those of %d minutes", (minutes) => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const names = new Set(scheduleOf(seed, minutes).map(({ name }) => name));
    expect([...names].sort()).toEqual(Object.keys(FAULTS).sort());
  }
});

it("ten minutes kill the daemon at least twenty times, whatever the seed", () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const kills = scheduleOf(seed, 10).filter(({ name }) => name === "kill-daemon");
    expect(kills.length).toBeGreaterThanOrEqual(20);
  }
});
