/** Sessions through the whole runtime, with an agent that tells its session as Claude Code does: who holds one, who goes on in it. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { describe, expect } from "vitest";
import type { Services } from "../../src/actors/ports.ts";
import { claudeCode } from "../../src/adapters/kinds/claude-code/index.ts";
import { command } from "../../src/adapters/kinds/command/index.ts";
import { geminiCli } from "../../src/adapters/kinds/gemini-cli/index.ts";
import type { MemoryRun, MemorySpawner } from "../../src/library/memory-spawner.ts";
import { TreeSpec } from "../../src/protocol/tree.ts";
import type { WorkerSpecInput } from "../../src/protocol/worker.ts";
import { elapse, memoryMachine, nth, settled, spec, until } from "../runtime/memory-runtime.ts";

const adapterFor: Services["adapterFor"] = (kind) =>
  ({ command, claude_code: claudeCode, gemini_cli: geminiCli })[kind] as never;
const claude = (over: Partial<WorkerSpecInput> = {}): WorkerSpecInput =>
  spec({
    kind: "claude_code",
    argv: [],
    prompt: "begin",
    restart: "transient",
    env: { HOME: "/home/a" },
    ...over,
  });

const say = (run: MemoryRun, session: string, line: object): void =>
  run.print("stdout", `${JSON.stringify({ session_id: session, ...line })}\n`);
/** It tells its session, and begins its turn. */
const begin = (run: MemoryRun, session: string): void =>
  say(run, session, { type: "system", subtype: "init" });
const answer = (run: MemoryRun, session: string): void => {
  begin(run, session);
  say(run, session, { type: "result", subtype: "success", is_error: false, result: "done", num_turns: 1 });
  run.exit(0);
};

const world = Effect.map(memoryMachine, (machine) => ({
  ...machine,
  boot: (over: Partial<Services> = {}, limits = {}) => machine.boot({ adapterFor, ...over }, limits),
  /** A worker that has ended in its session. */
  ended: (id: string) => until(`${id} ends`, () => machine.log.worker(id)?.state === "completed"),
}));

const argvOf = ({ request }: MemoryRun): string => request.argv.join(" ");

describe("agent resume", () => {
  it.effect("is a new worker of the same name and spec, in the session of the one that has ended", () =>
    Effect.gen(function* () {
      const { memory, boot, ended, log } = yield* world;
      const { runtime } = yield* boot();
      const first = yield* runtime.spawn(claude({ name: "fixer", labels: { team: "a" }, model: "m" }));
      answer(yield* nth(memory, 1), "s1");
      yield* ended(first.id);
      const second = yield* runtime.resume("fixer", { prompt: "and now?" });
      expect(second).toMatchObject({ name: "fixer", effect: "created" });
      expect(second.id).not.toBe(first.id);
      const run = yield* nth(memory, 2);
      expect(argvOf(run)).toContain("--model m --resume s1");
      expect(run.request.stdin).toMatchObject({ text: "and now?" });
      expect(log.worker(second.id)?.spec.labels).toEqual({ team: "a" });
      expect(log.worker(first.id)?.state).toBe("completed");
    }),
  );

  it.effect(
    "and a fork of a worker that a cluster placed here are refused: they would run outside of it",
    () =>
      Effect.gen(function* () {
        const { memory, boot, ended } = yield* world;
        const { runtime } = yield* boot({ leases: { holds: () => true } });
        const placed = { node: "a", worker: "fixer", term: 1, on_partition: "stop" } as const;
        const { id } = yield* runtime.spawn(claude({ name: "fixer" }), { placed });
        answer(yield* nth(memory, 1), "s1");
        yield* ended(id);
        for (const fork of [false, true])
          expect(yield* Effect.flip(runtime.resume("fixer", { prompt: "and now?", fork }))).toMatchObject({
            code: "INVALID_STATE",
            suggestion: "End it and place another one: agent kill fixer && agent spawn --where LABEL=V",
          });
      }),
  );

  it.effect("of what has no session says what to do instead", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(spec({ restart: "temporary" }));
      (yield* nth(memory, 1)).exit(0);
      expect(yield* Effect.flip(runtime.resume(id, { prompt: "x" }))).toMatchObject({
        code: "UNSUPPORTED_CAPABILITY",
        suggestion: `Start it again: agent restart ${id}`,
      });
      const silent = yield* runtime.spawn(claude());
      yield* nth(memory, 2);
      expect(yield* Effect.flip(runtime.resume(silent.id, { prompt: "x" }))).toMatchObject({
        code: "SESSION_NOT_FOUND",
      });
    }),
  );

  it.effect("needs a prompt, or a conversation that waits for one", () =>
    Effect.gen(function* () {
      const { memory, boot, ended } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(claude());
      answer(yield* nth(memory, 1), "s1");
      yield* ended(id);
      expect(yield* Effect.flip(runtime.resume(id, {}))).toMatchObject({ code: "INVALID_REQUEST" });
      yield* runtime.resume(id, { interactive: true });
      expect((yield* nth(memory, 2)).request.stdin).toMatchObject({ kind: "open", text: "" });
    }),
  );

  it.effect("a repeat with the same key is the first one", () =>
    Effect.gen(function* () {
      const { memory, boot, ended } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(claude());
      answer(yield* nth(memory, 1), "s1");
      yield* ended(id);
      const once = yield* runtime.resume(id, { prompt: "x", idempotency_key: "k" });
      const again = yield* runtime.resume(id, { prompt: "x", idempotency_key: "k" });
      expect(again).toMatchObject({ id: once.id, effect: "noop" });
    }),
  );
});

