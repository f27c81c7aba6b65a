import { expect, it } from "vitest";
import { CLUSTER_BROUGHT_RECORDS_MAX } from "../../../src/base/limits.ts";
import { broughtBy } from "../../../src/daemon/cluster/brought.ts";

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString();
const record = (type: string, second: number, payload: object = {}): string =>
  JSON.stringify({ type, recorded_at: at(second), payload });
const restart = (second: number, cause = "ended"): string =>
  record("worker_restart_scheduled", second, { cause, reason: "it failed", restarts_in_window: 1 });
const spawn = (second: number, brought?: object): string =>
  record("worker_spawn_requested", second, { spec: { placed: { brought } } });
const newest = record("agent.event", 100);

it("its counted restarts and its newest session are brought, by the clock of its last node", () => {
  const records = [
    restart(90),
    restart(80, "rate_limited"),
    record("session_started", 70, { session_id: "s2" }),
  ];
  const earlier = [restart(50), record("session_started", 40, { session_id: "s1" }), spawn(30)];
  expect(broughtBy({ newest, turn: [], records: [...records, ...earlier] })).toEqual({
    session_id: "s2",
    restarts_ago_ms: [10_000, 50_000],
  });
});

it("it passes on what it had brought there", () => {
  const brought = { session_id: "s0", restarts_ago_ms: [5_000] };
  expect(broughtBy({ newest, turn: [], records: [restart(90), spawn(30, brought)] })).toEqual({
    session_id: "s0",
    restarts_ago_ms: [10_000, 75_000],
  });
});

it("a session that was given up and restarts before a start by name are not brought", () => {
  const brought = { session_id: "s0", restarts_ago_ms: [5_000] };
  const gone = [record("session_abandoned", 95), restart(90, "user"), restart(80), spawn(30, brought)];
  expect(broughtBy({ newest, turn: [], records: gone })).toEqual({ restarts_ago_ms: [] });
  const anew = [record("session_started", 97, { session_id: "s1" }), ...gone];
  expect(broughtBy({ newest, turn: [], records: anew })).toEqual({ session_id: "s1", restarts_ago_ms: [] });
});

it("nothing is brought where nothing was copied, and no age is negative after a clock was set back", () => {
  expect(broughtBy({ newest: null, turn: [], records: [] })).toEqual({ restarts_ago_ms: [] });
  expect(broughtBy({ newest, turn: [], records: [restart(200)] })).toEqual({ restarts_ago_ms: [0] });
});

const tool = (kind: string, id: string, name: string, unended?: boolean): string =>
  record("agent.event", 90, { kind, data: { tool: { tool_use_id: id, tool_name: name }, unended } });
const toolsOf = (...turn: readonly string[]) =>
  broughtBy({ newest, turn: turn.toReversed(), records: [] }).interrupted?.tools;
const STARTING = record("worker_state_changed", 30, { to: "starting" });
const TURN = record("turn_started", 40);
const QUESTION = record("worker_question", 95, { about: "interrupted", tools: ["Bash"] });

it("a turn that was open is brought with its open calls, also of an agent that was ended in it", () => {
  const calls = [
    tool("ToolCall", "1", "Read"),
    tool("ToolResult", "1", "Read"),
    tool("ToolCall", "2", "Bash"),
  ];
  expect(toolsOf(STARTING, TURN, ...calls)).toEqual(["Bash"]);
  const stopping = record("worker_state_changed", 91, { to: "stopping" });
  const end = [tool("ToolResult", "2", "Bash", true), record("worker_exited", 92)];
  expect(toolsOf(STARTING, TURN, ...calls, stopping, ...end)).toEqual(["Bash"]);
  expect(toolsOf(STARTING, TURN)).toEqual([]);
  expect(toolsOf(tool("ToolCall", "9", "Bash"), TURN)).toEqual([]);
  // The search did not come to the beginning of the turn.
  expect(toolsOf(...calls)).toEqual(["Bash"]);
});

it("a turn is open where its records hide its beginning, since an agent uses tools within turns alone", () => {
  const calls = Array.from({ length: 600 }, (_, at) => [
    tool("ToolCall", `${at}`, "Read"),
    tool("ToolResult", `${at}`, "Read"),
  ]);
  const newestOf = [STARTING, TURN, ...calls.flat()].slice(-CLUSTER_BROUGHT_RECORDS_MAX);
  expect(toolsOf(...newestOf)).toEqual([]);
  expect(toolsOf(...newestOf, tool("ToolCall", "600", "Bash"))).toEqual(["Bash"]);
  // Those of days that are dropped have no turns.
  expect(toolsOf(spawn(10), restart(20), ...newestOf.slice(-2))).toEqual([]);
  expect(toolsOf(spawn(10), ...newestOf.slice(-2))).toEqual([]);
  expect(toolsOf(...newestOf, record("turn_completed", 95))).toBeUndefined();
  expect(toolsOf()).toBeUndefined();
});

it("a turn that had ended, or about which its node had decided, is not brought; a question without an answer is", () => {
  const call = tool("ToolCall", "2", "Bash");
  expect(toolsOf(STARTING, TURN, call, record("turn_completed", 50))).toBeUndefined();
  expect(toolsOf(STARTING, TURN, call, restart(60))).toBeUndefined();
  expect(toolsOf(TURN, call, restart(60), STARTING)).toBeUndefined();
  expect(toolsOf(TURN, call, QUESTION, record("worker_state_changed", 96, { to: "waiting" }))).toEqual([
    "Bash",
  ]);
  expect(toolsOf(TURN, QUESTION, record("worker_answered", 97), restart(98, "answered"))).toBeUndefined();
  expect(toolsOf(spawn(30, { interrupted: { tools: ["Bash"] } }))).toEqual(["Bash"]);
  expect(toolsOf(spawn(30, { interrupted: { tools: ["Bash"] } }), STARTING)).toBeUndefined();
});
