import { describe, expect, it } from "vitest";
import { STALL_ASK_MAX_MS, STALL_WARN_MAX_MS } from "../../../src/base/limits.ts";
import type { RecordDraft } from "../../../src/protocol/records.ts";
import { WorkerSpec } from "../../../src/protocol/worker.ts";
import { decide } from "../../../src/supervisor/child/decide.ts";
import { newChild } from "../../../src/supervisor/child/evolve.ts";
import type { ChildState } from "../../../src/supervisor/child/inputs.ts";
import {
  type ClockBounds,
  clocksAt,
  progressed,
  rebased,
  type WorkerClocks,
} from "../../../src/supervisor/clocks/clocks.ts";
import {
  askTime,
  climb,
  decideLadder,
  dueAt,
  FOOT,
  foldLadder,
  type Ladder,
  warnTime,
} from "../../../src/supervisor/clocks/ladder.ts";

const bounds: ClockBounds = { stall_ms: 1_000, heartbeat_ms: 1_000_000, tool_timeout_ms: 0 };
const clock = { boot_id: "boot", mono_ns: "0" };
const stream = "worker:w";
const warned: Ladder = { stage: "warned", at_ms: 1_000 };
const asked: Ladder = { stage: "asked", at_ms: 2_000, question_id: "q" };
const call = (id: string): RecordDraft => ({
  type: "agent.event",
  stream,
  payload: { agent_kind: "codex", kind: "ToolCall", data: { tool: { tool_use_id: id } } },
});
const line: RecordDraft = {
  type: "agent.event",
  stream,
  payload: { agent_kind: "command", kind: "TextOutput", text: "x" },
};

describe("a silent worker without a tool in flight", () => {
  it.each([
    ["is left alone before its stall time", FOOT, 999, undefined],
    ["is warned of at its stall time", FOOT, 1_000, { type: "warn", idle_ms: 1_000 }],
    ["is left alone while the warning is fresh", warned, 1_999, undefined],
    ["is asked about when the warning has stood", warned, 2_000, { type: "ask", idle_ms: 2_000 }],
    ["is left alone while somebody may answer", asked, 2_999, undefined],
    [
      "is stopped when nobody has answered",
      asked,
      3_000,
      { type: "limit", limit: "stall", value: 3_000, bound: 1_000 },
    ],
  ] as const)("%s", (_title, ladder, now, step) => {
    expect(climb(ladder, clocksAt(1, 0), bounds, now)).toEqual(step);
  });

  it("waits on the upper rungs no longer than their named bounds", () => {
    expect([warnTime(1_000), askTime(1_000)]).toEqual([1_000, 1_000]);
    expect([warnTime(600_000), askTime(600_000)]).toEqual([STALL_WARN_MAX_MS, STALL_ASK_MAX_MS]);
  });

  it("with a stall time of 0 is never stuck", () => {
    expect(climb(FOOT, clocksAt(1, 0), { ...bounds, stall_ms: 0 }, 1e12)).toBeUndefined();
  });
});

describe("progress", () => {
  const moving = progressed(clocksAt(1, 0), [line], 2_500);

  it("withdraws the question", () => {
    expect(climb(asked, moving, bounds, 2_501)).toEqual({ type: "withdraw" });
    expect(dueAt(asked, moving, bounds)).toBeLessThan(2_501);
  });

  it("forgets the warning: the stall time begins anew", () => {
    expect(climb(warned, moving, bounds, 3_499)).toBeUndefined();
    expect(climb(warned, moving, bounds, 3_500)).toEqual({ type: "warn", idle_ms: 1_000 });
  });
});

describe("while a tool is in flight", () => {
  const busy = progressed(clocksAt(1, 0), [call("a")], 0);

  it("silence is no stall, however long", () => {
    expect(climb(FOOT, busy, bounds, 1e9)).toBeUndefined();
  });

  it("only the tool's own limit applies", () => {
    const strict = { ...bounds, tool_timeout_ms: 5_000 };
    expect(climb(FOOT, busy, strict, 4_999)).toBeUndefined();
    expect(climb(FOOT, busy, strict, 5_000)).toEqual({
      type: "limit",
      limit: "tool",
      value: 5_000,
      bound: 5_000,
    });
  });

  it("it is the oldest one that counts", () => {
    const both = progressed(busy, [call("b")], 4_000);
    expect(climb(FOOT, both, { ...bounds, tool_timeout_ms: 5_000 }, 5_000)).toMatchObject({ limit: "tool" });
  });
});

describe("time in which it could make no progress", () => {
  it.each(["stopped", "zombie", "dead"] as const)("a %s process is not stalled", (process) => {
    expect(climb(FOOT, { ...clocksAt(1, 0), process }, bounds, 1e9)).toBeUndefined();
    expect(climb(asked, { ...clocksAt(1, 0), process }, bounds, 1e9)).toBeUndefined();
  });

  it("after a gap every rung has its whole time again", () => {
    const later = rebased(clocksAt(1, 0), 1e6);
    for (const ladder of [FOOT, warned, asked]) {
      expect(climb(ladder, later, bounds, 1e6 + 999)).toBeUndefined();
      expect(climb(ladder, later, bounds, 1e6 + 1_000)).toBeDefined();
    }
  });
});

