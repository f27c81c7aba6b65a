/** The memory that a supervisor keeps of those that ran below it once. */
import { expect, it } from "vitest";
import { Meters } from "../../../src/runtime/limits/meters.ts";
import type { WorkerRow } from "../../../src/store/views.ts";
import { clock, draft, newLog, requested, V, W } from "../../store/sqlite/support.ts";

const ofTurn = (usd: number | null) => ({
  turn: 1,
  usage: { input_tokens: 1, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, cost_usd: usd },
  duration_ms: 1,
});
const starting = { from: "pending", to: "starting", reason: "r", clock } as const;
const ended = { state: "completed", reason: "over" } as const;

it("a worker that has ended is in the sum alone; one that runs, or waits for a restart, is kept; none is counted twice", () => {
  const log = newLog();
  for (const worker of [W, V])
    log.append([
      requested(worker),
      draft("worker_state_changed", starting, { worker }),
      draft("turn_completed", ofTurn(worker === W ? 3 : null), { worker }),
    ]);
  const meters = new Meters(log, log, [W, V]);
  const live = new Set([V]);
  const letGo = () => meters.letGo((id) => live.has(id));
  letGo();
  expect(meters.ids()).toEqual([W, V]); // a daemon that boots has not taken it over yet
  log.append([draft("worker_ended", ended)]);
  letGo();
  expect(meters.ids()).toEqual([V]);
  expect(meters.sum).toMatchObject({ usd: 3, turns: 2, tokens: 2 });
  expect(meters.isUnpriced()).toBe(true);

  // Started again by name: it is looked at before its next incarnation begins, and after each increment.
  const look = () => meters.counted(log.worker(W) as WorkerRow);
  live.add(W);
  look();
  expect(meters.sum).toMatchObject({ usd: 3, turns: 2 });
  log.append([
    draft("worker_state_changed", { ...starting, from: "completed" }, { incarnation: 2 }),
    draft("turn_completed", ofTurn(2), { incarnation: 2 }),
  ]);
  look();
  letGo();
  expect(meters.sum).toMatchObject({ usd: 5, turns: 3 });
  expect(new Meters(log, log, [W, V]).sum).toEqual(meters.sum);
  expect([...meters.ids()].sort()).toEqual([W, V].sort());
});
