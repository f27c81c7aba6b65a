/** A budget of turns lets as many turns happen as it says; and a budget that an answer has spent is no failure of the answer. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { describe, expect } from "vitest";
import { claudeCode } from "../../../src/adapters/kinds/claude-code/index.ts";
import { command } from "../../../src/adapters/kinds/command/index.ts";
import type { MemoryRun } from "../../../src/library/memory-spawner.ts";
import type { WorkerSpecInput } from "../../../src/protocol/worker.ts";
import { elapse, memoryMachine, nth, settled, spec, until } from "../memory-runtime.ts";

const adapterFor = (kind: string) => (kind === "claude_code" ? claudeCode : command);
const world = Effect.gen(function* () {
  const machine = yield* memoryMachine;
  const daemon = yield* machine.boot({ adapterFor });
  return { ...machine, ...daemon, boot: () => machine.boot({ adapterFor }) };
});

const talker = (over: Partial<WorkerSpecInput> = {}) =>
  spec({ kind: "claude_code", argv: [], interactive: true, backoff_max_ms: 0, ...over });

const linesOf = ({ stdin }: MemoryRun): { message: { content: [{ text: string }] } }[] =>
  stdin
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const textsOf = (run: MemoryRun): string[] => linesOf(run).map(({ message }) => message.content[0].text);
const say = (run: MemoryRun, line: object): void =>
  run.print("stdout", `${JSON.stringify({ session_id: "s", ...line })}\n`);
/** It begins a turn for the nth message that it has read. */
const begins = (run: MemoryRun, n: number): void => {
  say(run, { type: "system", subtype: "init" });
  say(run, { ...linesOf(run)[n], type: "user", isReplay: true });
};
const ends = (run: MemoryRun, input_tokens = 0): void =>
  say(run, {
    type: "result",
    subtype: "success",
    is_error: false,
    result: "done",
    num_turns: 1,
    usage: { input_tokens, output_tokens: 0 },
  });

describe("a budget of one turn", () => {
  it.effect("lets one turn happen, and the next message waits for somebody to allow more", () =>
    Effect.gen(function* () {
      const { runtime, memory, count } = yield* world;
      const { id } = yield* runtime.spawn(talker({ prompt: "one", budget: { turns: 1 } }));
      const run = yield* nth(memory, 1);
      yield* until("the prompt is there", () => textsOf(run).length === 1);
      begins(run, 0);
      // One is under way: nobody is asked before it has ended.
      expect(yield* runtime.send(id, "two")).toMatchObject({ state: "accepted" });
      yield* settled;
      expect(count(id, "worker_question")).toBe(0);
      ends(run);
      yield* until("it asks", () => count(id, "worker_question") === 1);
      yield* elapse(3);
      expect(textsOf(run)).toEqual(["one"]);
      expect(yield* runtime.info(id)).toMatchObject({
        turns: 1,
        reason: expect.stringContaining("its budget is spent: 1 turn"),
        budgets: [{ state: "asked", spent: { turns: 1 }, bounds: { turns: 1 } }],
      });
      expect(yield* runtime.why(id)).toMatchObject({
        reason: expect.stringContaining("its budget is spent: 1 turn"),
        suggestion: `grant more, or end it: agent answer ${id} continue|stop`,
      });
      yield* runtime.answer(id, "continue");
      yield* elapse(3);
      yield* until("it is given", () => textsOf(run).length === 2);
      begins(run, 1);
      ends(run);
      yield* settled;
      expect(yield* runtime.info(id)).toMatchObject({ turns: 2, budgets: [{ bounds: { turns: 2 } }] });
      expect(count(id, "worker_question")).toBe(1);
    }),
  );

  it.effect("stands still for nobody where no further turn is asked for", () =>
    Effect.gen(function* () {
      const { runtime, memory, count } = yield* world;
      const { id } = yield* runtime.spawn(talker({ prompt: "one", budget: { turns: 1 }, on_breach: "stop" }));
      const run = yield* nth(memory, 1);
      yield* until("the prompt is there", () => textsOf(run).length === 1);
      begins(run, 0);
      ends(run);
      yield* settled;
      yield* elapse(5);
      expect(yield* runtime.info(id)).toMatchObject({ status: "running", budgets: [{ state: "open" }] });
      expect(count(id, "worker_limit_reached")).toBe(0);
      yield* runtime.send(id, "two");
      expect(yield* runtime.wait([id])).toMatchObject([
        { status: "failed", error: { code: "MAX_TURNS", message: "It used its 1 turn" } },
      ]);
    }),
  );

  it.effect("asks the same after the death of the daemon", () =>
    Effect.gen(function* () {
      const { memory, boot, count, runtime: first } = yield* world;
      const { id } = yield* first.spawn(talker({ prompt: "one", budget: { turns: 1 } }));
      const run = yield* nth(memory, 1);
      yield* until("the prompt is there", () => textsOf(run).length === 1);
      begins(run, 0);
      ends(run);
      yield* settled;
      yield* first.send(id, "two");
      yield* until("it asks", () => count(id, "worker_question") === 1);
      yield* first.shutdown("keep", "test");
      const { runtime } = yield* boot();
      yield* elapse(3);
      expect(textsOf(run)).toEqual(["one"]);
      expect([count(id, "worker_question"), count(id, "worker_question_withdrawn")]).toEqual([1, 0]);
      expect((yield* runtime.info(id)).budgets).toMatchObject([{ state: "asked" }]);
    }),
  );
});

