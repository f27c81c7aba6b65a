/** A placed worker whose cluster does not answer for a while: nothing is ended for a portion that nobody can grant. */
import { expect, it } from "@effect/vitest";
import { Effect } from "effect";
import type { Budgets } from "../../../src/actors/ports.ts";
import { claudeCode } from "../../../src/adapters/kinds/claude-code/index.ts";
import { CLUSTER_BUDGET_AGAIN_MS } from "../../../src/base/limits.ts";
import { elapse, memoryMachine, nth, settled, spec } from "../memory-runtime.ts";

const RIGHT = { node: "a", worker: "w", term: 1, on_partition: "continue" } as const;
const BUDGET_USD = 16;
/** The clock of `elapse` is one of seconds. */
const AGAIN_S = CLUSTER_BUDGET_AGAIN_MS / 1_000;
/** The cluster is asked again meanwhile. */
const WHILE_S = 3;
const LATER_S = 2 * AGAIN_S;

const makeCluster = () => {
  const at = { isAway: false, granted: 0 };
  const budgets: Budgets = {
    take: async ({ wished }) => {
      if (at.isAway) throw new Error("away");
      at.granted = Math.min(BUDGET_USD, Math.max(at.granted, wished.usd ?? 0));
      return { limits: { usd: BUDGET_USD }, granted: { usd: at.granted }, elsewhere: { usd: 0 } };
    },
    raise: async () => {},
    settle: async () => {},
    stop: async () => {},
  };
  return { at, budgets, leases: { holds: () => true } };
};

const result = (costUSD: number): string =>
  `${JSON.stringify({
    type: "result",
    subtype: "success",
    is_error: false,
    result: "done",
    session_id: "s",
    model_usage_since_last_result: { m: { inputTokens: 1, outputTokens: 0, costUSD } },
  })}\n`;

it.effect(
  "on_breach: stop waits while the cluster is silent, goes on after it, and ends once the whole is spent",
  () =>
    Effect.gen(function* () {
      const { at, budgets, leases } = makeCluster();
      const machine = yield* memoryMachine;
      const { runtime } = yield* machine.boot({ adapterFor: () => claudeCode, budgets, leases });
      const of = {
        kind: "claude_code",
        argv: [],
        interactive: true,
        restart: "permanent",
        on_breach: "stop",
      };
      const asked = spec({ name: "w", ...of, budget: { usd: BUDGET_USD } } as never);
      const { id } = yield* runtime.spawn(asked, { placed: RIGHT } as never);
      const run = yield* nth(machine.memory, 1);
      const spend = (usd: number, wait_s: number) =>
        Effect.gen(function* () {
          run.print("stdout", result(usd));
          yield* settled;
          yield* elapse(wait_s);
          yield* settled;
        });
      const types = () => machine.log.stream(id).map(({ type }) => type);

      yield* settled;
      yield* elapse(WHILE_S);
      at.isAway = true;
      yield* spend(2.5, WHILE_S);
      expect(yield* runtime.info(id)).toMatchObject({ state: "running", paused: [{ reason: "budget" }] });
      expect(types()).toContain("worker_question");
      expect(types()).not.toContain("worker_limit_reached");

      at.isAway = false;
      yield* elapse(LATER_S);
      yield* settled;
      expect((yield* runtime.info(id)).paused ?? []).toEqual([]);
      expect(types()).toContain("worker_question_withdrawn");

      yield* spend(BUDGET_USD, LATER_S);
      expect(types()).toContain("worker_limit_reached");
    }),
);

it.effect("a worker that is found ended at a start gives its rest back, once the cluster can be asked", () =>
  Effect.gen(function* () {
    const { budgets, leases } = makeCluster();
    const settled_usd: (number | undefined)[] = [];
    const at = { isAway: true };
    const settle: Budgets["settle"] = async ({ spent }) => {
      if (at.isAway) throw new Error("away");
      settled_usd.push(spent.usd);
    };
    const services = { adapterFor: () => claudeCode, budgets: { ...budgets, settle }, leases };
    const machine = yield* memoryMachine;
    const first = yield* machine.boot(services);
    const of = { kind: "claude_code", argv: [], prompt: "Go.", restart: "temporary" };
    const { id } = yield* first.runtime.spawn(
      spec({ name: "w", ...of, budget: { usd: BUDGET_USD } } as never),
      {
        placed: RIGHT,
      } as never,
    );
    const run = yield* nth(machine.memory, 1);
    run.print("stdout", result(2.5));
    yield* settled;
    yield* elapse(AGAIN_S);
    yield* first.crash;
    run.exit(0);

    const second = yield* machine.boot(services);
    yield* second.runtime.wait([id]);
    yield* elapse(2 * AGAIN_S);
    yield* settled;
    expect(settled_usd).toEqual([]);
    at.isAway = false;
    yield* elapse(2 * AGAIN_S);
    yield* settled;
    expect(settled_usd).toEqual([2.5]);
    yield* elapse(2 * AGAIN_S);
    yield* settled;
    expect(settled_usd).toEqual([2.5]);
  }),
);
