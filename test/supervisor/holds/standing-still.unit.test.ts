import { describe, expect, it } from "vitest";
import type { PauseCause } from "../../../src/supervisor/holds/pause.ts";
import {
  type PausedWorker,
  pausedBelow,
  pauseSuggestion,
} from "../../../src/supervisor/holds/standing-still.ts";

const a = (...causes: PauseCause[]): PausedWorker => ({ ref: "crew/a", causes });
const b = (...causes: PauseCause[]): PausedWorker => ({ ref: "crew/b", causes });
const hot = { reason: "operator", detail: "too hot" } as const;
const byHand = { reason: "operator", detail: "" } as const;
const spent = { reason: "budget", detail: "The budget of crew is spent", question_id: "q" } as const;
const full = { reason: "disk", detail: "" } as const;

describe("workers below a supervisor that stand still", () => {
  it.each<[string, readonly PausedWorker[], string | undefined]>([
    ["nobody", [a(), b()], undefined],
    ["one of two", [a(hot), b()], "1 of the 2 that run below it is paused: too hot"],
    ["all, by hand", [a(byHand), b(byHand)], "2 of the 2 that run below it are paused: operator"],
    [
      "for more than one reason",
      [a(hot, full), b(spent)],
      "2 of the 2 that run below it are paused: too hot, and for 2 other reasons",
    ],
  ])("is told: %s", (_, running, said) => {
    expect(pausedBelow(running)).toBe(said);
  });

  it.each<[string, boolean, readonly PausedWorker[], string | undefined]>([
    ["nobody does", false, [a()], undefined],
    ["somebody paused them", false, [a(hot), b(hot)], "continue: agent unpause crew"],
    ["its budget is spent", true, [a(spent)], "grant more, or end it: agent answer crew continue|stop"],
    [
      "the budget of one of them is spent",
      false,
      [a(), b(spent)],
      "grant more, or end it: agent answer crew/b continue|stop",
    ],
    [
      "nothing can be done by hand",
      false,
      [a(full)],
      "it continues by itself once the disk has room: agent doctor shows how much it has",
    ],
    [
      "two things are to be done",
      true,
      [a(spent, hot)],
      "grant more, or end it: agent answer crew continue|stop; continue: agent unpause crew",
    ],
  ])("can go on: %s", (_, asks, running, next) => {
    expect(pauseSuggestion("crew", asks, running)).toBe(next);
  });
});
