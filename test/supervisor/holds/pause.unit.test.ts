import { describe, expect, it } from "vitest";
import type { ChildInput } from "../../../src/supervisor/child/inputs.ts";
import { causesOf, isPaused, pausedMs } from "../../../src/supervisor/holds/pause.ts";
import { drive, exitedWith, spec } from "../child/children.ts";

const IDENTITY = { pid: 1, start_time: "1", boot_id: "boot", pid_ns: "ns" };
const launched: ChildInput = {
  type: "launched",
  spawned: { pid: 1, pgid: 1, agent: IDENTITY, launcher: IDENTITY, argv: [] },
};
const pause = (reason: "operator" | "disk" = "operator"): ChildInput => ({
  type: "pause",
  reason,
  detail: "",
  pids: [1],
});
const unpause = (reason?: "operator" | "disk"): ChildInput => ({
  type: "unpause",
  by: "user",
  ...(reason === undefined ? {} : { reason }),
});
const kill: ChildInput = { type: "kill", by: "user", reason: "killed", grace_ms: 1, signal: "SIGTERM" };

const starting = () => {
  const child = drive(spec());
  child.feed({ type: "begin", incarnation: 1, reason: "spawn" }, 0);
  return child;
};
const running = () => {
  const child = starting();
  child.feed(launched, 0);
  child.types.length = 0;
  return child;
};

describe("a pause", () => {
  it("is one record and one command, and its end too; what is said twice says nothing", () => {
    const child = running();
    expect(child.feed(pause(), 10)).toEqual([{ type: "pause" }]);
    expect(child.feed(pause(), 20)).toEqual([]);
    expect(isPaused(child.child())).toBe(true);
    expect(child.child().state).toBe("running");
    expect(child.feed(unpause(), 30)).toEqual([{ type: "unpause" }]);
    expect(child.feed(unpause(), 40)).toEqual([]);
    expect(child.types).toEqual(["worker_paused", "worker_unpaused"]);
    expect(pausedMs(child.child().pause, 50)).toBe(20);
  });

  it("for two reasons lasts until both are lifted, and counts once", () => {
    const child = running();
    child.feed(pause("disk"), 10);
    expect(child.feed(pause("operator"), 20)).toEqual([]);
    expect(child.feed(unpause("disk"), 30)).toEqual([]);
    expect(causesOf(child.child())).toMatchObject([{ reason: "operator" }]);
    expect(child.feed(unpause("operator"), 40)).toEqual([{ type: "unpause" }]);
    expect(pausedMs(child.child().pause, 99)).toBe(30);
  });

  it("is lifted whole by one who gives no reason, with a record for each", () => {
    const child = running();
    child.feed(pause("disk"), 10);
    child.feed(pause("operator"), 20);
    child.types.length = 0;
    expect(child.feed(unpause(), 30)).toEqual([{ type: "unpause" }]);
    expect(child.types).toEqual(["worker_unpaused", "worker_unpaused"]);
  });

  it("of a start is kept until the agent runs", () => {
    const child = starting();
    expect(child.feed(pause(), 1)).toEqual([{ type: "pause" }]);
    child.feed(launched, 2);
    expect(child.child()).toMatchObject({ state: "running", holds: [{ reason: "pause", id: "operator" }] });
  });

  it("takes nothing that has not begun, is being stopped, or has ended", () => {
    const child = drive(spec({ restart: "temporary" }));
    expect(child.feed(pause(), 0)).toEqual([]);
    child.feed({ type: "begin", incarnation: 1, reason: "spawn" }, 0);
    child.feed(kill, 1);
    expect(child.feed(pause(), 2)).toEqual([]);
    child.feed(exitedWith(0), 3);
    expect(child.feed(pause(), 4)).toEqual([]);
    expect(child.types).not.toContain("worker_paused");
  });

  it.each<[string, ChildInput]>([
    ["kill", kill],
    ["restart", { type: "restart", by: "user", grace_ms: 1 }],
    ["shutdown", { type: "shutdown", by: "crew", reason: "", grace_ms: 1, signal: "SIGTERM" }],
    ["limit", { type: "limit", limit: "usd", value: 2, bound: 1, grace_ms: 1 }],
  ])("ends with a %s, which counts what it took", (_, stop) => {
    const child = running();
    child.feed(pause(), 10);
    expect(child.feed(stop, 30)).toMatchObject([{ type: "stop" }]);
    expect(isPaused(child.child())).toBe(false);
    expect(pausedMs(child.child().pause, 99)).toBe(20);
    expect(child.feed(unpause(), 40)).toEqual([]);
  });

  it("ends with its incarnation: the next one runs, and has not stood still", () => {
    const child = running();
    child.feed(pause(), 10);
    expect(child.feed(exitedWith(1), 30)).toMatchObject([{ type: "restart_after" }]);
    expect(isPaused(child.child())).toBe(false);
    child.feed({ type: "begin", incarnation: 2, reason: "restart" }, 40);
    expect(pausedMs(child.child().pause, 50)).toBe(0);
  });

  it("does not count in what its incarnations have taken together", () => {
    const child = running();
    child.feed(pause(), 10);
    child.feed({ ...exitedWith(1), duration_ms: 100 }, 100);
    expect(child.child().spent_ms).toBe(10);
  });

  it.each<ChildInput>([
    { type: "limit", limit: "timeout", value: 1, bound: 1, grace_ms: 1 },
    { type: "limit", limit: "stall", value: 1, bound: 1, grace_ms: 1 },
    { type: "limit", limit: "tool", value: 1, bound: 1, grace_ms: 1 },
    { type: "limit", limit: "ready", value: 1, bound: 1, grace_ms: 1 },
    { type: "stalled", idle_ms: 1, bound_ms: 1 },
    { type: "ask", question_id: "q", idle_ms: 1, answer_within_ms: 1 },
  ])("holds no time against anybody: $type $limit is not heard", (input) => {
    const child = running();
    child.feed(pause(), 10);
    child.types.length = 0;
    expect(child.feed(input, 20)).toEqual([]);
    expect(child.types).toEqual([]);
    child.feed(unpause(), 30);
    child.feed(input, 40);
    expect(child.types).not.toEqual(["worker_unpaused"]);
  });
});
