import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../../src/protocol/errors.ts";
import type { RestartPolicy } from "../../../src/protocol/worker.ts";
import { decide } from "../../../src/supervisor/child/decide.ts";
import { newChild } from "../../../src/supervisor/child/evolve.ts";
import { at, drive, exitedWith, spec } from "./children.ts";

describe("the restart table of OTP", () => {
  const table: readonly [RestartPolicy, number, "restart_after" | "completed" | "failed"][] = [
    ["permanent", 0, "restart_after"],
    ["permanent", 1, "restart_after"],
    ["transient", 0, "completed"],
    ["transient", 1, "restart_after"],
    ["temporary", 0, "completed"],
    ["temporary", 1, "failed"],
  ];
  it.each(table)("a %s child that exits with %i: %s", (restart, code, expected) => {
    const command = drive(spec({ restart })).run(code, 0);
    expect(command?.type === "end" ? command.state : command?.type).toBe(expected);
  });

  it("records one exit and one terminal record for each incarnation, then what follows", () => {
    const child = drive(spec({ restart: "transient" }));
    child.run(1, 0);
    child.run(0, 10);
    expect(child.types.filter((type) => type !== "worker_state_changed")).toEqual([
      "worker_exited",
      "worker_failed",
      "worker_restart_scheduled",
      "worker_exited",
      "worker_completed",
      "worker_ended",
    ]);
  });
});

describe("a failure that no restart can mend", () => {
  const failedWith = (code: ErrorCode) => {
    const exited = exitedWith(1);
    return { ...exited, outcome: { ...exited.outcome, error: { code, message: "It failed." } } } as const;
  };
  const end = (over: Parameters<typeof spec>[0], code: ErrorCode) => {
    const child = drive(spec({ restart: "transient", ...over }));
    child.feed({ type: "begin", incarnation: 1, reason: "test" }, 0);
    const { events, commands } = decide(child.child(), failedWith(code), at(1));
    return { ended: events.find(({ type }) => type === "worker_ended")?.payload, command: commands[0]?.type };
  };
  const unfixable: readonly ErrorCode[] = [
    "TOKEN_MISSING",
    "TOKEN_INVALID",
    "TOKEN_EXPIRED",
    "PROVIDER_BAD_REQUEST",
    "OUTPUT_TOO_LARGE",
    "MAX_TURNS",
    "BUDGET_EXCEEDED",
    "PERMISSION_DENIED",
    "INVALID_REQUEST",
  ];
  it.each(unfixable)("%s ends it at once, whatever its policy, and the record says so", (code) => {
    for (const restart of ["transient", "permanent"] as const)
      expect(end({ restart }, code)).toEqual({
        ended: { state: "failed", reason: `${code}: no restart can fix it`, cause: "unfixable" },
        command: "end",
      });
  });
  it.each(unfixable)("%s is restarted where its user asks for that", (code) => {
    expect(end({ on_unfixable: "restart" }, code)).toEqual({ ended: undefined, command: "restart_after" });
  });
  it.each<ErrorCode>([
    "AGENT_FAILED",
    "PROVIDER_ERROR",
    "NO_TERMINAL_EVENT",
    "OUT_OF_MEMORY",
    "IDLE_TIMEOUT",
  ])("%s is left to the policy", (code) => {
    expect(end({}, code).command).toBe("restart_after");
  });
  it("asks nobody about a turn that it left open", () => {
    const child = drive(spec({ restart: "transient", on_interrupted: "ask" }));
    child.feed({ type: "begin", incarnation: 1, reason: "test" }, 0);
    const interrupted = { tools: [], session_id: "s" };
    expect(child.feed({ ...failedWith("TOKEN_INVALID"), interrupted }, 1)).toEqual([
      { type: "end", state: "failed" },
    ]);
  });
  it("says of other ends why nothing follows, too", () => {
    expect(end({ restart: "temporary" }, "AGENT_FAILED").ended).toMatchObject({ cause: "policy" });
    expect(end({ max_restarts: 0 }, "AGENT_FAILED").ended).toMatchObject({ cause: "gave_up" });
  });
});

