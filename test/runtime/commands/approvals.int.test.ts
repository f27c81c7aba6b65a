/** Requests for permission through the whole runtime: rules, people, deadlines, and daemons that die in between. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { describe, expect } from "vitest";
import type { Services } from "../../../src/actors/ports.ts";
import { claudeCode } from "../../../src/adapters/kinds/claude-code/index.ts";
import {
  APPROVAL_WITHIN_DEFAULT_MS,
  BACKGROUND_WAIT_MAX_MS,
  CANCEL_BY_PROTOCOL_MAX_MS,
  LINE_MAX_BYTES,
} from "../../../src/base/limits.ts";
import type { MemoryRun } from "../../../src/library/memory-spawner.ts";
import { workerStream } from "../../../src/protocol/records.ts";
import type { WorkerSpecInput } from "../../../src/protocol/worker.ts";
import type { RuntimeApi } from "../../../src/runtime/api.ts";
import { elapse, memoryMachine, nth, settled, spec, until } from "../memory-runtime.ts";

const adapterFor: Services["adapterFor"] = () => claudeCode as never;
const asker = (over: Partial<WorkerSpecInput> = {}): WorkerSpecInput =>
  spec({ kind: "claude_code", argv: [], prompt: "begin", permission: "ask", restart: "temporary", ...over });

// biome-ignore lint/suspicious/noExplicitAny: lines of stream-json as the test looks into them
type Loose = any;
const linesOf = ({ stdin }: MemoryRun): readonly Loose[] =>
  stdin
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
/** Its answers, in order. */
const answersOf = (run: MemoryRun): readonly Loose[] =>
  linesOf(run)
    .filter(({ type }) => type === "control_response")
    .map(({ response }) => [response.request_id, response.response?.behavior ?? response.subtype]);

const say = (run: MemoryRun, line: object): void =>
  run.print("stdout", `${JSON.stringify({ session_id: "s", ...line })}\n`);
const ask = (run: MemoryRun, request_id: string, command = "make test", tool_name = "Bash"): void =>
  say(run, {
    type: "control_request",
    request_id,
    request: {
      subtype: "can_use_tool",
      tool_name,
      input: { command },
      description: "run it",
      tool_use_id: "t1",
    },
  });
const begin = (run: MemoryRun): void => {
  say(run, { type: "system", subtype: "init" });
  say(run, { ...linesOf(run)[0], type: "user", isReplay: true });
};
const end = (run: MemoryRun): void =>
  say(run, { type: "result", subtype: "success", is_error: false, result: "done", num_turns: 1 });

const world = Effect.map(memoryMachine, (machine) => ({
  ...machine,
  machine,
  boot: () => machine.boot({ adapterFor }),
}));

type World = Effect.Success<typeof world>;

const begun = (over: Partial<WorkerSpecInput>, { memory, boot }: World) =>
  Effect.gen(function* () {
    const { runtime, crash } = yield* boot();
    const { id } = yield* runtime.spawn(asker(over));
    const run = yield* nth(memory, 1);
    yield* until("the prompt is there", () => linesOf(run).length === 1);
    begin(run);
    yield* settled;
    return { runtime, id, run, crash };
  });

/** An agent that asks, whose daemon has died. */
const leftAsking = (world: World) =>
  Effect.gen(function* () {
    const { run, crash } = yield* begun({ name: "fixer" }, world);
    ask(run, "r1");
    yield* settled;
    yield* crash;
    return run;
  });

const openOf = (runtime: RuntimeApi, all = false) =>
  Effect.map(runtime.approvals({ limit: 100, all }), ({ approvals }) => approvals);