describe("agent fork", () => {
  it.effect("branches the session of a worker that goes on in it, and takes no name", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* world;
      const { runtime } = yield* boot();
      yield* runtime.spawn(claude({ name: "fixer" }));
      const first = yield* nth(memory, 1);
      begin(first, "s1");
      yield* settled;
      expect(yield* runtime.resume("fixer", { prompt: "x", fork: true })).toMatchObject({ name: null });
      const branch = yield* nth(memory, 2);
      expect(argvOf(branch)).toContain("--resume s1 --fork-session");
      begin(branch, "s2");
      yield* settled;
      expect(first.signals).toEqual([]);
      expect(branch.signals).toEqual([]);
    }),
  );

  it.effect("is refused where the kind cannot", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(claude({ kind: "gemini_cli" }));
      yield* nth(memory, 1);
      expect(yield* Effect.flip(runtime.resume(id, { prompt: "x", fork: true }))).toMatchObject({
        code: "UNSUPPORTED_CAPABILITY",
        suggestion: `Go on in the session itself: agent resume ${id} PROMPT`,
      });
    }),
  );
});

describe("a session has one living worker", () => {
  it.effect("a second one is refused before anything starts, and told who holds it", () =>
    Effect.gen(function* () {
      const { memory, boot, log } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(claude({ name: "fixer" }));
      begin(yield* nth(memory, 1), "s1");
      yield* settled;
      const workers = log.workers().length;
      for (const asked of [
        runtime.resume("fixer", { prompt: "x" }),
        runtime.spawn(claude({ session: "s1" })),
        runtime.spawn(claude({ session: "s1" }), { dry_run: true }),
        runtime.spawn(claude({ ext: { "agent_api.session.resume.v1": { selector: "id", id: "s1" } } })),
      ])
        expect(yield* Effect.flip(asked)).toMatchObject({
          code: "SESSION_IN_USE",
          message: `Worker ${id} already uses session s1.`,
          info: { details: { holder: id } },
        });
      expect(log.workers().length).toBe(workers);
      expect(memory.runs).toHaveLength(1);
    }),
  );

  it.effect("of two that ask for it at once one gets it", () =>
    Effect.gen(function* () {
      const { boot } = yield* world;
      const { runtime } = yield* boot();
      const asked = Effect.result(runtime.spawn(claude({ session: "s1" })));
      const results = yield* Effect.all([asked, asked], { concurrency: 2 });
      expect(results.map(({ _tag }) => _tag).sort()).toEqual(["Failure", "Success"]);
    }),
  );

  it.effect("under another HOME it is another session, and a spawn that failed holds none", () =>
    Effect.gen(function* () {
      const { boot } = yield* world;
      const { runtime } = yield* boot();
      yield* runtime.spawn(claude({ name: "one" }));
      expect(yield* Effect.flip(runtime.spawn(claude({ name: "one", session: "s1" })))).toMatchObject({
        code: "ALREADY_EXISTS",
      });
      yield* runtime.spawn(claude({ session: "s1" }));
      yield* runtime.spawn(claude({ session: "s1", env: { HOME: "/home/b" } }));
    }),
  );

  it.effect("it is free at the end of its worker, and a restart of that one by name is then refused", () =>
    Effect.gen(function* () {
      const { memory, boot, ended } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(claude());
      answer(yield* nth(memory, 1), "s1");
      yield* ended(id);
      const second = yield* runtime.resume(id, { prompt: "x" });
      yield* nth(memory, 2);
      const [refused] = yield* runtime.restart([id]);
      expect(refused).toMatchObject({ ok: false, error: { code: "SESSION_IN_USE" } });
      expect(refused!.error!.message).toContain(second.id);
    }),
  );

  it.effect("it is held between two incarnations, and over a crash of the daemon", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* world;
      const one = yield* boot();
      const waiting = yield* one.runtime.spawn(claude({ backoff_min_ms: 60_000, backoff_max_ms: 60_000 }));
      const first = yield* nth(memory, 1);
      begin(first, "s1");
      yield* settled;
      first.exit(1);
      yield* settled;
      const running = yield* one.runtime.spawn(claude());
      begin(yield* nth(memory, 2), "s2");
      yield* settled;
      yield* one.crash;
      const { runtime } = yield* boot();
      for (const [session, holder] of [
        ["s1", waiting.id],
        ["s2", running.id],
      ] as const)
        expect(yield* Effect.flip(runtime.spawn(claude({ session })))).toMatchObject({
          code: "SESSION_IN_USE",
          info: { details: { holder } },
        });
    }),
  );

  it.effect("an agent that tells a session of another worker is ended at once, and not started again", () =>
    Effect.gen(function* () {
      const { memory, boot, log } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(claude());
      const first = yield* nth(memory, 1);
      begin(first, "s1");
      yield* settled;
      const newest = { "agent_api.session.resume.v1": { selector: "last" } };
      const late = yield* runtime.spawn(claude({ ext: newest, restart: "permanent" }));
      const second = yield* nth(memory, 2);
      begin(second, "s1");
      yield* settled;
      expect(second.signals).toEqual(["SIGKILL"]);
      expect(first.signals).toEqual([]);
      yield* elapse(2);
      expect(log.worker(late.id)).toMatchObject({
        state: "failed",
        error: { code: "SESSION_IN_USE", message: `Worker ${id} already uses session s1.` },
      });
      expect(log.stream(late.id, ["session_conflict"])).toMatchObject([
        { payload: { session_id: "s1", holder: id } },
      ]);
      expect(memory.runs).toHaveLength(2);
    }),
  );

  it.effect("also where its daemon dies between what it told and its end", () =>
    Effect.gen(function* () {
      const { memory, boot, log } = yield* world;
      const one = yield* boot();
      const { id } = yield* one.runtime.spawn(claude());
      begin(yield* nth(memory, 1), "s1");
      yield* settled;
      const newest = { "agent_api.session.resume.v1": { selector: "last" } };
      const late = yield* one.runtime.spawn(claude({ ext: newest }));
      const second = yield* nth(memory, 2);
      memory.onSignal = () => undefined;
      begin(second, "s1");
      yield* until("it is on record", () => log.worker(late.id)?.session_id === "s1");
      yield* one.crash;
      memory.onSignal = (run, signal) => run.exit(signal);
      yield* boot();
      yield* elapse(2);
      expect(log.worker(late.id)).toMatchObject({ state: "failed", error: { code: "SESSION_IN_USE" } });
      expect(log.worker(id)?.state).toBe("running");
    }),
  );
});

