/** The inbox and the answers to it, through the whole runtime: every hold in one list, and one way to answer each of them. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { describe, expect } from "vitest";
import { claudeCode } from "../../../src/adapters/kinds/claude-code/index.ts";
import { command } from "../../../src/adapters/kinds/command/index.ts";
import type { MemoryRun } from "../../../src/library/memory-spawner.ts";
import type { WorkerSpecInput } from "../../../src/protocol/worker.ts";
import type { RuntimeApi } from "../../../src/runtime/api.ts";
import { elapse, memoryMachine, nth, settled, spec } from "../memory-runtime.ts";

const adapterFor = (kind: string) => (kind === "claude_code" ? claudeCode : command);
const world = Effect.gen(function* () {
  const machine = yield* memoryMachine;
  const boot = () => machine.boot({ adapterFor });
  return { ...machine, ...(yield* boot()), boot };
});

const agent = (over: Partial<WorkerSpecInput> = {}) =>
  spec({ kind: "claude_code", argv: [], restart: "transient", ...over });
const say = (run: MemoryRun, line: object): void =>
  run.print("stdout", `${JSON.stringify({ session_id: "s", ...line })}\n`);
const asks = (run: MemoryRun, request_id: string): void =>
  say(run, {
    type: "control_request",
    request_id,
    request: {
      subtype: "can_use_tool",
      tool_name: "Bash",
      input: { command: "make test" },
      tool_use_id: "t",
    },
  });
const turnOf = (run: MemoryRun, usd: number): void =>
  say(run, {
    type: "result",
    subtype: "success",
    is_error: false,
    result: "done",
    model_usage_since_last_result: { m: { inputTokens: 1, outputTokens: 0, costUSD: usd } },
  });

const inbox = (runtime: RuntimeApi, page: { readonly id?: string; readonly all?: boolean } = {}) =>
  Effect.map(runtime.inbox({ limit: 100, ...page }), ({ holds }) => holds);

describe("the inbox", () => {
  it.effect("has a request for permission, which any of its names answers", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* world;
      const { id } = yield* runtime.spawn(agent({ name: "fixer", prompt: "go", permission: "ask" }));
      asks(yield* nth(memory, 1), "r1");
      yield* settled;
      const [hold, ...more] = yield* inbox(runtime);
      expect(more).toEqual([]);
      expect(hold).toMatchObject({
        reason: "approval",
        worker_id: id,
        worker: "fixer",
        incarnation: 1,
        question: "may it use Bash? make test",
        answers: ["allow", "deny"],
        expires_at: expect.any(String),
        otherwise: "deny",
        tool: "Bash",
        input: { command: "make test" },
      });
      expect(yield* Effect.flip(runtime.answer("fixer", "wait"))).toMatchObject({
        code: "INVALID_STATE",
        suggestion: "Answer it with: agent answer fixer allow|deny",
      });
      expect(yield* runtime.answer(hold!.id, "deny", { message: "not today" })).toMatchObject({
        id,
        question_id: hold!.id,
        effect: "updated",
      });
      expect(yield* runtime.answer(hold!.id, "deny")).toMatchObject({ effect: "noop" });
      expect(yield* inbox(runtime, { all: true })).toEqual([]);
    }),
  );

  it.effect("takes no answer from the worker itself: neither a permission nor the end of its pause", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* world;
      const { id } = yield* runtime.spawn(agent({ name: "fixer", prompt: "go", permission: "ask" }));
      asks(yield* nth(memory, 1), "r1");
      yield* settled;
      const caller = { type: "worker", worker_id: id, incarnation: 1 } as const;
      const [hold] = yield* inbox(runtime);
      for (const ref of ["fixer", hold!.id])
        expect(yield* Effect.flip(runtime.answer(ref, "allow", { caller }))).toMatchObject({
          code: "POLICY_VIOLATION",
        });
      yield* runtime.pause(["fixer"]);
      expect(yield* Effect.flip(runtime.answer("fixer", "continue", { caller }))).toMatchObject({
        code: "POLICY_VIOLATION",
      });
      expect(yield* inbox(runtime)).toMatchObject([{ reason: "approval" }, { reason: "pause" }]);
    }),
  );

  it.effect("asks which one is meant of a worker that waits for two permissions", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* world;
      yield* runtime.spawn(agent({ name: "fixer", prompt: "go", permission: "ask" }));
      const run = yield* nth(memory, 1);
      asks(run, "r1");
      asks(run, "r2");
      yield* settled;
      const holds = yield* inbox(runtime, { id: "fixer" });
      expect(holds).toHaveLength(2);
      const refused = yield* Effect.flip(runtime.answer("fixer", "allow"));
      expect(refused).toMatchObject({ code: "INVALID_STATE" });
      expect(refused.suggestion).toBe(`Name the request: agent answer ${holds[0]!.id} allow|deny`);
      yield* runtime.answer(holds[1]!.id, "allow");
      expect(yield* inbox(runtime)).toMatchObject([{ id: holds[0]!.id }]);
    }),
  );

  it.effect("has a worker that may be stuck, with its deadline, and forgets it once it speaks", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* world;
      const { id } = yield* runtime.spawn(spec({ name: "mute", stall_ms: 10_000, heartbeat_ms: 1_000 }));
      const run = yield* nth(memory, 1);
      yield* elapse(22);
      const [hold] = yield* inbox(runtime);
      expect(hold).toMatchObject({
        id: expect.stringMatching(`^${id}:`),
        reason: "stall",
        answers: ["wait", "restart", "kill"],
        otherwise: "stop",
      });
      expect(Date.parse(hold!.expires_at!) - Date.parse(hold!.since)).toBe(10_000);
      run.print("stdout", "here\n");
      yield* elapse(2);
      expect(yield* inbox(runtime)).toEqual([]);
    }),
  );

  it.effect("has an interrupted turn over the death of a daemon, and its id answers it", () =>
    Effect.gen(function* () {
      const { memory, crash, boot, runtime: first } = yield* world;
      const { id } = yield* first.spawn(
        agent({ name: "fixer", prompt: "go", on_interrupted: "ask", restart: "permanent" }),
      );
      const run = yield* nth(memory, 1);
      say(run, { type: "system", subtype: "init" });
      say(run, { type: "assistant", message: { content: [{ type: "text", text: "I begin" }] } });
      yield* settled;
      run.exit(1);
      yield* elapse(2);
      expect(yield* inbox(first)).toMatchObject([{ reason: "interrupted" }]);
      yield* crash;
      const { runtime } = yield* boot();
      yield* runtime.settled;
      const [hold] = yield* inbox(runtime);
      expect(hold).toMatchObject({
        id: `${id}:1.interrupted`,
        question: "should it go on? its turn was interrupted",
        answers: ["continue", "fresh", "stop"],
        expires_at: null,
        otherwise: null,
      });
      yield* runtime.answer(hold!.id, "fresh");
      yield* nth(memory, 2);
      expect(yield* inbox(runtime)).toEqual([]);
    }),
  );

  it.effect("has one question for all whom a budget has paused; their pauses are seen with `all`", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* world;
      const { id: top } = yield* runtime.spawn(agent({ name: "top", interactive: true, budget: { usd: 1 } }));
      const { id: low } = yield* runtime.spawn(agent({ parent: top, interactive: true }));
      yield* nth(memory, 2);
      yield* settled;
      turnOf(memory.runs[1]!, 2);
      yield* settled;
      const [hold, ...more] = yield* inbox(runtime);
      expect(more).toEqual([]);
      expect(hold).toMatchObject({
        reason: "budget",
        worker_id: top,
        question: "may it spend more? its budget is spent: 1 dollar",
        answers: ["continue", "stop"],
      });
      const all = yield* inbox(runtime, { all: true });
      expect(all.map(({ reason, worker_id, answers }) => [reason, worker_id, answers.length])).toEqual(
        expect.arrayContaining([
          ["pause", top, 0],
          ["pause", low, 0],
        ]),
      );
      yield* runtime.answer(hold!.id, "continue");
      yield* settled;
      expect((yield* inbox(runtime, { all: true })).filter(({ reason }) => reason !== "passivated")).toEqual(
        [],
      );
    }),
  );

  it.effect("forgets a budget once nobody is left who could spend of it", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* world;
      const { id } = yield* runtime.spawn(agent({ name: "top", interactive: true, budget: { usd: 1 } }));
      turnOf(yield* nth(memory, 1), 2);
      yield* settled;
      expect(yield* inbox(runtime)).toMatchObject([{ reason: "budget" }]);
      yield* runtime.kill({ ids: [id] });
      expect(yield* inbox(runtime)).toEqual([]);
    }),
  );

  it.effect("has what a person has paused, and continue lets it go on", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* world;
      const { id } = yield* runtime.spawn(spec({ name: "server" }));
      const run = yield* nth(memory, 1);
      yield* settled;
      yield* runtime.pause(["server"], { reason: "too hot" });
      expect(yield* inbox(runtime)).toMatchObject([
        { id: `${id}:operator`, reason: "pause", question: "paused: too hot", answers: ["continue"] },
      ]);
      expect(yield* runtime.answer("server", "continue")).toMatchObject({ id, effect: "updated" });
      expect(run.process).toBe("running");
      expect(yield* inbox(runtime)).toEqual([]);
      expect(yield* Effect.flip(runtime.answer("server", "continue"))).toMatchObject({
        code: "INVALID_STATE",
        message: `Worker ${id} asks nothing.`,
      });
    }),
  );

  it.effect("comes in pages, oldest first", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* world;
      const names = ["a", "b", "c"];
      for (const name of names) yield* runtime.spawn(spec({ name }));
      yield* nth(memory, 3);
      yield* settled;
      for (const name of names) yield* runtime.pause([name]);
      const first = yield* runtime.inbox({ limit: 2 });
      expect(first.holds.map(({ worker }) => worker)).toEqual(["a", "b"]);
      const second = yield* runtime.inbox({ limit: 2, cursor: first.cursor });
      expect(second).toMatchObject({ holds: [{ worker: "c" }] });
      expect(second.cursor).toBeUndefined();
    }),
  );
});
