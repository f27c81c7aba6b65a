import { describe, expect, test } from "vitest";
import { decideExit, parseStatus } from "../../../src/adapters/process/exit.ts";

const decide = (raw_status: number | null, signals_sent: string[] = [], exec_failed = false) =>
  decideExit({ raw_status, signals_sent, exec_failed });

describe("an exit", () => {
  test("is the code that the shell reported", () => {
    expect(decide(0)).toEqual({
      exit_code: 0,
      signal: null,
      signal_inferred: false,
      raw_status: 0,
      reason: "exited",
    });
    expect(decide(255).exit_code).toBe(255);
  });

  test("137 alone may be SIGKILL or exit 137: the signal is inferred, the code kept", () => {
    expect(decide(137)).toEqual({
      exit_code: 137,
      signal: "SIGKILL",
      signal_inferred: true,
      raw_status: 137,
      reason: "signalled",
    });
  });

  test("137 after our SIGKILL is that SIGKILL, but not after our SIGTERM", () => {
    expect(decide(137, ["SIGTERM", "SIGKILL"])).toEqual({
      exit_code: null,
      signal: "SIGKILL",
      signal_inferred: false,
      raw_status: 137,
      reason: "signalled",
    });
    expect(decide(137, ["SIGTERM"])).toMatchObject({ exit_code: 137, signal_inferred: true });
  });

  test.each([144, 145, 147, 173, 244])("%i is gemini's exit code for an HTTP error, no signal", (status) => {
    expect(decide(status)).toMatchObject({ exit_code: status, signal: null, reason: "exited" });
  });

  test("that nobody saw is unknown", () => {
    expect(decide(null, ["SIGKILL"])).toEqual({
      exit_code: null,
      signal: null,
      signal_inferred: false,
      raw_status: null,
      reason: "unknown",
    });
  });

  test("of a shell that could not exec is a failed start, not the agent's", () => {
    expect(decide(127, [], true)).toEqual({
      exit_code: null,
      signal: null,
      signal_inferred: false,
      raw_status: 127,
      reason: "start_failed",
    });
  });
});

test.each<[string, number | undefined]>([
  ["0\n", 0],
  ["137\n", 137],
  ["", undefined],
  ["1", undefined],
  ["256\n", undefined],
  ["x\n", undefined],
  ["1\n2\n", undefined],
])("an exit file %j is status %s", (text, status) => {
  expect(parseStatus(text)).toBe(status);
});