const notFound = (run: MemoryRun, session: string): void => {
  const errors = [`No conversation found with session ID: ${session}`];
  say(run, session, {
    type: "result",
    subtype: "error_during_execution",
    is_error: true,
    num_turns: 0,
    errors,
  });
  run.exit(1);
};

describe("a session that is gone", () => {
  it.effect("is replaced by a fresh one, once, on record and counted in no window", () =>
    Effect.gen(function* () {
      const { memory, boot, log, count } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(claude({ max_restarts: 1 }));
      const first = yield* nth(memory, 1);
      begin(first, "s1");
      yield* settled;
      first.exit(1);
      yield* elapse(1);
      const second = yield* nth(memory, 2);
      expect(argvOf(second)).toContain("--resume s1");
      notFound(second, "s1");
      yield* elapse(1);
      const third = yield* nth(memory, 3);
      expect(argvOf(third)).not.toContain("--resume");
      expect(third.request.stdin).toMatchObject({ text: "begin" });
      expect(log.stream(id, ["session_abandoned"])).toMatchObject([
        { incarnation: 2, payload: { session_id: "s1" } },
      ]);
      expect(log.stream(id, ["worker_restart_scheduled"]).at(-1)).toMatchObject({
        payload: { reason: "session_lost", delay_ms: 0 },
      });
      expect(log.worker(id)).toMatchObject({ session_id: null, restarts: 1 });
      answer(third, "s2");
      yield* elapse(1);
      expect(log.worker(id)).toMatchObject({ state: "completed", session_id: "s2" });
      expect(count(id, "session_abandoned")).toBe(1);
    }),
  );

  it.effect("that is found gone while no daemon runs is replaced by the next one's", () =>
    Effect.gen(function* () {
      const { memory, boot, log } = yield* world;
      const one = yield* boot();
      const { id } = yield* one.runtime.spawn(claude());
      const first = yield* nth(memory, 1);
      begin(first, "s1");
      yield* settled;
      first.exit(1);
      yield* elapse(1);
      const second = yield* nth(memory, 2);
      yield* settled;
      yield* one.crash;
      notFound(second, "s1");
      yield* boot();
      expect(argvOf(yield* nth(memory, 3))).not.toContain("--resume");
      expect(log.worker(id)?.session_id).toBe(null);
    }),
  );

  it.effect.each(["s1", "s0"] as const)(
    "and was asked for by name is not replaced: that is an error, and tried no more (%s)",
    (told) =>
      Effect.gen(function* () {
        const { memory, boot, log, count } = yield* world;
        const { runtime } = yield* boot();
        const { id } = yield* runtime.spawn(claude({ session: "s1", restart: "permanent" }));
        let run = yield* nth(memory, 1);
        if (told === "s1") {
          // It went well once.
          begin(run, told);
          yield* settled;
          run.exit(1);
          yield* elapse(1);
          run = yield* nth(memory, 2);
        }
        notFound(run, "s1");
        yield* elapse(1);
        expect(log.worker(id)).toMatchObject({ state: "failed", error: { code: "SESSION_NOT_FOUND" } });
        expect(count(id, "session_abandoned")).toBe(0);
      }),
  );
});

