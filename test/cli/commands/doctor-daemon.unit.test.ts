import { describe, expect, test } from "vitest";
import { judged, killsUserProcesses } from "../../../src/cli/commands/doctor-daemon.ts";
import { VERSION } from "../../../src/cli/package.ts";

const well = {
  version: VERSION,
  pid: 7,
  workers: { live: 2, total: 3 },
  health: { ok: true, tick_age_ms: 4, stalls: { count: 0, longest_ms: 0 } },
  defects: { count: 0, newest: null },
};
const judge = (over: object) => judged({ ...well, ...over } as never);

describe("the doctor says of a daemon", () => {
  test.each([
    ["that is well, that it runs", {}, "ok", "2 live workers"],
    ["that has one worker, so", { workers: { live: 1, total: 1 } }, "ok", "1 live worker"],
    [
      "of another version, how it is brought to this one",
      { version: "0.0.1" },
      "warn",
      "runs, version 0.0.1",
    ],
    [
      "whose tick has stopped, that it fails",
      { health: { ...well.health, ok: false, tick_age_ms: 9_000 } },
      "fail",
      "9s",
    ],
    [
      "that has contained defects, the newest",
      { defects: { count: 3, newest: { at: "", where: "an alarm", error: "TypeError" } } },
      "warn",
      "3 defects, the newest: an alarm (TypeError)",
    ],
    [
      "whose agents tamper with their run directories, how many do",
      { workers: { live: 2, total: 3, polled: 0, tampered: 1, heartbeats: { late: 0, oldest_ms: 1 } } },
      "warn",
      "the run directory of 1 of them was tampered with",
    ],
    [
      "that looks at its workers, how old the oldest look is",
      { workers: { live: 2, total: 3, polled: 0, tampered: 0, heartbeats: { late: 0, oldest_ms: 12_000 } } },
      "ok",
      "the oldest heartbeat is 12s old",
    ],
    [
      "that has not looked at a worker for too long, how many and how long",
      { workers: { live: 2, total: 3, polled: 0, tampered: 0, heartbeats: { late: 1, oldest_ms: 300_000 } } },
      "warn",
      "1 of them not checked for up to 5m",
    ],
    [
      "that was blocked, for how long",
      { health: { ...well.health, stalls: { count: 2, longest_ms: 2_000 } } },
      "warn",
      "blocked 2 times, at most 2s",
    ],
  ] as const)("%s", (_, over, result, words) => {
    const check = judge(over);
    expect(check.result).toBe(result);
    expect(check.finding).toContain(words);
    expect(check.fix !== undefined).toBe(result !== "ok");
  });
});

test.each([
  [[], false],
  [["[Login]\n#KillUserProcesses=yes\n"], false],
  [["[Login]\nKillUserProcesses=yes\n"], true],
  [["[Login]\nKillUserProcesses = true\n", "[Login]\nKillUserProcesses=no\n"], false],
] as const)("logind ends what a person leaves behind, by %j: %s", (texts, kills) => {
  expect(killsUserProcesses(texts)).toBe(kills);
});
