/** Kind acp through the whole runtime: a session is opened, prompts go one after the other, and its end is seen to. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { describe, expect } from "vitest";
import type { Services } from "../../src/actors/ports.ts";
import { acp } from "../../src/adapters/kinds/acp/index.ts";
import { EXIT_AFTER_END_MS, GRACE_DEFAULT_MS } from "../../src/base/limits.ts";
import type { MemoryRun } from "../../src/library/memory-spawner.ts";
import type { WorkerSpecInput } from "../../src/protocol/worker.ts";
import type { RuntimeApi } from "../../src/runtime/api.ts";
import { elapse, memoryMachine, nth, settled, spec, until } from "./memory-runtime.ts";

const adapterFor: Services["adapterFor"] = () => acp as never;
const agent = (over: Partial<WorkerSpecInput> = {}): WorkerSpecInput =>
  spec({ kind: "acp", argv: ["agent"], restart: "transient", ...over });

interface Said {
  readonly id?: string;
  readonly method?: string;
  readonly params?: { readonly sessionId?: string; readonly prompt?: readonly [{ readonly text: string }] };
  readonly result?: unknown;
}
/** The input that an agent has read: whole lines. */
const readBy = ({ stdin }: MemoryRun): Said[] =>
  stdin
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const promptsOf = (run: MemoryRun): string[] =>
  readBy(run).flatMap(({ params }) => params?.prompt?.[0].text ?? []);

const say = (run: MemoryRun, line: object): void =>
  run.print("stdout", `${JSON.stringify({ jsonrpc: "2.0", ...line })}\n`);
const initialized = (run: MemoryRun, loadSession = true): void =>
  say(run, { id: "holdfast:initialize", result: { protocolVersion: 1, agentCapabilities: { loadSession } } });
const opened = (run: MemoryRun): void => say(run, { id: "holdfast:session", result: { sessionId: "s" } });
const chunk = (run: MemoryRun, text: string): void =>
  say(run, {
    method: "session/update",
    params: {
      sessionId: "s",
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
    },
  });
/** The agent has read what it was sent last, and does not know the mark before it. */
const marked = (run: MemoryRun): void => {
  const mark = readBy(run).findLast(({ method }) => method === "_holdfast/message");
  say(run, { id: mark?.id, error: { code: -32_601, message: "Method not found" } });
};
const answered = (run: MemoryRun): void => {
  const prompt = readBy(run).findLast(({ method }) => method === "session/prompt");
  say(run, { id: prompt?.id, result: { stopReason: "end_turn" } });
};

const world = Effect.map(memoryMachine, (machine) => ({
  ...machine,
  boot: (over: Partial<Services> = {}) => machine.boot({ adapterFor, ...over }),
}));

const open = (run: MemoryRun) =>
  Effect.gen(function* () {
    yield* settled;
    initialized(run);
    yield* settled;
    opened(run);
    yield* settled;
  });

const statesOf = (runtime: RuntimeApi, id: string) =>
  Effect.map(runtime.messages(id, { limit: 100 }), ({ messages }) => messages.map(({ state }) => state));