it.effect("an answer that has spent its budget is complete, with on_breach stop too", () =>
  Effect.gen(function* () {
    const { runtime, memory, count } = yield* world;
    const once = { interactive: false, restart: "transient", prompt: "one" } as const;
    const { id } = yield* runtime.spawn(talker({ ...once, budget: { tokens: 100 }, on_breach: "stop" }));
    const run = yield* nth(memory, 1);
    yield* settled;
    say(run, { type: "system", subtype: "init" });
    ends(run, 101);
    yield* settled;
    // A tick looks at all budgets.
    yield* elapse(1);
    expect(count(id, "worker_limit_reached")).toBe(0);
    run.exit(0);
    expect(yield* runtime.wait([id])).toMatchObject([{ status: "completed", error: null }]);
    expect((yield* runtime.info(id)).budgets).toMatchObject([{ spent: { tokens: 101 } }]);
  }),
);

describe("within a turn", () => {
  let calls = 0;
  /** One round of the model, told with the tool that it calls. */
  const works = (run: MemoryRun, input_tokens: number): void => {
    calls += 1;
    const content = [{ type: "tool_use", id: `t${calls}`, name: "Bash", input: {} }];
    const usage = { input_tokens, output_tokens: 0 };
    say(run, { type: "assistant", message: { id: `m${calls}`, model: "m", usage, content } });
  };
  const tokens = (info: { readonly budgets: readonly { readonly spent: { readonly tokens: number } }[] }) =>
    info.budgets[0]!.spent.tokens;

  it.effect(
    "reported usage counts at once, the end of the turn replaces it, and no record is made of it",
    () =>
      Effect.gen(function* () {
        const { runtime, memory, log } = yield* world;
        const { id } = yield* runtime.spawn(talker({ prompt: "one", budget: { tokens: 1_000 } }));
        const run = yield* nth(memory, 1);
        yield* until("the prompt is there", () => textsOf(run).length === 1);
        begins(run, 0);
        works(run, 400);
        works(run, 500);
        yield* settled;
        const info = yield* runtime.info(id);
        expect([tokens(info), info.usage.input_tokens]).toEqual([900, 0]);
        ends(run, 700);
        yield* settled;
        const after = yield* runtime.info(id);
        expect([tokens(after), after.usage.input_tokens, after.budgets[0]!.state]).toEqual([
          700,
          700,
          "open",
        ]);
        const types = new Set([...log.stream(id)].map(({ type }) => type));
        expect([...types].filter((type) => type.startsWith("turn_"))).toEqual([
          "turn_started",
          "turn_completed",
        ]);
      }),
  );

  it.effect("stops the agent then, or pauses it and asks", () =>
    Effect.gen(function* () {
      const { runtime, memory, count } = yield* world;
      const once = {
        interactive: false,
        restart: "temporary",
        prompt: "one",
        budget: { tokens: 1_000 },
      } as const;
      const stopped = yield* runtime.spawn(talker({ ...once, on_breach: "stop" }));
      const first = yield* nth(memory, 1);
      yield* settled;
      say(first, { type: "system", subtype: "init" });
      works(first, 1_001);
      expect(yield* runtime.wait([stopped.id])).toMatchObject([
        { status: "failed", error: { code: "BUDGET_EXCEEDED" } },
      ]);
      const asked = yield* runtime.spawn(talker(once));
      const second = yield* nth(memory, 2);
      yield* settled;
      say(second, { type: "system", subtype: "init" });
      works(second, 1_001);
      yield* until("it asks", () => count(asked.id, "worker_question") === 1);
      yield* until("it is paused", () => count(asked.id, "worker_paused") === 1);
    }),
  );

  it.effect("an incarnation that ends has spent what its open turn has told, for later daemons too", () =>
    Effect.gen(function* () {
      const { memory, boot, runtime: first } = yield* world;
      const goes = { on_interrupted: "continue", budget: { tokens: 1_000 } } as const;
      const { id } = yield* first.spawn(talker({ prompt: "one", ...goes }));
      const run = yield* nth(memory, 1);
      yield* until("the prompt is there", () => textsOf(run).length === 1);
      begins(run, 0);
      works(run, 400);
      yield* settled;
      run.exit(1);
      const again = yield* nth(memory, 2);
      yield* settled;
      expect(tokens(yield* first.info(id))).toBe(400);
      say(again, { type: "system", subtype: "init" });
      works(again, 300);
      yield* settled;
      expect(tokens(yield* first.info(id))).toBe(700);
      yield* first.shutdown("keep", "test");
      const { runtime } = yield* boot();
      expect(tokens(yield* runtime.info(id))).toBe(700);
      works(again, 200);
      yield* settled;
      expect(tokens(yield* runtime.info(id))).toBe(900);
    }),
  );
});