describe("an end that was not the agent's fault", () => {
  const excused = (restart: RestartPolicy) => {
    const child = drive(spec({ restart, max_restarts: 0, backoff_min_ms: 1_000, backoff_max_ms: 1_000 }));
    const died = exitedWith(1);
    child.feed({ type: "begin", incarnation: 1, reason: "test" }, 0);
    const command = child.feed({ ...died, exit: { ...died.exit, cause: "supervisor_died" } }, 1)[0];
    return { child, command };
  };
  it.each(["permanent", "transient"] as const)(
    "restarts a %s child at once, and counts nothing",
    (restart) => {
      const { child, command } = excused(restart);
      expect(command).toEqual({ type: "restart_after", delay_ms: 0 });
      expect(child.child().restarts).toEqual([]);
    },
  );
  it("restarts no temporary child", () => {
    expect(excused("temporary").command).toEqual({ type: "end", state: "failed" });
  });
});

describe("intensity", () => {
  it("gives up on the restart after the last one allowed, and fails that worker alone", () => {
    const child = drive(spec({ max_restarts: 2, restart_period_ms: 1_000 }));
    expect(child.run(1, 0)?.type).toBe("restart_after");
    expect(child.run(1, 1)?.type).toBe("restart_after");
    expect(child.run(1, 2)).toEqual({ type: "end", state: "failed" });
    expect(child.types).toContain("supervisor_escalated");
    expect(child.child().state).toBe("failed");
  });

  it("goes on for ever when the failures are far enough apart", () => {
    const child = drive(spec({ max_restarts: 1, restart_period_ms: 1_000 }));
    for (let turn = 0; turn < 50; turn += 1) expect(child.run(1, turn * 1_001)?.type).toBe("restart_after");
  });

  it("counts a start that failed like any other failure", () => {
    const child = drive(spec({ max_restarts: 1, restart_period_ms: 1_000 }));
    const startFailed = () => {
      child.feed({ type: "begin", incarnation: child.child().incarnation + 1, reason: "test" }, 0);
      return child.feed(
        {
          ...exitedWith(1),
          exit: {
            exit_code: null,
            signal: null,
            signal_inferred: false,
            raw_status: null,
            reason: "start_failed",
          },
        },
        0,
      )[0];
    };
    expect(startFailed()?.type).toBe("restart_after");
    expect(startFailed()).toEqual({ type: "end", state: "failed" });
  });

  it("backs off longer with every failure in the window", () => {
    const child = drive(
      spec({ max_restarts: 9, restart_period_ms: 60_000, backoff_min_ms: 100, backoff_max_ms: 1_000 }),
    );
    const delays = [1, 2, 3, 4, 5].map((now) => (child.run(1, now) as { delay_ms: number }).delay_ms);
    expect(delays).toEqual([100, 200, 400, 800, 1_000]);
  });
});

describe("a kill", () => {
  const kill = { type: "kill", by: "user", reason: "enough", grace_ms: 500, signal: "SIGTERM" } as const;

  it("is a tombstone: even a permanent child stays dead", () => {
    const child = drive(spec());
    child.feed({ type: "begin", incarnation: 1, reason: "test" }, 0);
    expect(child.feed(kill, 1)).toEqual([{ type: "stop", grace_ms: 500, signal: "SIGTERM" }]);
    expect(child.feed(exitedWith(0), 2)).toEqual([{ type: "end", state: "cancelled" }]);
    expect(child.types.at(-2)).toBe("worker_cancelled");
  });

  it("is recorded once; a second one only hurries the machine", () => {
    const child = drive(spec());
    child.feed({ type: "begin", incarnation: 1, reason: "test" }, 0);
    child.feed(kill, 1);
    const before = child.types.length;
    expect(child.feed(kill, 2)).toEqual([{ type: "stop", grace_ms: 500, signal: "SIGTERM" }]);
    expect(child.types.length).toBe(before);
  });

  it("ends a child that is backing off at once, without a second exit", () => {
    const child = drive(spec());
    child.run(1, 0);
    expect(child.feed(kill, 1)).toEqual([{ type: "end", state: "cancelled" }]);
    expect(child.types.filter((type) => type === "worker_exited")).toHaveLength(1);
  });

  it("of a child that has ended does nothing", () => {
    const child = drive(spec({ restart: "temporary" }));
    child.run(0, 0);
    expect(child.feed(kill, 1)).toEqual([]);
  });
});