describe("an ACP agent", () => {
  it.effect("is asked to open a session, then prompted; its input ends with its turn", () =>
    Effect.gen(function* () {
      const { memory, boot, typesOf } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(agent({ prompt: "begin", cwd: "/tmp" }));
      const run = yield* nth(memory, 1);
      yield* open(run);
      expect(readBy(run).map(({ method }) => method)).toEqual([
        "initialize",
        "session/new",
        "_holdfast/message",
        "session/prompt",
      ]);
      expect(readBy(run)[1]?.params).toEqual({ cwd: "/tmp", mcpServers: [] });
      marked(run);
      chunk(run, "hello");
      yield* settled;
      expect(run.stdinEnded).toBe(false);
      answered(run);
      yield* settled;
      expect(run.stdinEnded).toBe(true);
      run.exit(0);
      yield* settled;
      expect(yield* runtime.info(id)).toMatchObject({ state: "completed", turns: 1, session_id: "s" });
      expect(typesOf(id).filter((type) => type === "turn_completed")).toHaveLength(1);
    }),
  );

  it.effect("gets one prompt at a time, and the end of its input after the last answer", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(agent({ prompt: "one", interactive: true }));
      const run = yield* nth(memory, 1);
      yield* open(run);
      yield* runtime.send(id, "two");
      yield* runtime.send(id, undefined, { close: true });
      yield* settled;
      expect(promptsOf(run)).toEqual(["one"]);
      marked(run);
      chunk(run, "a sign of life");
      yield* settled;
      expect(yield* statesOf(runtime, id)).toEqual(["acknowledged", "accepted", "accepted"]);
      expect(promptsOf(run)).toEqual(["one"]);
      answered(run);
      yield* settled;
      expect(promptsOf(run)).toEqual(["one", "two"]);
      expect(run.stdinEnded).toBe(false);
      // An agent that does not answer marks: the answer to the prompt says it all.
      answered(run);
      yield* settled;
      expect(run.stdinEnded).toBe(true);
      run.exit(0);
      yield* settled;
      expect(yield* statesOf(runtime, id)).toEqual(["acknowledged", "acknowledged", "acknowledged"]);
      expect(yield* runtime.info(id)).toMatchObject({ state: "completed", turns: 2 });
    }),
  );

  it.effect("that does not see the end of its input is ended, and has completed all the same", () =>
    Effect.gen(function* () {
      const { memory, boot, count } = yield* world;
      memory.onSignal = (one, signal) => (signal === "SIGKILL" ? one.exit(signal) : undefined);
      const first = yield* boot();
      const { id } = yield* first.runtime.spawn(agent({ prompt: "begin" }));
      const run = yield* nth(memory, 1);
      yield* open(run);
      marked(run);
      answered(run);
      yield* elapse(EXIT_AFTER_END_MS / 1_000 - 1);
      expect(run.signals).toEqual([]);
      // The next daemon gives it as long again.
      yield* first.crash;
      const { runtime } = yield* boot();
      yield* elapse(EXIT_AFTER_END_MS / 1_000 - 1);
      expect(run.signals).toEqual([]);
      yield* elapse(2);
      expect(run.signals).toEqual(["SIGTERM"]);
      yield* elapse(GRACE_DEFAULT_MS / 1_000);
      expect(run.signals).toContain("SIGKILL");
      expect(yield* runtime.info(id)).toMatchObject({ state: "completed", turns: 1 });
      expect(count(id, "worker_cancel_requested")).toBe(0);
    }),
  );

  it.effect(
    "whose daemon died between the end of its input and its record is asked to end once, and has its grace",
    () =>
      Effect.gen(function* () {
        const { memory, boot, log } = yield* world;
        const isOver = () => memory.runs.at(0)?.stdinEnded === true;
        const commit: typeof log.commit = (...given) =>
          isOver() ? new Promise<never>(() => undefined) : log.commit(...given);
        const first = yield* boot({ log: { ...log, commit } });
        yield* first.runtime.spawn(agent({ prompt: "begin" }));
        const run = yield* nth(memory, 1);
        yield* open(run);
        marked(run);
        answered(run);
        yield* until("its input has ended", isOver);
        yield* first.crash;
        yield* boot();
        yield* elapse(EXIT_AFTER_END_MS / 1_000 + 1);
        expect(run.signals).toEqual(["SIGTERM"]);
      }),
  );

  it.effect("that is still in a turn is not taken for one that lingers", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(agent({ prompt: "begin", interactive: true }));
      const run = yield* nth(memory, 1);
      yield* open(run);
      marked(run);
      yield* settled;
      yield* runtime.send(id, undefined, { close: true });
      yield* elapse(EXIT_AFTER_END_MS / 1_000 + 2);
      expect([run.stdinEnded, run.signals]).toEqual([false, []]);
      answered(run);
      yield* elapse(EXIT_AFTER_END_MS / 1_000 + 1);
      expect(run.signals).toEqual(["SIGTERM"]);
    }),
  );

  it.effect("goes on in its session after a crash, and is given again what it had not begun", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(agent({ prompt: "one", interactive: true, restart: "permanent" }));
      const first = yield* nth(memory, 1);
      yield* open(first);
      marked(first);
      chunk(first, "begun");
      answered(first);
      yield* settled;
      yield* runtime.send(id, "two");
      yield* settled;
      marked(first);
      yield* settled;
      first.exit(1);
      yield* elapse(1);
      const second = yield* nth(memory, 2);
      yield* settled;
      initialized(second);
      yield* until("it loads", () => readBy(second).some(({ method }) => method === "session/load"));
      expect(readBy(second)[1]?.params).toMatchObject({ sessionId: "s" });
      chunk(second, "of before");
      say(second, { id: "holdfast:session", result: null });
      yield* until("it is prompted", () => promptsOf(second).length > 0);
      expect(promptsOf(second)).toEqual(["two"]);
    }),
  );
});
