import { describe, expect, it } from "vitest";
import { WEB_BARS_MAX } from "../../../src/base/limits.ts";
import type { LogRecord } from "../../../src/protocol/records.ts";
import { placeOf, storyOf } from "../../../src/web/model/story.ts";

const AT = Date.parse("2026-01-01T00:00:00.000Z");
const record = (seq: number, type: string, payload: object | undefined, incarnation = 1): LogRecord =>
  ({
    seq,
    type,
    payload,
    incarnation,
    recorded_at: new Date(AT + seq * 1_000).toISOString(),
  }) as unknown as LogRecord;

const LIFE = [
  record(1, "worker_spawn_requested", {}),
  record(2, "worker_state_changed", { from: "pending", to: "starting" }),
  record(3, "turn_started", { turn: 1 }),
  record(4, "agent.event", { kind: "ToolCall", data: { tool: { tool_name: "Edit", tool_use_id: "t1" } } }),
  record(5, "approval_requested", { approval_id: "a1", title: "Edit notes.txt" }),
  record(6, "worker_paused", { reason: "operator" }),
  record(7, "worker_unpaused", { reason: "operator" }),
  record(8, "approval_answered", { approval_id: "a1", decision: "deny", by: "user" }),
  record(9, "agent.event", { kind: "ToolResult", data: { tool: { tool_use_id: "t1" } } }),
  record(10, "turn_completed", { turn: 1 }),
  record(11, "worker_exited", { exit_code: 1, signal: null }),
  record(12, "worker_restart_scheduled", { delay_ms: 2_000, reason: "failed" }),
  record(14, "worker_state_changed", { from: "backing_off", to: "starting" }, 2),
];
const at = (seq: number): number => AT + seq * 1_000;

describe("a story", () => {
  it("has a bar for each thing that takes time, with its end", () => {
    const bars = storyOf(LIFE, at(20))?.bars.map(({ lane, label, from_ms, to_ms, end }) => [
      lane,
      label,
      (from_ms - AT) / 1_000,
      to_ms === null ? null : (to_ms - AT) / 1_000,
      end,
    ]);
    expect(bars).toEqual([
      ["run", "run 1", 2, 11, "bad"],
      ["run", "run 2", 14, null, "open"],
      ["turn", "turn 1", 3, 10, "good"],
      ["tool", "Edit", 4, 9, "good"],
      ["person", "Edit notes.txt", 5, 8, "bad"],
      ["pause", "paused: operator", 6, 7, "neutral"],
      ["backoff", "waits to restart: failed", 12, 14, "neutral"],
    ]);
  });

  it("ends now while something is open, and else with the last record", () => {
    expect(storyOf(LIFE, at(20))?.to_ms).toBe(at(20));
    expect(storyOf(LIFE.slice(0, 11), at(20))?.to_ms).toBe(at(11));
    expect(storyOf([], at(20))).toBeUndefined();
  });

  it("has no question that a rule has answered", () => {
    const answered = record(8, "approval_answered", { approval_id: "a1", decision: "allow", by: "policy" });
    expect(storyOf([LIFE[4] as LogRecord, answered], at(9))?.bars).toEqual([]);
  });

  it("closes everything that was open when its run ended", () => {
    const bars = storyOf(
      [...LIFE.slice(0, 5), record(6, "worker_exited", { exit_code: null, signal: "SIGKILL" })],
      at(9),
    );
    expect(bars?.bars.every(({ to_ms }) => to_ms === at(6))).toBe(true);
  });

  it("passes over a record that came without its payload", () =>
    expect(storyOf([record(1, "worker_exited", undefined)], at(2))?.bars).toEqual([]));

  it("keeps the newest bars of a lane", () => {
    const many = Array.from({ length: 2 * WEB_BARS_MAX }, (_, turn) =>
      record(turn + 1, "turn_started", { turn }),
    );
    const bars = storyOf(many, at(9_000))?.bars ?? [];
    expect([bars.length, bars.at(-1)?.seq]).toEqual([WEB_BARS_MAX, 2 * WEB_BARS_MAX]);
  });
});

describe("the place of a bar", () => {
  it.each([
    [0, 100, { left: 0, width: 100 }],
    [25, 50, { left: 25, width: 25 }],
    [-50, 50, { left: 0, width: 50 }],
    [50, null, { left: 50, width: 50 }],
    [50, 50, { left: 50, width: 0 }],
    [-20, -10, undefined],
    [110, 120, undefined],
  ])("from %s to %s", (from_ms, to_ms, place) => expect(placeOf({ from_ms, to_ms }, 0, 100)).toEqual(place));
});