describe("an input that comes too late", () => {
  const ended = () => {
    const child = drive(spec({ restart: "temporary" }));
    child.run(0, 0);
    return child;
  };

  it("does not begin what has ended: not a start on its way, not a timer, not an exit", () => {
    expect(decide(ended().child(), { type: "begin", incarnation: 2, reason: "restart" }, at(1))).toEqual({
      events: [],
      commands: [],
    });
    expect(decide(ended().child(), exitedWith(0), at(1))).toEqual({ events: [], commands: [] });
  });

  it("passes no limit once the exit is recorded", () => {
    const child = drive(spec());
    child.run(1, 0);
    const limit = { type: "limit", limit: "turns", value: 3, bound: 2, grace_ms: 1 } as const;
    expect(decide(child.child(), limit, at(1))).toEqual({ events: [], commands: [] });
    expect(decide(ended().child(), limit, at(1))).toEqual({ events: [], commands: [] });
  });
});

describe("an adoption", () => {
  const identity = { pid: 7, start_time: "1", boot_id: "b", pid_ns: "n" };
  const spawned = { pid: 7, pgid: 7, agent: identity, launcher: identity, argv: ["agent"] };

  it("is one record where the start is on record already", () => {
    const child = drive(spec());
    child.feed({ type: "begin", incarnation: 1, reason: "test" }, 0);
    child.feed({ type: "launched", spawned }, 1);
    const before = child.types.length;
    child.feed({ type: "adopted", spawned }, 2);
    expect(child.types.slice(before)).toEqual(["worker_adopted"]);
  });

  it("records the start that the last daemon did not live to record", () => {
    const child = drive(spec());
    child.feed({ type: "begin", incarnation: 1, reason: "test" }, 0);
    child.feed({ type: "adopted", spawned }, 1);
    expect(child.types.slice(1)).toEqual([
      "worker_adopted",
      "worker_spawned",
      "worker_started",
      "worker_state_changed",
    ]);
    expect(child.child()).toMatchObject({ state: "running", spawned: true });
  });

  it("of what is being stopped does not make it running", () => {
    const child = drive(spec());
    child.feed({ type: "begin", incarnation: 1, reason: "test" }, 0);
    child.feed({ type: "kill", by: "user", reason: "x", grace_ms: 0, signal: "SIGTERM" }, 1);
    child.feed({ type: "adopted", spawned }, 2);
    expect(child.child().state).toBe("stopping");
  });
});

describe("a worker that Holdfast itself failed at", () => {
  const error = { code: "INTERNAL", message: "ours" } as const;
  const abandoned = { type: "abandoned", error, exit: exitedWith(1).exit, duration_ms: 5 } as const;

  it("has failed for good, whatever its policy", () => {
    const child = drive(spec());
    child.feed({ type: "begin", incarnation: 1, reason: "test" }, 0);
    expect(child.feed(abandoned, 1)).toEqual([]);
    expect(child.types.slice(1)).toEqual(["worker_exited", "worker_failed", "worker_ended"]);
    expect(child.child()).toMatchObject({ state: "failed", open: false });
  });

  it("and that was being killed is cancelled", () => {
    const child = drive(spec());
    child.feed({ type: "begin", incarnation: 1, reason: "test" }, 0);
    child.feed({ type: "kill", by: "user", reason: "x", grace_ms: 0, signal: "SIGTERM" }, 1);
    child.feed(abandoned, 2);
    expect(child.types.slice(-2)).toEqual(["worker_cancelled", "worker_ended"]);
    expect(child.child().state).toBe("cancelled");
  });

  it("between two incarnations has no exit to record", () => {
    const child = drive(spec());
    child.run(1, 0);
    const before = child.types.length;
    child.feed(abandoned, 1);
    expect(child.types.slice(before)).toEqual(["worker_ended"]);
  });
});

