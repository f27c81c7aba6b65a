/** Whose usage is told: of workers, of all that their agents spawned, and of supervisors; and what `info` adds up. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { describe, expect } from "vitest";
import { claudeCode } from "../../../src/adapters/kinds/claude-code/index.ts";
import { command } from "../../../src/adapters/kinds/command/index.ts";
import type { MemoryRun } from "../../../src/library/memory-spawner.ts";
import { TreeSpec } from "../../../src/protocol/tree.ts";
import type { WorkerSpecInput } from "../../../src/protocol/worker.ts";
import { memoryMachine, nth, settled, spec } from "../memory-runtime.ts";

const world = Effect.gen(function* () {
  const machine = yield* memoryMachine;
  const adapterFor = (kind: string) => (kind === "claude_code" ? claudeCode : command);
  return { ...machine, ...(yield* machine.boot({ adapterFor: adapterFor as never })) };
});

const agent = (over: Partial<WorkerSpecInput> = {}) =>
  spec({ kind: "claude_code", argv: [], interactive: true, ...over });

const line = (event: object) => `${JSON.stringify({ session_id: "s", ...event })}\n`;
const turn = (run: MemoryRun, usd: number) => {
  run.print("stdout", line({ type: "system", subtype: "init", model: "opus" }));
  const call = { type: "tool_use", id: `t${usd}`, name: "Read" };
  run.print("stdout", line({ type: "assistant", message: { id: "m", content: [call] } }));
  const models = { opus: { inputTokens: 10, outputTokens: 1, costUSD: usd } };
  run.print(
    "stdout",
    line({
      type: "result",
      subtype: "success",
      is_error: false,
      num_turns: 1,
      result: "x",
      duration_ms: 250,
      model_usage_since_last_result: models,
    }),
  );
};

const asked = { by: "worker", subtree: false } as const;

describe("usage", () => {
  it.effect("by a worker is its own, and with its subtree that of all below it, ended ones too", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* world;
      const { id: top } = yield* runtime.spawn(agent({ name: "top" }));
      const { id: mid } = yield* runtime.spawn(agent({ parent: top }));
      const { id: low } = yield* runtime.spawn(agent({ parent: mid }));
      yield* runtime.spawn(agent({ name: "other" }));
      yield* nth(memory, 4);
      yield* settled;
      for (const [at, run] of memory.runs.entries()) turn(run, at + 1);
      yield* settled;
      yield* runtime.kill({ ids: [low] });

      const own = yield* runtime.usage({ ...asked, ids: ["top"] });
      expect(own).toMatchObject({ by: "worker", since: null, rows: [{ key: top, name: "top" }] });
      expect(own.total).toMatchObject({ turns: 1, tool_calls: 1, cost_usd: 1, duration_ms: 250 });
      const below = yield* runtime.usage({ ...asked, ids: ["top"], subtree: true });
      expect(below.rows.map(({ key }) => key)).toEqual([low, mid, top]);
      expect(below.total).toMatchObject({ workers: 3, turns: 3, cost_usd: 6, input_tokens: 30 });
      expect((yield* runtime.usage({ ...asked, ids: ["top", top, "other"] })).total.cost_usd).toBe(5);
      expect((yield* runtime.usage({ ...asked, ids: [] })).total.cost_usd).toBe(10);
      // All that there is stands below the root.
      expect((yield* runtime.usage({ ...asked, ids: ["root"] })).total.cost_usd).toBe(10);
      expect((yield* runtime.usage({ ...asked, ids: ["other", "root"] })).total.cost_usd).toBe(10);
      const missing = yield* Effect.flip(runtime.usage({ ...asked, ids: ["nobody"] }));
      expect(missing.code).toBe("WORKER_NOT_FOUND");

      expect(yield* runtime.info(top)).toMatchObject({
        tool_calls: 1,
        turn_ms: 250,
        unpriced_turns: 0,
        subtree: { workers: 3, turns: 3, tool_calls: 3, turn_ms: 750, usage: { cost_usd: 6 } },
        turn_list: [{ tool_calls: 1, duration_ms: 250, models: [{ model: "opus", cost_usd: 1 }] }],
      });
      expect(yield* runtime.info("other")).not.toHaveProperty("subtree");
    }),
  );

  it.effect("below a supervisor is that of all its workers, and of those that their agents spawned", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* world;
      const tree = TreeSpec.parse({
        name: "crew",
        file: "/crew/holdfast.yaml",
        root: {
          type: "supervisor",
          name: "crew",
          config: {},
          children: ["a", "b"].map((name) => ({ type: "worker", name, spec: agent() })),
        },
      });
      yield* runtime.applyTree(tree);
      yield* nth(memory, 2);
      yield* settled;
      const [a] = yield* runtime.list();
      yield* runtime.spawn(agent({ parent: a?.id as string }));
      yield* runtime.spawn(agent());
      yield* nth(memory, 4);
      yield* settled;
      for (const [at, run] of memory.runs.entries()) turn(run, at + 1);
      yield* settled;
      const { total } = yield* runtime.usage({ ...asked, ids: ["crew"] });
      expect(total).toMatchObject({ workers: 3, turns: 3, cost_usd: 6 });
    }),
  );
});
