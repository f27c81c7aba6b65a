import { expect, it } from "vitest";
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
  expect(broughtBy({ newest, records: [...records, ...earlier] })).toEqual({
    session_id: "s2",
    restarts_ago_ms: [10_000, 50_000],
  });
});

it("it passes on what it had brought there", () => {
  const brought = { session_id: "s0", restarts_ago_ms: [5_000] };
  expect(broughtBy({ newest, records: [restart(90), spawn(30, brought)] })).toEqual({
    session_id: "s0",
    restarts_ago_ms: [10_000, 75_000],
  });
});

it("a session that was given up and restarts before a start by name are not brought", () => {
  const brought = { session_id: "s0", restarts_ago_ms: [5_000] };
  const gone = [record("session_abandoned", 95), restart(90, "user"), restart(80), spawn(30, brought)];
  expect(broughtBy({ newest, records: gone })).toEqual({ restarts_ago_ms: [] });
  const anew = [record("session_started", 97, { session_id: "s1" }), ...gone];
  expect(broughtBy({ newest, records: anew })).toEqual({ session_id: "s1", restarts_ago_ms: [] });
});

it("nothing is brought where nothing was copied, and no age is negative after a clock was set back", () => {
  expect(broughtBy({ newest: null, records: [] })).toEqual({ restarts_ago_ms: [] });
  expect(broughtBy({ newest, records: [restart(200)] })).toEqual({ restarts_ago_ms: [0] });
});