describe("a restart by name", () => {
  it("overrules a limit, and never a kill", () => {
    const stopping = (input: Parameters<ReturnType<typeof drive>["feed"]>[0]) => {
      const child = drive(spec({ restart: "temporary" }));
      child.feed({ type: "begin", incarnation: 1, reason: "test" }, 0);
      child.feed(input, 1);
      child.feed({ type: "restart", by: "user", grace_ms: 0 }, 2);
      return child.feed(exitedWith(0), 3)[0];
    };
    expect(stopping({ type: "limit", limit: "timeout", value: 1, bound: 1, grace_ms: 0 })).toEqual({
      type: "restart_after",
      delay_ms: 0,
    });
    expect(stopping({ type: "kill", by: "user", reason: "x", grace_ms: 0, signal: "SIGTERM" })).toEqual({
      type: "end",
      state: "cancelled",
    });
  });

  it("lifts the tombstone and counts in no window", () => {
    const child = drive(spec({ max_restarts: 1 }));
    child.feed({ type: "begin", incarnation: 1, reason: "test" }, 0);
    child.feed({ type: "kill", by: "user", reason: "x", grace_ms: 0, signal: "SIGTERM" }, 1);
    child.feed(exitedWith(0), 2);
    expect(child.feed({ type: "restart", by: "user", grace_ms: 0 }, 3)).toEqual([{ type: "start" }]);
    expect(child.child()).toMatchObject({ stop: null, restarts: [] });
    expect(child.run(1, 4)?.type).toBe("restart_after");
  });

  it("of a running child stops this incarnation as cancelled and starts the next without delay", () => {
    const child = drive(spec({ restart: "temporary" }));
    child.feed({ type: "begin", incarnation: 1, reason: "test" }, 0);
    child.feed({ type: "restart", by: "user", grace_ms: 10 }, 1);
    expect(child.feed(exitedWith(0), 2)).toEqual([{ type: "restart_after", delay_ms: 0 }]);
    expect(child.types).toContain("worker_cancelled");
  });
});

describe("limits", () => {
  const limited = (limit: "timeout" | "stall", restart: RestartPolicy) => {
    const child = drive(spec({ restart }));
    child.feed({ type: "begin", incarnation: 1, reason: "test" }, 0);
    child.feed({ type: "limit", limit, value: 9, bound: 5_000, grace_ms: 1 }, 1);
    return { command: child.feed(exitedWith(0), 2)[0], types: child.types };
  };

  it("a worker that ran out of time has failed for good, whatever its policy", () => {
    expect(limited("timeout", "permanent").command).toEqual({ type: "end", state: "failed" });
  });

  it("a stuck worker has failed, even when it exits with 0 on the way down, and its policy decides", () => {
    expect(limited("stall", "transient").command?.type).toBe("restart_after");
    expect(limited("stall", "transient").types).toContain("worker_failed");
    expect(limited("stall", "temporary").command).toEqual({ type: "end", state: "failed" });
  });

  it("says in one sentence what was passed", () => {
    const child = { ...newChild("W", spec()), open: true, incarnation: 1 };
    const decision = decide(
      child,
      { type: "limit", limit: "timeout", value: 1, bound: 90_000, grace_ms: 1 },
      at(0),
    );
    expect(decision.events[1]).toMatchObject({
      payload: { reason: expect.stringMatching(/^It ran longer than 1m ?30s$/) },
    });
  });
});

it("a missing secret parks the worker, whatever its policy", () => {
  const child = drive(spec());
  child.feed({ type: "begin", incarnation: 1, reason: "test" }, 0);
  const error = { code: "SECRET_UNAVAILABLE", message: "no key" } as const;
  const outcome = { status: "failed", completion: { status: { code: null, signal: null } }, error } as const;
  expect(child.feed({ ...exitedWith(1), outcome, error }, 1)).toEqual([{ type: "end", state: "parked" }]);
});
