/** Budgets over a real log: summed over a subtree, everybody paused and somebody asked once one is spent, over the death of daemons too. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { describe, expect } from "vitest";
import { claudeCode } from "../../../src/adapters/kinds/claude-code/index.ts";
import { command } from "../../../src/adapters/kinds/command/index.ts";
import type { MemoryRun } from "../../../src/library/memory-spawner.ts";
import type { LogRecord } from "../../../src/protocol/records.ts";
import type { TreeSpecInput } from "../../../src/protocol/tree.ts";
import { TreeSpec } from "../../../src/protocol/tree.ts";
import type { WorkerSpecInput } from "../../../src/protocol/worker.ts";
import { figure, full } from "../../support/figures.ts";
import { elapse, memoryMachine, nth, settled, spec, until } from "../memory-runtime.ts";

const adapterFor = (kind: string) => (kind === "claude_code" ? claudeCode : command);

const world = Effect.gen(function* () {
  const machine = yield* memoryMachine;
  const daemon = yield* machine.boot({ adapterFor });
  return { ...machine, ...daemon, boot: () => machine.boot({ adapterFor }) };
});

/** A conversation that goes on: nobody takes its turn for its last one. */
const agent = (over: Partial<WorkerSpecInput> = {}) =>
  spec({ kind: "claude_code", argv: [], interactive: true, backoff_max_ms: 0, ...over });

const questionIn = (record: LogRecord | undefined): string => {
  if (record?.type !== "worker_question") throw new Error("nothing was asked");
  return record.payload.question_id;
};

/** One turn of it, as the CLI tells it. */
const turn = (run: MemoryRun, usd: number | null, tokens = 0) => {
  const result = {
    type: "result",
    subtype: "success",
    is_error: false,
    result: "done",
    session_id: `session of ${run.request.worker_id}`,
    ...(usd === null
      ? { usage: { input_tokens: tokens, output_tokens: 0 } }
      : { model_usage_since_last_result: { m: { inputTokens: tokens, outputTokens: 0, costUSD: usd } } }),
  };
  run.print("stdout", `${JSON.stringify(result)}\n`);
};

const tree = (budget: object, children: readonly string[], on_breach: "ask" | "stop" = "ask"): TreeSpec =>
  TreeSpec.parse({
    name: "crew",
    file: "/crew/holdfast.yaml",
    root: {
      type: "supervisor",
      name: "crew",
      config: { budget, on_breach },
      children: children.map((name) => ({ type: "worker", name, spec: agent() })),
    },
  } satisfies TreeSpecInput);