describe("an agent's request for permission", () => {
  it.effect("waits for a person, whose answer it gets, and the run ends by itself", () =>
    Effect.gen(function* () {
      const { runtime, id, run } = yield* begun({ name: "fixer" }, yield* world);
      ask(run, "r1");
      yield* settled;
      expect(yield* openOf(runtime)).toMatchObject([
        { worker: "fixer", tool: "Bash", input: { command: "make test" }, state: "open", otherwise: "deny" },
      ]);
      expect(answersOf(run)).toEqual([]);
      expect(yield* runtime.approve("fixer", "allow", { by: "ada" })).toMatchObject({ effect: "updated" });
      yield* settled;
      expect(answersOf(run)).toEqual([["r1", "allow"]]);
      expect(yield* openOf(runtime)).toEqual([]);
      const [answered] = yield* openOf(runtime, true);
      expect(answered).toMatchObject({ state: "allowed", by: "ada", expires_at: null });
      expect(yield* runtime.approve(answered!.approval_id, "allow")).toMatchObject({ effect: "noop" });
      expect(yield* Effect.flip(runtime.approve(answered!.approval_id, "deny"))).toMatchObject({
        code: "INVALID_STATE",
        info: { details: { state: "allowed", by: "ada" } },
      });
      end(run);
      yield* settled;
      run.exit(0);
      expect(yield* runtime.wait([id])).toMatchObject([{ status: "completed" }]);
    }),
  );

  it.effect("is not answered by the worker itself; of two who answer at once the later is told by whom", () =>
    Effect.gen(function* () {
      const { runtime, id, run } = yield* begun({ name: "fixer" }, yield* world);
      ask(run, "r1");
      yield* settled;
      const caller = { type: "worker", worker_id: id, incarnation: 1 } as const;
      expect(yield* Effect.flip(runtime.approve("fixer", "allow", { caller }))).toMatchObject({
        code: "POLICY_VIOLATION",
        info: { details: { by: `worker:${id}`, kin: "self" } },
      });
      const asked = (by: string) => Effect.result(runtime.approve("fixer", "allow", { by }));
      const answers = yield* Effect.all([asked("ada"), asked("bob")], { concurrency: 2 });
      const failures = answers.flatMap((one) => (one._tag === "Failure" ? [one.failure] : []));
      const [answered] = yield* openOf(runtime, true);
      expect(failures).toMatchObject([
        { code: "INVALID_STATE", info: { details: { state: "allowed", by: answered!.by } } },
      ]);
      expect(failures[0]!.message).toBe(`It was answered just now by ${answered!.by}.`);
    }),
  );

  it.effect("is named by the beginning of its id, which no other request and no worker may share", () =>
    Effect.gen(function* () {
      const all = yield* world;
      const { runtime, id, run } = yield* begun({}, all);
      ask(run, "r1");
      ask(run, "r2");
      yield* settled;
      const [first, second] = yield* openOf(runtime);
      // Two ids of a kind, which a hash would give once in a long while.
      const twin = `${first!.approval_id.slice(0, 8)}${second!.approval_id.slice(8)}`;
      const { approval_id: _, ...asked } = first!;
      yield* Effect.promise(() =>
        all.log.commit([
          {
            type: "approval_requested",
            stream: workerStream(id),
            worker_id: id,
            incarnation: 1,
            payload: { ...asked, approval_id: twin, reply: "r2" } as never,
          },
        ]),
      );
      const shared = first!.approval_id.slice(0, 8);
      const said = { code: "AMBIGUOUS_ID", message: expect.stringContaining("is a prefix of 2 ids: ") };
      expect(yield* Effect.flip(runtime.approve(shared, "allow"))).toMatchObject(said);
      expect(yield* Effect.flip(runtime.approvals({ id: shared, limit: 9 }))).toMatchObject(said);
      // One that the worker's id begins with is the worker, which asks more than one thing.
      expect(yield* Effect.flip(runtime.approve(id.slice(0, 9), "allow"))).toMatchObject({
        code: "INVALID_STATE",
        message: expect.stringContaining("waits for 3 permissions"),
      });
      const short = shared.slice(0, 3);
      expect(yield* Effect.flip(runtime.approve(short, "allow"))).toMatchObject({
        code: "WORKER_NOT_FOUND",
        suggestion: "A prefix of an id needs at least 4 characters. See what waits: agent approvals",
      });
      expect(yield* Effect.flip(runtime.approve("nope", "allow"))).toMatchObject({
        code: "WORKER_NOT_FOUND",
        message: 'No request has the id "nope", and no worker has that id or name.',
        suggestion: "See what waits: agent approvals",
      });
      expect(yield* runtime.approve(first!.approval_id.slice(0, 20), "allow")).toMatchObject({
        approval_id: first!.approval_id,
      });
    }),
  );

  it.effect("is denied with the reason that a person gives, and the agent reads it", () =>
    Effect.gen(function* () {
      const { runtime, run } = yield* begun({ name: "fixer" }, yield* world);
      ask(run, "r1");
      yield* settled;
      yield* runtime.approve("fixer", "deny", { message: "use the test database" });
      yield* settled;
      expect(linesOf(run).at(-1).response.response).toEqual({
        behavior: "deny",
        message: "use the test database",
      });
    }),
  );

  it.effect("is decided by the rules: deny over ask over allow, and then by the worker's permission", () =>
    Effect.gen(function* () {
      const { runtime, run } = yield* begun(
        {
          permission: "deny",
          permission_rules: [
            { tool: "bash", argument: "git *", action: "allow" },
            { tool: "Bash", argument: "git push*", action: "ask" },
            { tool: "Bash", argument: "*--force*", action: "deny" },
          ],
        },
        yield* world,
      );
      ask(run, "allowed", "git status");
      ask(run, "joined", "git status; rm -rf /");
      ask(run, "forced", "git push --force");
      ask(run, "pushed", "git push");
      ask(run, "other", "ls");
      yield* settled;
      expect(answersOf(run)).toEqual([
        ["allowed", "allow"],
        ["joined", "deny"],
        ["forced", "deny"],
        ["other", "deny"],
      ]);
      expect(yield* openOf(runtime)).toMatchObject([{ input: { command: "git push" } }]);
    }),
  );

  it.effect(
    "is denied at its deadline, once, unless its spec says otherwise; nothing counts as stuck meanwhile",
    () =>
      Effect.gen(function* () {
        const { runtime, id, run } = yield* begun(
          { approval_within_ms: 60_000, stall_ms: 5_000 },
          yield* world,
        );
        ask(run, "r1");
        yield* settled;
        yield* elapse(59);
        expect(answersOf(run)).toEqual([]);
        yield* elapse(5);
        expect(answersOf(run)).toEqual([["r1", "deny"]]);
        expect(yield* openOf(runtime, true)).toMatchObject([{ state: "denied", by: "deadline" }]);
        const { records } = yield* runtime.why(id);
        expect(records.map(({ type }) => type)).not.toContain("worker_stalled");
      }),
  );

  it.effect(
    "under the id of one before is denied: a person would answer what was shown then; rules decide it by itself",
    () =>
      Effect.gen(function* () {
        const rules = [{ tool: "Bash", argument: "make *", action: "allow" as const }];
        const { runtime, run } = yield* begun({ name: "fixer", permission_rules: rules }, yield* world);
        ask(run, "r1", "ls");
        yield* settled;
        yield* runtime.approve("fixer", "allow");
        ask(run, "r1", "rm -rf /");
        yield* settled;
        ask(run, "r1", "make test");
        yield* settled;
        expect(answersOf(run)).toEqual([
          ["r1", "allow"],
          ["r1", "deny"],
          ["r1", "allow"],
        ]);
        expect(yield* openOf(runtime)).toEqual([]);
        expect((yield* runtime.info("fixer")).reason).not.toContain("permission");
      }),
  );

  it.effect(
    "is not decided while its agent stands still, by this daemon or the next; then its time goes on",
    () =>
      Effect.gen(function* () {
        const all = yield* world;
        const { runtime, run, crash } = yield* begun({ name: "fixer", approval_within_ms: 60_000 }, all);
        ask(run, "r1");
        yield* settled;
        yield* elapse(30);
        yield* runtime.pause(["fixer"], {});
        yield* elapse(120);
        expect(yield* openOf(runtime)).toMatchObject([{ state: "open", expires_at: null }]);
        yield* crash;
        const next = yield* all.boot();
        yield* settled;
        yield* elapse(120);
        expect(yield* openOf(next.runtime)).toMatchObject([{ state: "open", expires_at: null }]);
        yield* next.runtime.unpause(["fixer"]);
        yield* elapse(20);
        expect(yield* openOf(next.runtime)).toMatchObject([
          { state: "open", expires_at: expect.any(String) },
        ]);
        yield* elapse(45);
        expect(answersOf(run)).toEqual([["r1", "deny"]]);
      }),
  );

  it.effect("is answered in the first moment of the next daemon, before that has taken its agent over", () =>
    Effect.gen(function* () {
      const all = yield* world;
      const run = yield* leftAsking(all);
      const { runtime } = yield* all.boot();
      yield* runtime.approve("fixer", "allow");
      yield* settled;
      expect(answersOf(run)).toEqual([["r1", "allow"]]);
    }),
  );

  it.effect("stands when the daemon dies; the next one tells the agent the answer, once", () =>
    Effect.gen(function* () {
      const all = yield* world;
      const run = yield* leftAsking(all);
      const { runtime } = yield* all.boot();
      yield* settled;
      expect(yield* openOf(runtime)).toHaveLength(1);
      yield* runtime.approve("fixer", "allow");
      yield* settled;
      expect(answersOf(run)).toEqual([["r1", "allow"]]);
    }),
  );

  it.effect("is told after the message that a crash has left torn, which is completed first", () =>
    Effect.gen(function* () {
      const all = yield* world;
      const first = yield* begun({ name: "fixer", interactive: true }, all);
      const { run } = first;
      run.tearNext = 70;
      yield* Effect.forkChild(first.runtime.send("fixer", "a message that is torn\n"));
      yield* until("a part of it is there", () => run.stdin.length > 0 && !run.stdin.endsWith("\n"));
      ask(run, "r1");
      // A delivery that hangs holds up what the agent says for a second.
      yield* elapse(2);
      yield* first.runtime.approve("fixer", "allow");
      yield* first.crash;
      yield* all.boot();
      yield* settled;
      const [, message, answer, ...more] = linesOf(run);
      expect(message.message.content[0].text).toBe("a message that is torn");
      expect(answer.response).toMatchObject({ request_id: "r1" });
      expect(more).toEqual([]);
    }),
  );

  it.effect("is withdrawn when the agent takes it back, and when the agent ends", () =>
    Effect.gen(function* () {
      const { runtime, run } = yield* begun({ name: "fixer" }, yield* world);
      ask(run, "r1");
      say(run, { type: "control_cancel_request", request_id: "r1" });
      ask(run, "r2");
      yield* settled;
      expect((yield* openOf(runtime, true)).map(({ state }) => state)).toEqual(["withdrawn", "open"]);
      run.exit(1);
      yield* settled;
      expect((yield* openOf(runtime, true)).map(({ state }) => state)).toEqual(["withdrawn", "withdrawn"]);
      expect(yield* Effect.flip(runtime.approve("fixer", "allow"))).toMatchObject({ code: "INVALID_STATE" });
    }),
  );

  it.effect(
    "stays open over the end of the turn: a sub-agent in the background asks it, and is answered",
    () =>
      Effect.gen(function* () {
        const { runtime, id, run } = yield* begun({ name: "fixer", interactive: true }, yield* world);
        ask(run, "r1");
        yield* settled;
        end(run);
        yield* settled;
        expect((yield* openOf(runtime)).map(({ state }) => state)).toEqual(["open"]);
        expect((yield* runtime.info(id)).approvals).toBe(1);
        expect((yield* runtime.info(id)).reason).toContain("waits for a permission");
        yield* runtime.approve("fixer", "allow");
        yield* settled;
        expect(answersOf(run)).toEqual([["r1", "allow"]]);
        expect((yield* runtime.info(id)).approvals).toBeUndefined();
      }),
  );

  it.effect("keeps a conversation awake that would rest by now", () =>
    Effect.gen(function* () {
      const { run } = yield* begun({ interactive: true, passivate_ms: 2_000 }, yield* world);
      ask(run, "r1");
      end(run);
      yield* settled;
      yield* elapse(5);
      expect(run.stdinEnded).toBe(false);
      say(run, { type: "control_cancel_request", request_id: "r1" });
      yield* elapse(5);
      expect(run.stdinEnded).toBe(true);
    }),
  );

  it.effect("of a kind that asks in its turns alone is withdrawn with the turn", () =>
    Effect.gen(function* () {
      const all = yield* world;
      const messages = { ...claudeCode.messages, asks_beyond_turn: false };
      const boot = () => all.machine.boot({ adapterFor: () => ({ ...claudeCode, messages }) as never });
      const { runtime, run } = yield* begun({ name: "fixer", interactive: true }, { ...all, boot });
      ask(run, "r1");
      yield* settled;
      end(run);
      yield* settled;
      expect((yield* openOf(runtime, true)).map(({ state }) => state)).toEqual(["withdrawn"]);
      expect(yield* Effect.flip(runtime.approve("fixer", "allow"))).toMatchObject({ code: "INVALID_STATE" });
      expect(answersOf(run)).toEqual([]);
    }),
  );

  it.effect("of such a kind is withdrawn by the next daemon, where one died when the turn was over", () =>
    Effect.gen(function* () {
      const all = yield* world;
      const bootOf = (asks_beyond_turn: boolean) => () =>
        all.machine.boot({
          adapterFor: () =>
            ({ ...claudeCode, messages: { ...claudeCode.messages, asks_beyond_turn } }) as never,
        });
      const { runtime, run, crash } = yield* begun(
        { name: "fixer", interactive: true },
        { ...all, boot: bootOf(true) },
      );
      ask(run, "r1");
      yield* settled;
      end(run);
      yield* settled;
      begin(run);
      ask(run, "r2");
      yield* settled;
      expect(yield* openOf(runtime)).toHaveLength(2);
      yield* crash;
      const next = yield* bootOf(false)();
      yield* settled;
      expect((yield* openOf(next.runtime, true)).map(({ state }) => state)).toEqual(["withdrawn", "open"]);
      expect(answersOf(run)).toEqual([]);
    }),
  );

  it.effect("that comes after the end of the agent's input is no person's to answer, and no rule's", () =>
    Effect.gen(function* () {
      const all = yield* world;
      const { runtime, id, run } = yield* begun({ name: "fixer", interactive: true }, all);
      yield* runtime.send(id, undefined, { close: true });
      yield* until("its input has ended", () => run.stdinEnded);
      ask(run, "r1");
      yield* settled;
      expect(yield* Effect.flip(runtime.approve("fixer", "allow"))).toMatchObject({
        code: "INVALID_STATE",
        message: expect.stringContaining("input has ended"),
      });
      yield* elapse(APPROVAL_WITHIN_DEFAULT_MS / 1_000 + 1);
      expect(JSON.stringify(all.log.stream(id, ["worker_message"]))).toContain(
        "The agent's input has ended.",
      );
      expect(all.services.defects.counted().count).toBe(0);
    }),
  );

  it.effect(
    "in a line over the limit is denied at once, by its id; the log says so, and the agent goes on",
    () =>
      Effect.gen(function* () {
        const all = yield* world;
        const { runtime, id, run } = yield* begun({ name: "fixer" }, all);
        const input = { command: "x".repeat(LINE_MAX_BYTES) };
        run.print(
          "stdout",
          `${JSON.stringify({ type: "control_request", request_id: "r1", request: { subtype: "can_use_tool", input } })}\n`,
        );
        yield* until("it is answered", () => answersOf(run).length > 0);
        expect(answersOf(run)).toEqual([["r1", "error"]]);
        expect(yield* openOf(runtime)).toEqual([]);
        expect(JSON.stringify(all.log.stream(id, ["agent.event"]))).toContain(
          "over the limit: it was denied",
        );
        end(run);
        yield* settled;
        run.exit(0);
        expect(yield* runtime.wait([id])).toMatchObject([{ status: "completed" }]);
      }),
  );

  it.effect(
    "in a line over the limit that names no request ends the agent's input, which is told as an error",
    () =>
      Effect.gen(function* () {
        const all = yield* world;
        const { runtime, id, run } = yield* begun({ interactive: true }, all);
        const input = { command: "x".repeat(LINE_MAX_BYTES) };
        run.print(
          "stdout",
          `${JSON.stringify({ type: "control_request", request: input, request_id: "r1" })}\n`,
        );
        yield* until("its input has ended", () => run.stdinEnded);
        expect(answersOf(run)).toEqual([]);
        expect(JSON.stringify(all.log.stream(id, ["agent.event"]))).toContain("which cannot be answered");
        end(run);
        run.exit(0);
        expect(yield* runtime.wait([id])).toMatchObject([
          { status: "failed", error: { code: "OUTPUT_TOO_LARGE" } },
        ]);
      }),
  );

  it.effect("that no host of ours answers is refused, so that nothing waits for it", () =>
    Effect.gen(function* () {
      const { run } = yield* begun({}, yield* world);
      say(run, { type: "control_request", request_id: "h1", request: { subtype: "hook_callback" } });
      yield* settled;
      expect(answersOf(run)).toEqual([["h1", "error"]]);
    }),
  );
});

