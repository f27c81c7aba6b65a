import { describe, expect, it } from "vitest";
import { TOOLS_IN_FLIGHT_MAX } from "../../../src/base/limits.ts";
import type { RecordDraft } from "../../../src/protocol/records.ts";
import {
  beat,
  clocksAt,
  isBeatDue,
  oldestTool,
  progressed,
  rebased,
} from "../../../src/supervisor/clocks/clocks.ts";

const bounds = { stall_ms: 1_000, heartbeat_ms: 100, tool_timeout_ms: 0 };

const tool = (kind: "ToolCall" | "ToolResult", id: string | null): RecordDraft => ({
  type: "agent.event",
  stream: "worker:w",
  payload: {
    agent_kind: "claude_code",
    kind,
    channel: "tool",
    data: { tool: { tool_use_id: id, backend_item_id: null } },
  },
});
const turnDone: RecordDraft = {
  type: "turn_completed",
  stream: "worker:w",
  payload: {
    turn: 1,
    usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, cost_usd: null },
    duration_ms: null,
  },
};

describe("a heartbeat", () => {
  it("of an old incarnation moves no clock", () => {
    const clocks = clocksAt(2, 0);
    expect(beat(clocks, 1, "zombie", 500)).toEqual({ clocks, changed: false });
  });

  it.each(["stopped", "zombie", "dead"] as const)("that finds the process %s is news once", (process) => {
    const first = beat(clocksAt(1, 0), 1, process, 1);
    expect(first.changed).toBe(true);
    expect(beat(first.clocks, 1, process, 2).changed).toBe(false);
  });

  it("is due no more often than asked", () => {
    expect(isBeatDue(clocksAt(1, 0), bounds, 99)).toBe(false);
    expect(isBeatDue(clocksAt(1, 0), bounds, 100)).toBe(true);
  });

  it("that finds it running again after a stop forgives the time that it was stopped, and is no progress", () => {
    const stopped = beat(clocksAt(1, 0), 1, "stopped", 500).clocks;
    const resumed = beat(stopped, 1, "running", 5_000).clocks;
    expect(resumed).toMatchObject({ since_ms: 5_000, progress_ms: 0 });
  });
});

describe("tools in flight", () => {
  it("begin with their call and end with their result, each by its own id", () => {
    const two = progressed(clocksAt(1, 0), [tool("ToolCall", "a"), tool("ToolCall", "b")], 10);
    expect([...two.tools.keys()]).toEqual(["a", "b"]);
    const one = progressed(two, [tool("ToolResult", "a")], 20);
    expect([...one.tools]).toEqual([["b", 10]]);
    expect(oldestTool(one)).toBe(10);
    expect(oldestTool(progressed(one, [tool("ToolResult", "b")], 30))).toBeUndefined();
  });

  it("end with their turn, whatever was not answered", () => {
    const busy = progressed(clocksAt(1, 0), [tool("ToolCall", "a")], 10);
    expect(progressed(busy, [turnDone], 20).tools.size).toBe(0);
  });

  it("without ids are one", () => {
    const busy = progressed(clocksAt(1, 0), [tool("ToolCall", null), tool("ToolCall", null)], 10);
    expect(busy.tools.size).toBe(1);
    expect(progressed(busy, [tool("ToolResult", null)], 20).tools.size).toBe(0);
  });

  it("are remembered up to their bound", () => {
    const calls = Array.from({ length: TOOLS_IN_FLIGHT_MAX + 5 }, (_, n) => tool("ToolCall", `t${n}`));
    expect(progressed(clocksAt(1, 0), calls, 10).tools.size).toBe(TOOLS_IN_FLIGHT_MAX);
  });
});

it("after a gap patience and tools begin anew, and nothing counts as progress", () => {
  const busy = progressed(clocksAt(1, 0), [tool("ToolCall", "a")], 10);
  const later = rebased(busy, 3_600_000);
  expect(later).toMatchObject({ since_ms: 3_600_000, progress_ms: 10 });
  expect(oldestTool(later)).toBe(3_600_000);
});