describe("the budget of a worker", () => {
  it.effect("whose agents have all ended is as it was for who asks later, and for a restart by name", () =>
    Effect.gen(function* () {
      const { runtime, memory, count } = yield* world;
      const { id } = yield* runtime.spawn(agent({ budget: { usd: 5 } }));
      turn(yield* nth(memory, 1), 3);
      yield* settled;
      yield* runtime.kill({ ids: [id] });
      const [spent] = (yield* runtime.info(id)).budgets;
      expect(spent).toMatchObject({ state: "open", spent: { usd: 3, turns: 1 } });
      yield* elapse(3);
      expect((yield* runtime.info(id)).budgets).toEqual([spent]);
      yield* elapse(3);
      yield* runtime.restart([id]);
      turn(yield* nth(memory, 2), 3);
      yield* until("it asks", () => count(id, "worker_question") === 1);
      expect((yield* runtime.info(id)).budgets).toMatchObject([
        { state: "asked", spent: { usd: 6, turns: 2 } },
      ]);
    }),
  );

  it.effect("goes on with the bounds of its answer, if they allow more", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* world;
      const { id } = yield* runtime.spawn(agent({ budget: { usd: 5 } }));
      const run = yield* nth(memory, 1);
      turn(run, 6);
      yield* settled;
      const refused = (answer: "continue" | "stop", budget: object) =>
        Effect.map(Effect.flip(runtime.answer(id, answer, { budget })), ({ code, message }) => [
          code,
          message,
        ]);
      expect(yield* refused("stop", { usd: 9 })).toEqual([
        "INVALID_REQUEST",
        "A budget is given with continue, to a budget that is spent.",
      ]);
      expect(yield* refused("continue", { tokens: 9 })).toEqual([
        "INVALID_REQUEST",
        `The budget of ${id} has no bound for tokens.`,
      ]);
      expect(yield* refused("continue", { usd: 5.5 })).toEqual([
        "INVALID_REQUEST",
        "It would still wait: its budget is spent: 5.5 dollars.",
      ]);
      yield* runtime.answer(id, "continue", { budget: { usd: 8.5 } });
      const budgets = Effect.map(runtime.info(id), (info) => info.budgets);
      expect(yield* budgets).toMatchObject([{ state: "open", bounds: { usd: 8.5 } }]);
      turn(run, 3);
      yield* settled;
      expect(yield* budgets).toMatchObject([{ state: "asked", spent: { usd: 9 }, bounds: { usd: 8.5 } }]);
    }),
  );

  it.effect(
    "counts what its agent spawned and theirs; spent, all of them are paused, and one question is asked",
    () =>
      Effect.gen(function* () {
        const { runtime, memory, log } = yield* world;
        const { id: top } = yield* runtime.spawn(agent({ name: "top", budget: { usd: 5 } }));
        const { id: mid } = yield* runtime.spawn(agent({ parent: top }));
        const { id: low } = yield* runtime.spawn(agent({ parent: mid }));
        const { id: other } = yield* runtime.spawn(agent());
        yield* nth(memory, 4);
        yield* settled;
        const [a, b, c, d] = memory.runs as [MemoryRun, MemoryRun, MemoryRun, MemoryRun];
        turn(a, 2);
        turn(b, 2);
        turn(c, 1);
        turn(d, 100);
        yield* settled;
        // All of it is spent, and nothing is passed.
        expect(memory.runs.map(({ process }) => process)).toEqual(Array(4).fill("running"));
        turn(c, 0.5);
        yield* settled;
        expect(memory.runs.map(({ process }) => process)).toEqual([
          "stopped",
          "stopped",
          "stopped",
          "running",
        ]);
        const [asked, ...more] = log.stream(top, ["worker_question"]);
        expect(more).toEqual([]);
        expect(asked?.payload).toMatchObject({
          about: "budget",
          owner: top,
          limit: "usd",
          value: 5.5,
          bound: 5,
        });
        const question_id = questionIn(asked);
        expect(yield* runtime.info(low)).toMatchObject({
          state: "running",
          reason: `paused: the budget of ${top} is spent: 5 dollars`,
          question: { question_id, about: "budget" },
          paused: [{ reason: "budget", question_id }],
          budgets: [{ owner: top, state: "asked", spent: { usd: 5.5, turns: 4 }, bounds: { usd: 5 } }],
        });
        expect((yield* runtime.info(other)).budgets).toEqual([]);
        expect((yield* runtime.why(top)).records.at(-2)).toMatchObject({ type: "worker_question" });
        // Nobody grants itself more, by its own name or by that of one below it.
        for (const [worker_id, named] of [
          [top, top],
          [top, low],
          [low, top],
          [low, low],
        ] as const) {
          const caller = { type: "worker", worker_id, incarnation: 1 } as const;
          const refused = yield* Effect.flip(runtime.answer(named, "continue", { caller }));
          expect(refused).toMatchObject({
            code: "POLICY_VIOLATION",
            info: { details: { by: `worker:${worker_id}` } },
          });
        }
        // Any of those that stand still can be named.
        expect(yield* runtime.answer(low, "continue", { question_id })).toMatchObject({ question_id });
        yield* settled;
        expect(memory.runs.map(({ process }) => process)).toEqual(Array(4).fill("running"));
        expect((yield* runtime.info(top)).budgets).toMatchObject([{ state: "open", bounds: { usd: 10 } }]);
        turn(b, 4.5);
        yield* settled;
        expect(a.process).toBe("running");
        turn(b, 0.1);
        yield* settled;
        expect([a.process, b.process, c.process]).toEqual(Array(3).fill("stopped"));
        expect(log.stream(top, ["worker_question"]).length).toBe(2);
        const late = yield* Effect.flip(runtime.answer(top, "continue", { question_id }));
        expect(late.code).toBe("INVALID_STATE");
        expect(yield* Effect.flip(runtime.answer(other, "continue"))).toMatchObject({
          code: "INVALID_STATE",
          message: `Worker ${other} asks nothing.`,
        });
        expect(yield* Effect.flip(runtime.answer(top, "wait"))).toMatchObject({
          code: "INVALID_STATE",
          message: `Worker ${top} asks something else: whether it may spend more.`,
          suggestion: expect.stringMatching(/^Answer it with: agent answer \S+ continue\|stop$/),
        });
      }),
  );

  it.effect(
    "answered with stop ends all of them with the limit, and none is started again until there is more",
    () =>
      Effect.gen(function* () {
        const { runtime, memory } = yield* world;
        const { id: top } = yield* runtime.spawn(agent({ budget: { turns: 1 } }));
        const { id: below } = yield* runtime.spawn(agent({ parent: top }));
        yield* nth(memory, 2);
        yield* settled;
        for (const run of memory.runs) turn(run, 0);
        yield* settled;
        yield* runtime.answer(top, "stop");
        expect(yield* runtime.wait([top, below])).toMatchObject([
          { status: "failed", error: { code: "MAX_TURNS" } },
          {
            status: "failed",
            error: { code: "BUDGET_EXCEEDED", message: `the budget of ${top} is spent: 1 turn` },
          },
        ]);
        expect(yield* runtime.restart([below])).toMatchObject([
          { ok: false, error: { code: "BUDGET_EXCEEDED" } },
        ]);
        yield* runtime.answer(below, "continue");
        expect(yield* runtime.restart([below])).toMatchObject([{ ok: true }]);
        yield* nth(memory, 3);
      }),
  );

  it.effect("with on_breach stop ends all of them at once", () =>
    Effect.gen(function* () {
      const { runtime, memory, count } = yield* world;
      const { id } = yield* runtime.spawn(agent({ budget: { tokens: 100 }, on_breach: "stop" }));
      const { id: below } = yield* runtime.spawn(agent({ parent: id }));
      yield* nth(memory, 2);
      yield* settled;
      turn(memory.runs[1] as MemoryRun, null, 101);
      expect(yield* runtime.wait([id, below])).toMatchObject([
        { status: "failed", error: { code: "BUDGET_EXCEEDED" } },
        { status: "failed", error: { code: "BUDGET_EXCEEDED" } },
      ]);
      expect(count(id, "worker_question")).toBe(0);
    }),
  );

  it.effect("says that an agent without prices spends no dollars that it could count", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* world;
      const { id } = yield* runtime.spawn(agent({ budget: { usd: 1 } }));
      turn(yield* nth(memory, 1), null, 1_000_000);
      yield* settled;
      expect((yield* runtime.info(id)).budgets).toMatchObject([
        { state: "open", unpriced: true, spent: { usd: 0, tokens: 1_000_000 } },
      ]);
    }),
  );

  it.effect(
    "acts on the estimate of what no cost is reported of, after a crash too, and says that it is one",
    () =>
      Effect.gen(function* () {
        const {
          memory,
          boot: start,
          count,
          log,
        } = yield* memoryMachine.pipe(
          Effect.map((machine) => ({
            ...machine,
            // A later daemon has other prices: past spending stays as it was.
            boot: (price: number) =>
              machine.boot({
                adapterFor,
                estimate: (one) => ({ ...one, estimated_usd: one.input_tokens * price }),
              }),
          })),
        );
        const first = yield* start(0.01);
        const { id } = yield* first.runtime.spawn(agent({ budget: { usd: 5 } }));
        const run = yield* nth(memory, 1);
        turn(run, null, 400);
        turn(run, 0.5);
        yield* settled;
        expect((yield* first.runtime.info(id)).budgets).toMatchObject([
          { state: "open", unpriced: false, estimated: true, spent: { usd: 4.5 } },
        ]);
        expect(log.worker(id)?.usage).toMatchObject({ cost_usd: 0.5, estimated_usd: 4 });
        yield* first.crash;
        const { runtime } = yield* start(1_000);
        yield* settled;
        expect((yield* runtime.info(id)).budgets).toMatchObject([{ state: "open", spent: { usd: 4.5 } }]);
        turn(run, null, 1);
        yield* until("it asks", () => count(id, "worker_question") === 1);
        expect(run.process).toBe("stopped");
        expect((yield* runtime.info(id)).budgets).toMatchObject([
          { state: "asked", spent: { usd: 1_004.5 } },
        ]);
      }),
  );

  it.effect(
    "lets an agent with one prompt end, which has answered it, and pauses one that goes on after that",
    () =>
      Effect.gen(function* () {
        const { runtime, memory, count } = yield* world;
        const one = { interactive: false, prompt: "x", budget: { usd: 1 }, restart: "temporary" } as const;
        const { id: ends } = yield* runtime.spawn(agent(one));
        const { id: stays } = yield* runtime.spawn(agent(one));
        yield* nth(memory, 2);
        yield* settled;
        const [a, b] = memory.runs as [MemoryRun, MemoryRun];
        for (const run of [a, b]) turn(run, 2);
        yield* settled;
        a.exit(0);
        expect(yield* runtime.wait([ends])).toMatchObject([{ status: "completed" }]);
        expect(b.process).toBe("running");
        yield* elapse(3);
        expect(b.process).toBe("stopped");
        expect([count(ends, "worker_question"), count(stays, "worker_question")]).toEqual([0, 1]);
      }),
  );

  it.effect("of restarts and of output lets the next incarnation wait until somebody answers", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* world;
      const { id } = yield* runtime.spawn(spec({ budget: { restarts: 1 }, max_restarts: 10 }));
      const { id: chatty } = yield* runtime.spawn(spec({ budget: { output_bytes: 10 } }));
      yield* nth(memory, 2);
      yield* settled;
      (memory.runs[0] as MemoryRun).exit(1);
      (memory.runs[1] as MemoryRun).print("stdout", "0123456789\n");
      (yield* nth(memory, 3)).exit(1);
      yield* settled;
      expect(memory.runs.length).toBe(3);
      expect(yield* runtime.info(id)).toMatchObject({
        state: "backing_off",
        reason: "waits: its budget is spent: 1 restart",
        question: { about: "budget" },
      });
      expect(yield* runtime.info(chatty)).toMatchObject({ paused: [{ reason: "budget" }] });
      yield* runtime.answer(id, "continue");
      yield* nth(memory, 4);
      // Killed in the middle of it, who waits is over.
      memory.runs[3]?.exit(1);
      yield* settled;
      expect(yield* runtime.kill({ ids: [id] })).toMatchObject([{ ok: true, effect: "deleted" }]);
    }),
  );
});

