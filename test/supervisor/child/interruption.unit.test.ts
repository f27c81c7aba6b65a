/** A turn that was open at the end of an incarnation: what the pure supervisor makes of it. */
import { describe, expect, it } from "vitest";
import type { ChildInput } from "../../../src/supervisor/child/inputs.ts";
import { policyFor } from "../../../src/supervisor/child/interruption.ts";
import { drive, exitedWith, spec } from "./children.ts";

const begun: readonly ChildInput[] = [
  { type: "begin", incarnation: 1, reason: "spawn" },
  {
    type: "launched",
    spawned: {
      pid: 1,
      pgid: 1,
      agent: { pid: 1, start_time: "1", boot_id: "b", pid_ns: "1" },
      launcher: { pid: 2, start_time: "1", boot_id: "b", pid_ns: "1" },
      argv: ["true"],
    },
  },
];
const died = (tools: readonly string[]): ChildInput => ({
  ...exitedWith(1),
  interrupted: { tools, session_id: "s" },
});
const running = (over: Parameters<typeof spec>[0]) => {
  const driven = drive(spec({ restart: "transient", ...over }));
  for (const input of begun) driven.feed(input, 0);
  return driven;
};

it.each([
  [null, [], "continue"],
  [null, ["Bash"], "ask"],
  ["continue", ["Bash"], "continue"],
  ["ask", [], "ask"],
  ["never", [], "never"],
] as const)("policy %s with %j open: %s", (policy, tools, then) => {
  expect(policyFor(policy, { tools, session_id: null })).toBe(then);
});

describe("a worker that is asked", () => {
  const asked = () => {
    const driven = running({});
    expect(driven.feed(died(["Bash"]), 1)).toEqual([{ type: "wait" }]);
    return driven;
  };

  it("waits, and counts no restart", () => {
    const { child } = asked();
    expect(child()).toMatchObject({
      state: "waiting",
      open: false,
      restarts: [],
      holds: [{ reason: "interrupted", id: "1.interrupted", session_id: "s" }],
    });
  });

  it.each(["continue", "fresh"] as const)("starts when it is answered with %s, once", (answer) => {
    const { child, feed, types } = asked();
    const said: ChildInput = {
      type: "answer",
      question_id: "1.interrupted",
      answer,
      by: "user",
      grace_ms: 0,
    };
    expect(feed(said, 2)).toEqual([{ type: "start" }]);
    expect(child()).toMatchObject({ state: "backing_off", holds: [], restarts: [] });
    expect(types.includes("session_abandoned")).toBe(answer === "fresh");
    expect(feed(said, 3)).toEqual([]);
  });

  it("ends when it is answered with stop, or killed", () => {
    for (const input of [
      { type: "answer", question_id: "1.interrupted", answer: "stop", by: "user", grace_ms: 0 },
      { type: "kill", by: "user", reason: "killed", grace_ms: 0, signal: "SIGTERM" },
    ] as const) {
      const { child, feed } = asked();
      const state = input.type === "kill" ? "cancelled" : "failed";
      expect(feed(input, 2)).toEqual([{ type: "end", state }]);
      expect(child()).toMatchObject({ state, holds: [] });
    }
  });

  it("takes no answer to another question", () => {
    const { child, feed } = asked();
    for (const [question_id, answer] of [
      ["2.interrupted", "continue"],
      ["1.interrupted", "wait"],
    ] as const)
      expect(feed({ type: "answer", question_id, answer, by: "user", grace_ms: 0 }, 2)).toEqual([]);
    expect(child().state).toBe("waiting");
  });
});

it("nobody is asked about a worker that was stopped, or would not be started again", () => {
  const stopped = running({});
  stopped.feed({ type: "kill", by: "user", reason: "killed", grace_ms: 0, signal: "SIGTERM" }, 1);
  stopped.feed(died(["Bash"]), 2);
  expect(stopped.types).not.toContain("worker_question");
  const restarted = running({});
  restarted.feed({ type: "restart", by: "user", grace_ms: 0 }, 1);
  expect(restarted.feed(died(["Bash"]), 2)).toEqual([{ type: "restart_after", delay_ms: 0 }]);
  const temporary = running({ restart: "temporary" });
  expect(temporary.feed(died(["Bash"]), 1)).toEqual([{ type: "end", state: "failed" }]);
});

it("a crash loop in the middle of a turn is bounded by the window where nobody is asked", () => {
  const { child, feed } = running({ on_interrupted: "continue", max_restarts: 0 });
  expect(feed(died(["Bash"]), 1)).toEqual([{ type: "end", state: "failed" }]);
  expect(child().state).toBe("failed");
});