const calls = (run: MemoryRun, session: string, name: string): void =>
  say(run, session, {
    type: "assistant",
    message: { id: "m1", content: [{ type: "tool_use", id: "t1", name, input: {} }] },
  });

describe("a turn that was interrupted", () => {
  it.effect("that was cut off on another node waits for an answer without a slot, in its session", () =>
    Effect.gen(function* () {
      const { memory, boot, log } = yield* world;
      const { runtime } = yield* boot({ leases: { holds: () => true } }, { running_max: 1 });
      const right = { node: "b", worker: "moved", term: 2, on_partition: "stop" } as const;
      const brought = { session_id: "s1", interrupted: { tools: ["Read", "Bash"] }, restarts_ago_ms: [] };
      const running = yield* runtime.spawn(claude({ name: "running" }));
      const first = yield* nth(memory, 1);
      // It would be queued, if it did not wait.
      const { id } = yield* runtime.spawn(claude({ name: "moved" }), { placed: { ...right, brought } });
      expect(log.worker(id)).toMatchObject({ state: "waiting", session_id: "s1" });
      expect(yield* Effect.flip(runtime.spawn(claude({ session: "s1" })))).toMatchObject({
        code: "SESSION_IN_USE",
      });
      answer(first, "s0");
      yield* until("it ends", () => log.worker(running.id)?.state === "completed");
      const other = yield* runtime.spawn(claude({ name: "other" }));
      const second = yield* nth(memory, 2);
      expect(second.request.worker_id).toBe(other.id);
      expect(log.stream(id, ["worker_question"])).toMatchObject([{ payload: { tools: ["Bash"] } }]);
      yield* runtime.answer(id, "continue");
      yield* elapse(1);
      expect(memory.runs).toHaveLength(2);
      answer(second, "s2");
      expect(argvOf(yield* nth(memory, 3))).toContain("--resume s1");
    }),
  );

  /** Its agent dies in the middle of this tool. */
  const interrupted = (over: Partial<WorkerSpecInput>, tool: string | undefined) =>
    Effect.gen(function* () {
      const machine = yield* world;
      const one = yield* machine.boot();
      const { id } = yield* one.runtime.spawn(claude(over));
      const first = yield* nth(machine.memory, 1);
      begin(first, "s1");
      if (tool !== undefined) calls(first, "s1", tool);
      yield* settled;
      first.exit("SIGKILL");
      yield* elapse(1);
      return { ...machine, ...one, id };
    });

  it.effect.each([
    [undefined, undefined, "continue"],
    [undefined, "Read", "continue"],
    [undefined, "Bash", "ask"],
    ["continue", "Bash", "continue"],
    ["ask", undefined, "ask"],
    ["never", undefined, "never"],
  ] as const)("policy %s, tool %s: %s", ([on_interrupted, tool, then]) =>
    Effect.gen(function* () {
      const { memory, log, id } = yield* interrupted({ on_interrupted }, tool);
      const states = { continue: "running", ask: "waiting", never: "failed" };
      expect(log.worker(id)?.state).toBe(states[then]);
      expect(memory.runs).toHaveLength(then === "continue" ? 2 : 1);
      if (then === "never")
        expect(log.stream(id, ["worker_ended"])).toMatchObject([{ payload: { reason: "interrupted_turn" } }]);
    }),
  );

  it.effect("is asked about, on record, with what was open and how it is answered", () =>
    Effect.gen(function* () {
      const { runtime, log, id } = yield* interrupted({ name: "fixer" }, "Bash");
      expect(log.stream(id, ["worker_question"])).toMatchObject([
        {
          payload: {
            question_id: "1.interrupted",
            about: "interrupted",
            tools: ["Bash"],
            session_id: "s1",
            answers: ["continue", "fresh", "stop"],
          },
        },
      ]);
      expect(yield* runtime.list()).toMatchObject([
        { state: "waiting", pid: null, question: { question_id: "1.interrupted", about: "interrupted" } },
      ]);
      expect(yield* runtime.why("fixer")).toMatchObject({
        reason: "its turn was interrupted while Bash ran, which may run again",
        suggestion: "say whether it should continue: agent answer fixer continue|fresh|stop",
      });
      const told = log.stream(id, ["agent.event", "worker_exited"]);
      const tools = told.filter(({ type, payload }) => type !== "agent.event" || /^Tool/.test(payload.kind));
      expect(tools).toMatchObject([
        { payload: { kind: "ToolCall" } },
        { payload: { kind: "ToolResult", data: { unended: true } } },
        { type: "worker_exited" },
      ]);
      expect(yield* Effect.flip(runtime.answer(id, "wait"))).toMatchObject({ code: "INVALID_STATE" });
    }),
  );

  it.effect.each(["continue", "fresh", "stop", "restart"] as const)("answered with %s", (said) =>
    Effect.gen(function* () {
      const { runtime, memory, log, id, count } = yield* interrupted({ max_restarts: 0 }, "Bash");
      if (said === "restart") yield* runtime.restart([id]);
      else
        expect(yield* runtime.answer(id, said)).toMatchObject({ answer: said, question_id: "1.interrupted" });
      yield* settled;
      expect(log.stream(id, ["worker_answered"])).toMatchObject([
        { payload: { answer: said === "restart" ? "continue" : said } },
      ]);
      if (said === "stop") {
        expect(log.worker(id)).toMatchObject({ state: "failed", reason: "interrupted_turn" });
        expect(memory.runs).toHaveLength(1);
        return;
      }
      const second = yield* nth(memory, 2);
      expect(second.request.argv.includes("--resume")).toBe(said !== "fresh");
      expect(second.request.stdin).toMatchObject({ text: "begin" });
      expect(count(id, "session_abandoned")).toBe(said === "fresh" ? 1 : 0);
      expect(log.worker(id)?.restarts).toBe(0);
    }),
  );

  it.effect("waits over a crash of the daemon, holds its session meanwhile, and can be killed", () =>
    Effect.gen(function* () {
      const { crash, boot, memory, log, id } = yield* interrupted({}, "Bash");
      yield* crash;
      const two = yield* boot();
      expect(yield* two.runtime.list()).toMatchObject([
        { id, state: "waiting", question: { about: "interrupted" } },
      ]);
      expect(yield* Effect.flip(two.runtime.spawn(claude({ session: "s1" })))).toMatchObject({
        code: "SESSION_IN_USE",
      });
      yield* two.runtime.answer(id, "continue");
      const second = yield* nth(memory, 2);
      begin(second, "s1");
      calls(second, "s1", "Write");
      yield* settled;
      yield* two.crash;
      // The machine went down with it.
      second.lose("machine_restarted");
      const three = yield* boot();
      yield* settled;
      expect(log.worker(id)).toMatchObject({ state: "waiting", incarnation: 2 });
      yield* three.runtime.kill({ ids: [id] });
      expect(log.worker(id)?.state).toBe("cancelled");
    }),
  );

  it.effect("is not asked about where nobody would start it again", () =>
    Effect.gen(function* () {
      const { log, id, count } = yield* interrupted({ restart: "temporary" }, "Bash");
      expect(log.worker(id)?.state).toBe("failed");
      expect(count(id, "worker_question")).toBe(0);
    }),
  );

  it.effect("of a file's worker is asked about, and its siblings go on", () =>
    Effect.gen(function* () {
      const { memory, boot, log } = yield* world;
      const { runtime, crash } = yield* boot();
      const child = (name: string, over: object = {}) => ({
        type: "worker" as const,
        name,
        spec: { ...claude(over), name: undefined },
      });
      yield* runtime.applyTree(
        TreeSpec.parse({
          name: "crew",
          file: "/crew/holdfast.yaml",
          root: {
            type: "supervisor",
            name: "crew",
            config: { strategy: "one_for_all" },
            children: [child("a"), child("b")],
          },
        }),
      );
      const [first, second] = [yield* nth(memory, 1), yield* nth(memory, 2)];
      begin(first, "s1");
      calls(first, "s1", "Bash");
      begin(second, "s2");
      yield* settled;
      first.exit("SIGKILL");
      yield* elapse(1);
      const id = first.request.worker_id;
      expect(log.worker(id)?.state).toBe("waiting");
      expect(second.signals).toEqual([]);
      yield* crash;
      const two = yield* boot();
      yield* settled;
      yield* two.runtime.answer(id, "continue");
      expect(argvOf(yield* nth(memory, 3))).toContain("--resume s1");
      yield* settled;
      expect(log.worker(id)?.state).toBe("running");
    }),
  );
});