describe("the budget of a supervisor", () => {
  it.effect("counts all below it, what was removed from its file too, and is raised by its file", () =>
    Effect.gen(function* () {
      const { runtime, memory, log, boot, crash } = yield* world;
      yield* runtime.applyTree(tree({ usd: 3 }, ["a", "b"]));
      yield* nth(memory, 2);
      yield* settled;
      const [a, b] = memory.runs as [MemoryRun, MemoryRun];
      turn(b, 2);
      yield* settled;
      yield* runtime.applyTree(tree({ usd: 3 }, ["a"]));
      yield* until("b is gone", () => b.signals.includes("SIGTERM"));
      yield* settled;
      yield* crash;
      const { runtime: next } = yield* boot();
      yield* settled;
      turn(a, 1.5);
      yield* settled;
      expect(a.process).toBe("stopped");
      const crew = (yield* next.tree()).children[0];
      expect(crew).toMatchObject({
        id: "crew",
        question: { about: "budget" },
        budget: { owner: "crew", state: "asked", spent: { usd: 3.5 }, bounds: { usd: 3 } },
      });
      expect(log.treeStream("crew", ["worker_question"]).length).toBe(1);
      expect((yield* next.why("crew")).records.slice(-2).map(({ type }) => type)).toEqual([
        "worker_question",
        "worker_paused",
      ]);
      const reply = yield* next.applyTree(tree({ usd: 4 }, ["a"]));
      expect(reply.changes[0]).toMatchObject({ path: "crew", action: "update", fields: ["budget"] });
      yield* elapse(1);
      expect(a.process).toBe("running");
      expect(log.treeStream("crew", ["worker_question_withdrawn"]).length).toBe(1);
      turn(a, 1);
      yield* settled;
      yield* next.answer("crew", "stop");
      yield* settled;
      expect((yield* next.list({ all: true })).map(({ state }) => state)).toEqual(["failed", "cancelled"]);
      expect((yield* next.tree()).children[0]).toMatchObject({ budget: { state: "stopped" } });
    }),
  );

  it.effect("counts who has ended long ago once, also when it is started again by name", () =>
    Effect.gen(function* () {
      const { runtime, memory, log } = yield* world;
      yield* runtime.applyTree(tree({ usd: 5 }, ["a", "b"]));
      yield* nth(memory, 2);
      yield* settled;
      turn(memory.runs[0] as MemoryRun, 3);
      turn(memory.runs[1] as MemoryRun, 1);
      yield* settled;
      expect(yield* runtime.kill({ ids: ["a"] })).toMatchObject([{ ok: true }]);
      yield* elapse(3);
      const spent = Effect.map(runtime.tree(), ({ children: [crew] }) =>
        crew?.type === "supervisor" ? crew.budget?.spent : undefined,
      );
      expect(yield* spent).toMatchObject({ usd: 4, turns: 2 });
      expect(yield* runtime.restart(["a"])).toMatchObject([{ ok: true }]);
      const again = yield* nth(memory, 3);
      yield* settled;
      turn(again, 0.5);
      yield* settled;
      expect(yield* spent).toMatchObject({ usd: 4.5, turns: 3 });
      expect(log.treeStream("crew", ["worker_question"])).toEqual([]);
      turn(again, 1);
      yield* settled;
      expect(yield* spent).toMatchObject({ usd: 5.5, turns: 4 });
      expect(log.treeStream("crew", ["worker_question"]).length).toBe(1);
    }),
  );

  it.effect("that its file takes away lets everybody go on", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* world;
      yield* runtime.applyTree(tree({ turns: 1 }, ["a"]));
      const run = yield* nth(memory, 1);
      yield* settled;
      turn(run, 0);
      turn(run, 0);
      yield* settled;
      expect(run.process).toBe("stopped");
      yield* runtime.applyTree(tree({}, ["a"]));
      yield* elapse(1);
      expect(run.process).toBe("running");
    }),
  );
});

