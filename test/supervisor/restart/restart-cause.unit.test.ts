/** Counts in a restart window: the cause of a restart says it, never a sentence meant for people. */
import { describe, expect, it } from "vitest";
import {
  isUncounted,
  RESTART_BY_USER,
  type RestartCause,
  restartCause,
} from "../../../src/protocol/restart-cause.ts";
import { drive, exitedWith, spec } from "../child/children.ts";
import { supervisor, World, worker } from "../tree/world.ts";

const UNCOUNTED = [
  "user",
  "never_started",
  "supervisor_died",
  "machine_restarted",
  "rate_limited",
  "session_lost",
  "answered",
  "woken",
];
const error = (message: string) => ({ code: "AGENT_FAILED" as const, message });

describe("an agent that fails with a message that is the name of a cause", () => {
  it.each(UNCOUNTED)("is given up after max_restarts: %s", (message) => {
    const child = drive(spec({ max_restarts: 2, restart_period_ms: 60_000 }));
    const failed = exitedWith(1);
    const outcome = { ...failed.outcome, error: error(message) } as typeof failed.outcome;
    for (let n = 0; n < 3; n++) child.run({ ...failed, outcome }, n);
    expect(child.child().state).toBe("failed");
    expect(child.types.filter((type) => type === "worker_restart_scheduled")).toHaveLength(2);
  });
});

describe("the cause of a restart in an early log, which has no field for it", () => {
  const early = (reason: string, restarts_in_window: number) => restartCause({ reason, restarts_in_window });
  it.each<[string, number, RestartCause]>([
    ["user", 0, "user"],
    ["rate_limited", 0, "rate_limited"],
    ["the agent failed", 1, "ended"],
    ["user", 1, "ended"],
    ["started by its supervisor", 0, "supervisor"],
  ])("%s, as number %i of its window: %s", (reason, count, cause) => {
    expect(early(reason, count)).toBe(cause);
  });
  it("is the field where there is one", () => {
    expect(restartCause({ cause: "ended", reason: "user", restarts_in_window: 0 })).toBe("ended");
    expect(UNCOUNTED.every((cause) => isUncounted(cause as RestartCause))).toBe(true);
  });
});

describe("a restart by name", () => {
  it("gives a worker a fresh window", () => {
    const child = drive(spec({ max_restarts: 2, restart_period_ms: 60_000 }));
    const scheduled = () => child.types.filter((type) => type === "worker_restart_scheduled").length;
    for (let n = 0; n < 3; n++) child.run(1, n);
    expect([child.child().state, scheduled()]).toEqual(["failed", 2]);
    child.feed({ type: "restart", by: "user", grace_ms: 0 }, 10);
    expect(child.child().restarts).toEqual([]);
    for (let n = 11; n < 13; n++) child.run(1, n);
    expect([child.child().state, child.child().restarts]).toEqual(["backing_off", [11, 12]]);
    child.run(1, 13);
    expect(child.child().state).toBe("failed");
  });

  it("makes the supervisor of a file forget what it has counted of that child, and of no other", () => {
    const world = new World(
      supervisor("top", { max_restarts: 3, period_ms: 60_000 }, worker("web"), worker("db")),
    ).apply();
    world.exit("web").exit("web").exit("db");
    const counted = () => world.tree.supervisors.get("top")?.restarts.map(({ child }) => child);
    expect(counted()).toEqual(["web", "web", "db"]);
    world.worker("web", { type: "restart", by: RESTART_BY_USER, grace_ms: 0 });
    expect(counted()).toEqual(["db"]);
    world.exit("web").exit("web");
    expect([world.phase("top"), world.running()]).toEqual(["running", ["db", "web"]]);
    expect(world.crash().tree.supervisors.get("top")?.restarts).toHaveLength(3);
  });
});