describe("a message to an agent that had one prompt", () => {
  it.effect("is refused, and told how its conversation goes on", () =>
    Effect.gen(function* () {
      const { memory, boot, ended } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(claude({ name: "fixer" }));
      const run = yield* nth(memory, 1);
      expect(yield* Effect.flip(runtime.send(id, "and then?"))).toMatchObject({
        code: "STDIN_CLOSED",
        suggestion: "Once it has ended, continue its session: agent resume fixer PROMPT",
      });
      answer(run, "s1");
      yield* ended(id);
      expect(yield* Effect.flip(runtime.send(id, "and then?"))).toMatchObject({
        code: "INVALID_STATE",
        suggestion: "Go on in its session: agent resume fixer PROMPT",
      });
    }),
  );
});

describe("a conversation that nobody talks to", () => {
  /** It acknowledges what it reads, and answers; at the end of its input it ends. */
  const polite = (memory: MemorySpawner): void => {
    const answered = new Map<MemoryRun, number>();
    memory.onInput = (run) => {
      const lines = run.stdin.split("\n").slice(0, -1);
      for (const line of lines.slice(answered.get(run) ?? 0)) {
        begin(run, "s1");
        say(run, "s1", { ...JSON.parse(line), type: "user", isReplay: true });
        say(run, "s1", {
          type: "result",
          subtype: "success",
          is_error: false,
          result: "heard",
          num_turns: 1,
        });
      }
      answered.set(run, lines.length);
      if (run.stdinEnded) run.exit(0);
    };
  };
  const talker = (over: Partial<WorkerSpecInput> = {}) =>
    claude({ interactive: true, passivate_ms: 60_000, ...over });

  it.effect("rests after its time, without a process and a slot, and the next message wakes it", () =>
    Effect.gen(function* () {
      const { memory, boot, log } = yield* world;
      polite(memory);
      const { runtime } = yield* boot({}, { running_max: 1 });
      const { id } = yield* runtime.spawn(talker());
      yield* nth(memory, 1);
      yield* elapse(50);
      expect(log.worker(id)?.state).toBe("running");
      yield* elapse(15);
      expect(log.worker(id)).toMatchObject({ state: "waiting", reason: "passivated", pid: null });
      const other = yield* runtime.spawn(claude({ name: "other" }));
      const second = yield* nth(memory, 2);
      expect(second.request.worker_id).toBe(other.id);
      answer(second, "s2");
      yield* settled;
      yield* runtime.send(id, "are you there?");
      const third = yield* nth(memory, 3);
      expect(argvOf(third)).toContain("--resume s1");
      yield* elapse(1);
      expect(third.stdin).toContain("are you there?");
      expect(log.worker(id)).toMatchObject({ state: "running", restarts: 0, turns: 2 });
      expect(log.stream(id, ["worker_restart_scheduled"])).toMatchObject([{ payload: { reason: "woken" } }]);
    }),
  );

  it.effect("rests over a crash of the daemon, and wakes for what was sent meanwhile", () =>
    Effect.gen(function* () {
      const { memory, boot, log } = yield* world;
      polite(memory);
      const one = yield* boot();
      const { id } = yield* one.runtime.spawn(talker());
      yield* nth(memory, 1);
      yield* elapse(65);
      yield* one.crash;
      const two = yield* boot();
      yield* elapse(5);
      expect(log.worker(id)?.state).toBe("waiting");
      expect(memory.runs).toHaveLength(1);
      expect(yield* Effect.flip(two.runtime.spawn(claude({ session: "s1" })))).toMatchObject({
        code: "SESSION_IN_USE",
      });
      yield* two.runtime.send(id, "hello");
      yield* nth(memory, 2);
      yield* two.runtime.kill({ ids: [id] });
      expect(log.worker(id)?.state).toBe("cancelled");
    }),
  );

  it.effect("a message that comes while it is being stopped wakes it again", () =>
    Effect.gen(function* () {
      const { memory, boot, log } = yield* world;
      polite(memory);
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(talker());
      const first = yield* nth(memory, 1);
      yield* elapse(50);
      // It does not read the end of its input.
      memory.onInput = () => undefined;
      yield* elapse(12);
      expect(log.worker(id)?.state).toBe("stopping");
      yield* runtime.send(id, "late");
      polite(memory);
      first.exit(0);
      const second = yield* nth(memory, 2);
      yield* elapse(1);
      expect(second.stdin).toContain("late");
      expect(log.worker(id)?.state).toBe("running");
    }),
  );

  it.effect("is for conversations alone", () =>
    Effect.gen(function* () {
      const { boot } = yield* world;
      const { runtime } = yield* boot();
      for (const over of [{ interactive: false }, { kind: "command", argv: ["cat"] }])
        expect(yield* Effect.flip(runtime.spawn(talker(over)))).toMatchObject({ code: "INVALID_REQUEST" });
    }),
  );
});
