import { describe, expect, it } from "vitest";
import type { LogRecord } from "../../../src/protocol/records.ts";
import { reconcile } from "../../../src/supervisor/boot/reconcile.ts";
import { evolve, monotonicOf, newChild } from "../../../src/supervisor/child/evolve.ts";
import type { ChildState } from "../../../src/supervisor/child/inputs.ts";
import { spec } from "../child/children.ts";

const child = (over: Partial<ChildState>): ChildState => ({ ...newChild("W", spec()), ...over });

describe("boot", () => {
  it.each(["completed", "failed", "cancelled", "parked"] as const)("leaves what is %s", (state) => {
    expect(reconcile(child({ state }), "not_begun", 0)).toEqual({ type: "leave" });
  });

  it("starts what was requested and never begun", () => {
    expect(reconcile(child({}), "not_begun", 0)).toEqual({ type: "start" });
  });

  it("waits out what is left of a backoff, and not a negative time", () => {
    const waiting = child({ state: "backing_off", incarnation: 1, due_ms: 5_000 });
    expect(reconcile(waiting, "not_begun", 2_000)).toEqual({ type: "back_off", delay_ms: 3_000 });
    expect(reconcile(waiting, "not_begun", 9_000)).toEqual({ type: "back_off", delay_ms: 0 });
  });

  it("adopts an agent that runs, also one that is being stopped", () => {
    expect(reconcile(child({ state: "running", open: true, incarnation: 1 }), "running", 0)).toEqual({
      type: "adopt",
    });
    expect(reconcile(child({ state: "stopping", open: true, incarnation: 1 }), "running", 0)).toEqual({
      type: "adopt",
    });
  });

  it.each(["finished", "lost", "never_started"] as const)("settles what is %s", (kind) => {
    expect(reconcile(child({ state: "starting", open: true, incarnation: 1 }), kind, 0)).toEqual({
      type: "settle",
    });
  });
});

describe("instants of records on today's clock", () => {
  const record = (over: object): LogRecord =>
    ({
      type: "worker_started",
      payload: { clock: { boot_id: "a", mono_ns: "1000000000" } },
      recorded_at: "2026-01-01T00:00:00.000Z",
      ...over,
    }) as LogRecord;
  const now = (boot_id: string, wall: string) => ({ boot_id, mono_ms: 50_000, wall_ms: Date.parse(wall) });

  it("in the same boot are their own monotonic stamps, wherever the wall clock went", () => {
    expect(monotonicOf(record({}), now("a", "2027-01-01T00:00:00Z"), 60_000)).toBe(1_000);
  });

  it("after another boot are the wall difference", () => {
    expect(monotonicOf(record({}), now("b", "2026-01-01T00:00:20Z"), 60_000)).toBe(30_000);
  });

  it("are clamped to the period when the wall clock jumped a year either way", () => {
    expect(monotonicOf(record({}), now("b", "2027-01-01T00:00:00Z"), 60_000)).toBe(-10_000);
    expect(monotonicOf(record({}), now("b", "2025-01-01T00:00:00Z"), 60_000)).toBe(50_000);
  });
});

it("folding a child's records again gives the same child: what a crash of the daemon loses is nothing", () => {
  const begun = {
    type: "worker_state_changed",
    stream: "worker:W",
    incarnation: 3,
    payload: { from: "pending", to: "starting", reason: "", clock: { boot_id: "a", mono_ns: "0" } },
  } as const;
  const once = evolve(newChild("W", spec()), begun, 5);
  expect(evolve(newChild("W", spec()), begun, 5)).toEqual(once);
  expect(once).toMatchObject({ open: true, incarnation: 3, started_ms: 5 });
});