describe("records of the ladder", () => {
  const child = { worker_id: "w", incarnation: 1, ladder: FOOT as Ladder };
  const fold = (drafts: readonly RecordDraft[], at: number, from: Ladder = FOOT) =>
    drafts.reduce((ladder, draft) => foldLadder(ladder, draft, at), from);

  it("fold to where the worker stands", () => {
    const stalled = decideLadder(child, { type: "stalled", idle_ms: 1, bound_ms: 1 }, clock);
    expect(fold(stalled, 5)).toEqual({ stage: "warned", at_ms: 5 });
    const ask = { type: "ask", question_id: "q", idle_ms: 2, answer_within_ms: 3 } as const;
    expect(fold(decideLadder(child, ask, clock), 7)).toEqual({ stage: "asked", at_ms: 7, question_id: "q" });
    const gone = decideLadder({ ...child, ladder: asked }, { type: "withdraw" }, clock);
    expect(fold(gone, 9, asked)).toEqual({ stage: "none", at_ms: 9 });
  });

  it("say nothing twice", () => {
    const ask = { type: "ask", question_id: "r", idle_ms: 2, answer_within_ms: 3 } as const;
    expect(decideLadder({ ...child, ladder: asked }, ask, clock)).toEqual([]);
    expect(decideLadder(child, { type: "withdraw" }, clock)).toEqual([]);
  });

  it.each(["worker_limit_reached", "worker_cancel_requested", "worker_exited"] as const)(
    "%s ends every question",
    (type) => {
      expect(foldLadder(asked, { type, stream, payload: {} } as never, 1)).toEqual(FOOT);
    },
  );
});

describe("an answer", () => {
  const child: ChildState = {
    ...newChild("w", WorkerSpec.parse({ kind: "command", argv: ["a"], cwd: "/", restart: "temporary" })),
    state: "running",
    incarnation: 1,
    open: true,
    ladder: asked,
  };
  const stall = { reason: "stall", id: "q", idle_ms: 1, within_ms: 1 } as const;
  const now = { mono_ms: 3_000, clock, random: 0, wall: { ms: 0, zone: "UTC" } };
  const given = { type: "answer", answer: "kill", by: "ada", grace_ms: 1 } as const;
  const typesOf = (ladder: Ladder, question_id: string) =>
    decide(
      { ...child, ladder, holds: ladder.stage === "asked" ? [stall] : [] },
      { ...given, question_id },
      now,
    ).events.map(({ type }) => type);

  it("is recorded, and then what it asks for", () => {
    expect(typesOf(asked, "q")).toEqual([
      "worker_answered",
      "worker_cancel_requested",
      "worker_state_changed",
    ]);
  });

  it("that comes second, or is to another question, changes nothing", () => {
    expect(typesOf(FOOT, "q")).toEqual([]);
    expect(typesOf(asked, "r")).toEqual([]);
  });
});

describe("10,000 simulated hours of a slow worker", () => {
  const HOUR_MS = 3_600_000;
  const TICK_MS = 30_000;
  /** Numerical Recipes' generator: the same run every time. */
  const randomOf = (seed: number) => () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  const stall: ClockBounds = { stall_ms: 600_000, heartbeat_ms: TICK_MS, tool_timeout_ms: 0 };

  const simulate = (next: (clocks: WorkerClocks, now: number) => readonly [WorkerClocks, number]): number => {
    let clocks = clocksAt(1, 0);
    let due = 0;
    let steps = 0;
    for (let now = 0; now < 10_000 * HOUR_MS; now += TICK_MS) {
      while (due <= now) {
        const [after, wait] = next(clocks, due);
        clocks = after;
        due += wait;
      }
      if (climb(FOOT, clocks, stall, now) !== undefined) steps += 1;
    }
    return steps;
  };

  it("that thinks for up to its stall time, and runs tools for hours, never alarm anybody", () => {
    const random = randomOf(7);
    let tool = 0;
    const alarms = simulate((clocks, now) => {
      if (clocks.tools.size > 0) {
        const result = { ...call(`t${tool}`), payload: { ...call("").payload, kind: "ToolResult" } };
        const data = { tool: { tool_use_id: `t${tool}` } };
        const done = { ...result, payload: { ...result.payload, data } } as RecordDraft;
        return [progressed(clocks, [done], now), random() * (stall.stall_ms - TICK_MS)];
      }
      if (random() < 0.3) {
        tool += 1;
        return [progressed(clocks, [call(`t${tool}`)], now), random() * 4 * HOUR_MS];
      }
      return [progressed(clocks, [line], now), random() * (stall.stall_ms - TICK_MS)];
    });
    expect(alarms).toBe(0);
  });

  it("that falls silent without a tool alarm somebody", () => {
    const alarms = simulate((clocks, now) => [progressed(clocks, [line], now), 2 * stall.stall_ms]);
    expect(alarms).toBeGreaterThan(0);
  });
});