describe("a daemon that dies", () => {
  it.effect("between the breach and the pauses has asked, and the next one pauses and asks nothing new", () =>
    Effect.gen(function* () {
      const { runtime, memory, log, crash, boot, count } = yield* world;
      const { id } = yield* runtime.spawn(agent({ budget: { usd: 1 } }));
      const { id: below } = yield* runtime.spawn(agent({ parent: id }));
      yield* nth(memory, 2);
      yield* settled;
      yield* crash;
      // The output in the spool by now costs too much; nobody has looked yet.
      turn(memory.runs[1] as MemoryRun, 2);
      const second = yield* boot();
      yield* settled;
      expect(memory.runs.map(({ process }) => process)).toEqual(["stopped", "stopped"]);
      yield* second.crash;
      for (const run of memory.runs) run.process = "running";
      const third = yield* boot();
      yield* settled;
      expect(memory.runs.map(({ process }) => process)).toEqual(["stopped", "stopped"]);
      expect([count(id, "worker_question"), count(below, "worker_question")]).toEqual([1, 0]);
      // The answer is on record, and nobody has carried it out.
      const [asked] = log.stream(id, ["worker_question"]);
      yield* third.crash;
      log.append([
        {
          type: "worker_answered",
          stream: `worker:${id}`,
          worker_id: id,
          payload: {
            question_id: questionIn(asked),
            answer: "continue",
            by: "user",
            budget: { usd: 7 },
            clock: { boot_id: "boot", mono_ns: "0" },
          },
        },
      ]);
      const last = yield* boot();
      yield* settled;
      expect(memory.runs.map(({ process }) => process)).toEqual(["running", "running"]);
      expect((yield* last.runtime.info(below)).budgets).toMatchObject([
        { state: "open", spent: { usd: 2 }, bounds: { usd: 7 } },
      ]);
    }),
  );
});