/** The CLI's word on tasks in the background: those that run. */
const tasks = (run: MemoryRun, ...running: string[]): void =>
  say(run, {
    type: "system",
    subtype: "background_tasks_changed",
    tasks: running.map((task_id) => ({ task_id })),
  });

describe("an agent with one prompt that left a task in the background", () => {
  it.effect("keeps its input until the task is done and reported on: it may ask until then", () =>
    Effect.gen(function* () {
      const { runtime, id, run } = yield* begun({ name: "fixer" }, yield* world);
      tasks(run, "a");
      end(run);
      yield* settled;
      expect(run.stdinEnded).toBe(false);
      expect((yield* runtime.info(id)).reason).not.toContain("message");
      ask(run, "r1");
      yield* settled;
      yield* runtime.approve("fixer", "allow");
      yield* settled;
      expect(answersOf(run)).toEqual([["r1", "allow"]]);
      tasks(run);
      say(run, { type: "system", subtype: "init" });
      yield* elapse(BACKGROUND_WAIT_MAX_MS / 1_000 + 1);
      expect(run.stdinEnded).toBe(false);
      end(run);
      yield* settled;
      expect(run.stdinEnded).toBe(true);
      run.exit(0);
      expect(yield* runtime.wait([id])).toMatchObject([{ status: "completed" }]);
    }),
  );

  it.effect(
    "has its input ended where the task does not end, unless a person is asked; so by the next daemon",
    () =>
      Effect.gen(function* () {
        const all = yield* world;
        const { run, crash } = yield* begun({ approval_within_ms: 0 }, all);
        tasks(run, "a");
        end(run);
        yield* settled;
        yield* elapse(BACKGROUND_WAIT_MAX_MS / 1_000 - 1);
        yield* crash;
        const { runtime } = yield* all.boot();
        yield* elapse(BACKGROUND_WAIT_MAX_MS / 1_000 - 1);
        ask(run, "r1");
        yield* elapse(2);
        expect(run.stdinEnded).toBe(false);
        const [asked] = yield* openOf(runtime);
        yield* runtime.approve(asked!.approval_id, "deny");
        yield* elapse(BACKGROUND_WAIT_MAX_MS / 1_000);
        expect(run.stdinEnded).toBe(true);
      }),
  );
});

