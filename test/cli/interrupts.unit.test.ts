import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { exitCodeOfSignal, firstInterrupt } from "../../src/cli/interrupts.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
let now = 0;
let exits: unknown[];

const forget = (): void => {
  for (const signal of SIGNALS) process.removeAllListeners(signal);
};

beforeEach(() => {
  // A command that an earlier file of this process has run still listens, and would end the process, too.
  forget();
  exits = [];
  vi.spyOn(performance, "now").mockImplementation(() => now);
  vi.spyOn(process, "exit").mockImplementation(((code: unknown) => void exits.push(code)) as never);
});
afterEach(() => {
  vi.restoreAllMocks();
  forget();
});

describe.each(SIGNALS)("%s", (signal) => {
  it("asks the command to end, once; a second one ends the process at once", async () => {
    const interrupted = firstInterrupt();
    process.emit(signal);
    expect(await interrupted).toBe(signal);
    expect(exits).toEqual([]);
    now += 1_000;
    process.emit(signal);
    expect(exits).toEqual([exitCodeOfSignal(signal)]);
  });

  it("that comes twice at the same time, from the terminal and through npm, is one", async () => {
    const interrupted = firstInterrupt();
    process.emit(signal);
    now += 20;
    process.emit(signal);
    await interrupted;
    expect(exits).toEqual([]);
  });
});

it("the exit codes are 130 and 143", () => {
  expect(SIGNALS.map(exitCodeOfSignal)).toEqual([130, 143]);
});