describe("many agents at once", () => {
  const AGENTS = 100;
  const ROUNDS = full ? 20 : 2;
  it.effect(
    `that report at the same time pass the cap by one increment of each, and by one where they take turns (R27)`,
    () =>
      Effect.gen(function* () {
        const { runtime, memory, log } = yield* world;
        const { id: top } = yield* runtime.spawn(agent({ budget: { usd: 10 } }));
        for (let n = 1; n < AGENTS; n += 1) yield* runtime.spawn(agent({ parent: top }));
        yield* nth(memory, AGENTS);
        yield* settled;
        let failures = 0;
        let cap = 10;
        const spent = () => log.workers().reduce((sum, row) => sum + (row.usage.cost_usd ?? 0), 0);
        for (let round = 0; round < ROUNDS; round += 1) {
          const most = round % 2 === 0 ? 1 : 7;
          for (let step = 0; memory.runs.some(({ process }) => process === "running"); step += 1) {
            // Spread over all agents, and the same in each run.
            const some = Array.from(
              { length: most },
              (_, n) => memory.runs[(step * 37 + n * 11 + round) % AGENTS],
            );
            const before = spent();
            for (const run of some) if (run?.process === "running") turn(run, 0.3 + (step % 5) / 10);
            yield* settled;
            if (before > cap + 1e-6 || spent() > cap + most * 0.7 + 1e-6) failures += 1;
          }
          expect(spent()).toBeGreaterThan(cap);
          yield* runtime.answer(top, "continue");
          yield* settled;
          cap = (yield* runtime.info(top)).budgets[0]?.bounds.usd as number;
        }
        expect(failures).toBe(0);
        expect(log.stream(top, ["worker_question"]).length).toBe(ROUNDS);
        figure("R27", {
          rounds: ROUNDS,
          failures,
          note: `${AGENTS} agents of one budget, spent once a round`,
        });
      }),
  );
});