describe("ending a turn", () => {
  it.effect("keeps the worker, and is a noop where no turn is open", () =>
    Effect.gen(function* () {
      const { runtime, id, run } = yield* begun({ interactive: true, permission: "deny" }, yield* world);
      expect(yield* runtime.cancel(id)).toEqual({ id, effect: "updated" });
      expect(linesOf(run).at(-1)).toMatchObject({
        type: "control_request",
        request: { subtype: "interrupt" },
      });
      yield* runtime.cancel(id);
      expect(linesOf(run)).toHaveLength(2);
      say(run, { type: "result", subtype: "error_during_execution", is_error: true, num_turns: 1 });
      yield* settled;
      expect(yield* runtime.cancel(id)).toEqual({ id, effect: "noop" });
      expect(run.signals).toEqual([]);
    }),
  );

  const interrupted = (run: MemoryRun) =>
    linesOf(run).filter(({ request }) => request?.subtype === "interrupt").length;
  const lateIn = (log: World["log"], id: string) =>
    log
      .stream(id, ["worker_message"])
      .filter(({ payload }) => "reason" in payload && payload.reason.includes("interrupt"));

  it.effect("that is over by the time the line can be written interrupts no other one", () =>
    Effect.gen(function* () {
      const all = yield* world;
      const { runtime, id, run } = yield* begun({ interactive: true, permission: "deny" }, all);
      run.refuseNext = true;
      yield* runtime.cancel(id);
      expect(interrupted(run)).toBe(0);
      end(run);
      say(run, { type: "system", subtype: "init" });
      yield* settled;
      yield* elapse(5);
      expect(interrupted(run)).toBe(0);
      expect(lateIn(all.log, id)).toHaveLength(1);
      yield* runtime.cancel(id);
      expect(linesOf(run).at(-1)).toMatchObject({ request_id: "interrupt-2" });
    }),
  );

  it.effect("that an earlier daemon was asked for is given up, and can be asked for anew", () =>
    Effect.gen(function* () {
      const all = yield* world;
      const { runtime, id, run, crash } = yield* begun({ interactive: true, permission: "deny" }, all);
      run.refuseNext = true;
      yield* runtime.cancel(id);
      yield* crash;
      const second = yield* all.boot();
      yield* elapse(5);
      expect(interrupted(run)).toBe(0);
      expect(lateIn(all.log, id)).toHaveLength(1);
      expect(yield* second.runtime.cancel(id)).toMatchObject({ effect: "updated" });
      expect(interrupted(run)).toBe(1);
    }),
  );

  it.effect("is what a stop begins with; the signal comes once the turn has ended, or does not end", () =>
    Effect.gen(function* () {
      const { runtime, id, run } = yield* begun({}, yield* world);
      const killing = yield* Effect.forkChild(runtime.kill({ ids: [id] }));
      yield* settled;
      expect(linesOf(run).at(-1)).toMatchObject({ request: { subtype: "interrupt" } });
      expect(run.signals).toEqual([]);
      yield* elapse(CANCEL_BY_PROTOCOL_MAX_MS / 1000);
      yield* settled;
      expect(run.signals[0]).toBe("SIGTERM");
      void killing;
    }),
  );
});
