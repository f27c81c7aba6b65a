/** Messages through the whole runtime, to agents that say so when they have one: over stops, crashes and full disks. */
import { it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import type { Services } from "../../../src/actors/ports.ts";
import { claudeCode } from "../../../src/adapters/kinds/claude-code/index.ts";
import { messages as protocol } from "../../../src/adapters/kinds/claude-code/messages.ts";
import { command } from "../../../src/adapters/kinds/command/index.ts";
import { CLOCK_TICK_MS, MESSAGES_OPEN_MAX, RECONCILE_PERIOD_MS } from "../../../src/base/limits.ts";
import type { MemoryRun } from "../../../src/library/memory-spawner.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { WorkerSpecInput } from "../../../src/protocol/worker.ts";
import type { RuntimeApi } from "../../../src/runtime/api.ts";
import { promptId } from "../../../src/supervisor/messages/messages.ts";
import { elapse, memoryMachine, nth, settled, spec, until } from "../memory-runtime.ts";

const adapterFor: Services["adapterFor"] = (kind) => (kind === "command" ? command : (claudeCode as never));
const talker = (over: Partial<WorkerSpecInput> = {}): WorkerSpecInput =>
  spec({ kind: "claude_code", argv: [], interactive: true, restart: "transient", ...over });

interface Read {
  readonly uuid: string;
  readonly message: { readonly content: readonly [{ readonly text: string }] };
}
/** The input that an agent has read: whole lines. */
const linesOf = ({ stdin }: MemoryRun): Read[] =>
  stdin
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const textsOf = (run: MemoryRun): string[] => linesOf(run).map(({ message }) => message.content[0].text);

const say = (run: MemoryRun, line: object): void =>
  run.print("stdout", `${JSON.stringify({ session_id: "s", ...line })}\n`);
const acknowledge = (run: MemoryRun, n: number): void =>
  say(run, { ...linesOf(run)[n], type: "user", isReplay: true });
/** One turn for the nth line that it has read. */
const turn = (run: MemoryRun, n: number): void => {
  say(run, { type: "system", subtype: "init" });
  acknowledge(run, n);
  const text = `heard ${textsOf(run)[n]}`;
  say(run, { type: "assistant", message: { id: `m${n}`, content: [{ type: "text", text }] } });
  say(run, {
    type: "result",
    subtype: "success",
    is_error: false,
    result: text,
    num_turns: 1,
    usage: { output_tokens: 3 },
  });
};

const world = Effect.map(memoryMachine, (machine) => ({
  ...machine,
  boot: (over: Partial<Services> = {}) => machine.boot({ adapterFor, ...over }),
  /** State by state, as it was recorded. */
  told: (id: string): string[] =>
    machine.log
      .stream(id, ["worker_message"])
      .flatMap((record) => (record.type === "worker_message" ? [record.payload.state] : [])),
}));

const rowsOf = (runtime: RuntimeApi, id: string) =>
  Effect.map(runtime.messages(id, { limit: 100 }), ({ messages }) => messages);
const statesOf = (runtime: RuntimeApi, id: string) =>
  Effect.map(rowsOf(runtime, id), (rows) => rows.map(({ state }) => state));

describe("a message to an agent that acknowledges", () => {
  it.effect("is accepted, delivered and acknowledged, in this order, and its turn is counted", () =>
    Effect.gen(function* () {
      const { memory, boot, told } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(talker({ prompt: "begin" }));
      const run = yield* nth(memory, 1);
      yield* until("the prompt is there", () => textsOf(run).length === 1);
      turn(run, 0);
      yield* settled;
      expect(yield* runtime.send(id, "go on\n")).toMatchObject({ state: "delivered", effect: "created" });
      expect(textsOf(run)).toEqual(["begin", "go on"]);
      turn(run, 1);
      yield* settled;
      expect(told(id)).toEqual([
        "accepted",
        "delivered",
        "acknowledged",
        "accepted",
        "delivered",
        "acknowledged",
      ]);
      expect(
        (yield* rowsOf(runtime, id)).map(({ message_id, turn: answered }) => [message_id, answered]),
      ).toEqual([
        [promptId(id, "begin"), 1],
        [expect.any(String), 2],
      ]);
      expect((yield* runtime.info(id)).turns).toBe(2);
    }),
  );

  it.effect("waits for an agent while none runs, and comes after the prompt", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* world;
      const { runtime } = yield* boot();
      const release = memory.hold();
      const { id } = yield* runtime.spawn(talker({ prompt: "begin" }));
      expect(yield* runtime.send(id, "early")).toMatchObject({ state: "accepted" });
      release();
      const run = yield* nth(memory, 1);
      yield* until("both are there", () => textsOf(run).length === 2);
      expect(textsOf(run)).toEqual(["begin", "early"]);
    }),
  );

  it.effect(
    "that a crash of the agent left without an acknowledgement is given to the next one, and only that",
    () =>
      Effect.gen(function* () {
        const { memory, boot } = yield* world;
        const { runtime } = yield* boot();
        const { id } = yield* runtime.spawn(talker({ prompt: "begin", restart: "permanent" }));
        const first = yield* nth(memory, 1);
        yield* until("the prompt is there", () => textsOf(first).length === 1);
        turn(first, 0);
        yield* settled;
        yield* runtime.send(id, "lost");
        first.exit(1);
        yield* elapse(1);
        const second = yield* nth(memory, 2);
        yield* until("it is there again", () => textsOf(second).length === 1);
        expect(second.request.argv).toContain("--resume");
        expect(linesOf(second)).toEqual([linesOf(first)[1]]);
        acknowledge(second, 0);
        yield* settled;
        expect(yield* rowsOf(runtime, id)).toMatchObject([
          { state: "acknowledged", deliveries: 1, incarnation: 1 },
          { state: "acknowledged", deliveries: 2, incarnation: 2 },
        ]);
      }),
  );

  it.effect(
    "is unknown where its worker ended before, and undeliverable where it never reached an agent",
    () =>
      Effect.gen(function* () {
        const { memory, boot } = yield* world;
        const { runtime } = yield* boot();
        const reached = yield* runtime.spawn(talker({ restart: "temporary" }));
        const run = yield* nth(memory, 1);
        yield* runtime.send(reached.id, "x");
        run.exit(1);
        yield* runtime.wait([reached.id]);
        yield* settled;
        expect(yield* statesOf(runtime, reached.id)).toEqual(["unknown"]);
        const release = memory.hold();
        const never = yield* runtime.spawn(talker());
        yield* runtime.send(never.id, "x");
        const killing = yield* Effect.forkChild(runtime.kill({ ids: [never.id] }));
        release();
        yield* Fiber.join(killing);
        yield* settled;
        expect(yield* statesOf(runtime, never.id)).not.toContain("accepted");
        expect((yield* rowsOf(runtime, never.id)).every(({ open }) => !open)).toBe(true);
      }),
  );

  it.effect("holds a secret: the log has it masked, the agent reads it", () =>
    Effect.gen(function* () {
      const { memory, log, boot } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(talker());
      const run = yield* nth(memory, 1);
      const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
      yield* runtime.send(id, `use ${secret} for it`);
      expect(textsOf(run)).toEqual([`use ${secret} for it`]);
      expect(JSON.stringify(log.stream(id))).not.toContain(secret);
    }),
  );
});

describe("the messages to an agent", () => {
  it.effect("are told page by page: the newest first, each in the order of acceptance, without a gap", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(talker());
      yield* nth(memory, 1);
      const sent: string[] = [];
      for (const text of ["a", "b", "c", "d", "e"]) sent.push((yield* runtime.send(id, text)).message_id);
      const page = (cursor?: string) =>
        Effect.map(runtime.messages(id, { limit: 2, cursor }), ({ messages, cursor: next }) => ({
          ids: messages.map(({ message_id }) => message_id),
          next,
        }));
      const newest = yield* page();
      expect(newest).toEqual({ ids: sent.slice(3), next: expect.any(String) });
      yield* runtime.send(id, "f"); // what comes meanwhile moves no page
      const middle = yield* page(newest.next);
      expect(middle).toEqual({ ids: sent.slice(1, 3), next: expect.any(String) });
      expect(yield* page(middle.next)).toEqual({ ids: sent.slice(0, 1), next: undefined });
      expect((yield* runtime.messages(id, { limit: 6 })).cursor).toBeUndefined();
    }),
  );
});

/** Its records of messages that are in this state are refused, as by a daemon that dies just then. */
const refusing = (log: Services["log"], state: string): Services["log"] =>
  new Proxy(log, {
    get: (target, key) =>
      key === "commit"
        ? (drafts: never[], options: never) =>
            (drafts as { payload: { state?: string } }[]).some(({ payload }) => payload.state === state)
              ? Promise.reject(new Error("the daemon is dying"))
              : target.commit(drafts, options)
        : Reflect.get(target, key),
  });

describe("the daemon is killed", () => {
  it.effect("in the middle of a write: the next one writes the rest, and nothing twice", () =>
    Effect.gen(function* () {
      const { memory, boot, told } = yield* world;
      const first = yield* boot();
      const { id } = yield* first.runtime.spawn(talker());
      const run = yield* nth(memory, 1);
      yield* first.runtime.send(id, "one");
      run.tearNext = 40;
      yield* Effect.forkChild(first.runtime.send(id, "two"));
      yield* until("it is torn", () => !run.stdin.endsWith("\n"));
      yield* first.crash;
      const { runtime } = yield* boot();
      yield* until("it is whole", () => run.stdin.endsWith("\n"));
      yield* runtime.send(id, "three");
      expect(textsOf(run)).toEqual(["one", "two", "three"]);
      expect(told(id).filter((state) => state === "delivered")).toHaveLength(3);
    }),
  );

  it.effect("between a write and its record: the next one only records it", () =>
    Effect.gen(function* () {
      const { memory, boot, told } = yield* world;
      const first = yield* boot();
      const { id } = yield* first.runtime.spawn(talker());
      const run = yield* nth(memory, 1);
      run.tearNext = protocol.frame("0".repeat(26), "one").length;
      yield* Effect.forkChild(first.runtime.send(id, "one"));
      yield* until("it is there", () => run.stdin.endsWith("\n"));
      yield* first.crash;
      const { runtime } = yield* boot();
      yield* until("it is recorded", () => told(id).includes("delivered"));
      acknowledge(run, 0);
      yield* settled;
      expect(textsOf(run)).toEqual(["one"]);
      expect(yield* statesOf(runtime, id)).toEqual(["acknowledged"]);
    }),
  );

  it.effect("and the agent ends meanwhile: what it said before counts, the rest is told", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* world;
      const first = yield* boot();
      const { id } = yield* first.runtime.spawn(talker({ restart: "temporary" }));
      const run = yield* nth(memory, 1);
      yield* first.runtime.send(id, "one");
      yield* first.runtime.send(id, "two");
      yield* first.crash;
      turn(run, 0);
      run.exit(1);
      const { runtime } = yield* boot();
      yield* runtime.wait([id]);
      yield* settled;
      expect(yield* statesOf(runtime, id)).toEqual(["acknowledged", "unknown"]);
    }),
  );

  it.effect("between an acknowledgement and the record of the delivery: the next message is whole", () =>
    Effect.gen(function* () {
      const { memory, log, services, boot, told } = yield* world;
      const first = yield* boot({ ...services, adapterFor, log: refusing(log, "delivered") });
      const { id } = yield* first.runtime.spawn(talker());
      const run = yield* nth(memory, 1);
      yield* Effect.forkChild(first.runtime.send(id, "one"));
      yield* until("it is there", () => run.stdin.endsWith("\n"));
      turn(run, 0);
      yield* until("it is acknowledged", () => told(id).includes("acknowledged"));
      yield* first.crash;
      expect(told(id)).not.toContain("delivered");
      const { runtime } = yield* boot();
      yield* runtime.send(id, "two");
      yield* until("the next one is delivered", () => told(id).includes("delivered"));
      expect(textsOf(run)).toEqual(["one", "two"]);
      expect(yield* statesOf(runtime, id)).toEqual(["acknowledged", "delivered"]);
    }),
  );

  it.effect("before the last word was recorded: the next one says it", () =>
    Effect.gen(function* () {
      const { memory, log, services, boot } = yield* world;
      const first = yield* boot({ ...services, adapterFor, log: refusing(log, "unknown") });
      const { id } = yield* first.runtime.spawn(talker({ restart: "temporary" }));
      const run = yield* nth(memory, 1);
      yield* first.runtime.send(id, "x");
      run.exit(1);
      yield* first.runtime.wait([id]);
      yield* settled;
      yield* first.crash;
      expect(log.openMessages(id)).toHaveLength(1);
      const { runtime } = yield* boot();
      expect(yield* statesOf(runtime, id)).toEqual(["unknown"]);
    }),
  );
});

describe("a store that cannot be read for a moment", () => {
  it.effect("puts the last words off, and is nobody's defect", () =>
    Effect.gen(function* () {
      const { memory, log, services, boot } = yield* world;
      let isBroken = false;
      const fail = () => new HoldfastError("STORE_FAILED", "The event log was deleted.");
      const failing = new Proxy(log, {
        get: (target, key) => {
          if (key === "openMessages")
            return (worker?: string) => {
              if (isBroken && worker === undefined) throw fail();
              return target.openMessages(worker);
            };
          if (key !== "commit") return Reflect.get(target, key);
          return (drafts: { payload: { state?: string } }[], options: never) =>
            isBroken && drafts.some(({ payload }) => payload.state === "unknown")
              ? Promise.reject(fail())
              : target.commit(drafts as never, options);
        },
      });
      const { runtime } = yield* boot({ ...services, adapterFor, log: failing, views: failing });
      const { id } = yield* runtime.spawn(talker({ restart: "temporary" }));
      const run = yield* nth(memory, 1);
      yield* runtime.send(id, "x");
      isBroken = true;
      run.exit(1);
      yield* runtime.wait([id]);
      yield* elapse((2 * RECONCILE_PERIOD_MS) / 1000);
      expect(services.defects.counted().count).toBe(0);
      expect(yield* statesOf(runtime, id)).toEqual(["delivered"]);
      isBroken = false;
      yield* elapse((2 * RECONCILE_PERIOD_MS) / 1000);
      expect(yield* statesOf(runtime, id)).toEqual(["unknown"]);
    }),
  );
});

describe("a run directory that cannot be read for a moment", () => {
  /** Its agents know a secret; the messages kept for them cannot be read while `isBroken`. */
  const withSecret = (services: Services) => {
    const state = { isBroken: true };
    const files: Services["files"] = {
      ...services.files,
      loadMessage: (worker, message) =>
        state.isBroken
          ? Promise.reject(new Error("EMFILE: too many open files"))
          : services.files.loadMessage(worker, message),
    };
    const prepare: Services["prepare"] = (...asked) =>
      Effect.map(services.prepare(...asked), (prepared) => ({ ...prepared, secrets: ["a-known-secret"] }));
    return { state, files, prepare };
  };

  it.effect("holds up the message that is kept in it, and ends no worker", () =>
    Effect.gen(function* () {
      const { memory, services, boot } = yield* world;
      const { state, files, prepare } = withSecret(services);
      const { runtime } = yield* boot({ files, prepare });
      const { id } = yield* runtime.spawn(talker());
      const run = yield* nth(memory, 1);
      expect(yield* runtime.send(id, "use a-known-secret")).toMatchObject({ state: "accepted" });
      state.isBroken = false;
      yield* elapse((2 * CLOCK_TICK_MS) / 1000);
      expect(textsOf(run)).toEqual(["use a-known-secret"]);
    }),
  );

  it.effect("holds up what comes behind it, where the message may have been written already", () =>
    Effect.gen(function* () {
      const { memory, log, services, boot } = yield* world;
      const { state, files, prepare } = withSecret(services);
      const first = yield* boot({ ...services, adapterFor, prepare, log: refusing(log, "delivered") });
      const { id } = yield* first.runtime.spawn(talker());
      const run = yield* nth(memory, 1);
      yield* Effect.forkChild(first.runtime.send(id, "use a-known-secret"));
      yield* until("it is there", () => run.stdin.endsWith("\n"));
      yield* first.crash;
      yield* boot({ files, prepare });
      say(run, { type: "control_request", request_id: "h1", request: { subtype: "hook_callback" } });
      yield* elapse((2 * CLOCK_TICK_MS) / 1000);
      expect(run.stdin).not.toContain("h1");
      state.isBroken = false;
      yield* elapse((2 * CLOCK_TICK_MS) / 1000);
      const said = run.stdin.trimEnd().split("\n");
      expect(said.map((line) => JSON.parse(line).type)).toEqual(["user", "control_response"]);
    }),
  );
});

describe("the end of an agent's input", () => {
  it.effect(
    "comes after all messages; nothing can be sent any more, and it is told once the worker has ended",
    () =>
      Effect.gen(function* () {
        const { memory, boot } = yield* world;
        const { runtime } = yield* boot();
        const { id } = yield* runtime.spawn(talker({ restart: "temporary" }));
        const run = yield* nth(memory, 1);
        let ended = false;
        memory.onInput = () => {
          ended = textsOf(run).length === 1;
        };
        yield* runtime.send(id, "last", { close: true });
        yield* until("the input has ended", () => ended);
        const refused = yield* Effect.flip(runtime.send(id, "more"));
        expect(refused).toMatchObject({ code: "STDIN_CLOSED" });
        turn(run, 0);
        run.exit(0);
        yield* runtime.wait([id]);
        yield* settled;
        expect(yield* statesOf(runtime, id)).toEqual(["acknowledged", "acknowledged"]);
      }),
  );
});

describe("a command", () => {
  it.effect("acknowledges nothing: what is in its input is delivered, and no more is ever told", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(
        spec({ interactive: true, prompt: "begin\n", restart: "temporary" }),
      );
      const run = yield* nth(memory, 1);
      yield* runtime.send(id, "a\n");
      expect(run.stdin).toBe("begin\na\n");
      run.exit(0);
      yield* runtime.wait([id]);
      yield* settled;
      expect(yield* rowsOf(runtime, id)).toMatchObject([{ state: "delivered", open: false }]);
      expect(yield* Effect.flip(runtime.ask(id, "x"))).toMatchObject({ code: "UNSUPPORTED_CAPABILITY" });
    }),
  );
});

it.effect(
  "the prompt of a conversation that ended before it was taken in is said again to whom a person restarts",
  () =>
    Effect.gen(function* () {
      const { memory, boot, told } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(talker({ prompt: "begin", restart: "temporary" }));
      for (const n of [1, 2]) {
        const run = yield* nth(memory, n);
        yield* until("the prompt is there", () => textsOf(run).length === 1);
        expect(textsOf(run)).toEqual(["begin"]);
        run.exit(1);
        yield* until("it has ended", () => told(id).at(-1) === "unknown");
        yield* runtime.restart([id]);
      }
      const last = yield* nth(memory, 3);
      yield* until("the prompt is there", () => textsOf(last).length === 1);
      turn(last, 0);
      yield* settled;
      expect(yield* rowsOf(runtime, id)).toMatchObject([
        { message_id: promptId(id, "begin"), state: "acknowledged", deliveries: 3, reason: null },
      ]);
      expect(told(id).filter((state) => state === "unknown")).toHaveLength(2);
      last.exit(1);
      yield* settled;
      yield* runtime.restart([id]);
      const after = yield* nth(memory, 4);
      yield* settled;
      expect(textsOf(after)).toEqual([]);
    }),
);

it.effect("the end of the input that still waits is not for the agent that a person starts instead", () =>
  Effect.gen(function* () {
    const { memory, boot } = yield* world;
    const held = { ...claudeCode, messages: { ...protocol, one_at_a_time: true } };
    const { runtime } = yield* boot({ adapterFor: () => held as never });
    const { id } = yield* runtime.spawn(talker({ prompt: "begin" }));
    const first = yield* nth(memory, 1);
    yield* until("the prompt is there", () => textsOf(first).length === 1);
    yield* runtime.send(id, undefined, { close: true });
    expect(first.stdinEnded).toBe(false);
    yield* runtime.restart([id]);
    const second = yield* nth(memory, 2);
    yield* settled;
    yield* elapse(3);
    expect(second.stdinEnded).toBe(false);
    expect((yield* rowsOf(runtime, id)).at(-1)).toMatchObject({ closes: true, state: "undeliverable" });
    yield* runtime.send(id, undefined, { close: true });
    turn(second, 0);
    yield* elapse(3);
    expect(second.stdinEnded).toBe(true);
  }),
);

describe("the end of a turn", () => {
  it.effect("is asked for once in each turn", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* world;
      const interrupt = ({ turns_started, turns_ended }: { turns_started: number; turns_ended: number }) =>
        turns_started > turns_ended ? '{"stop":true}\n' : undefined;
      const kind = { ...claudeCode, messages: { ...protocol, interrupt } };
      const { runtime } = yield* boot({ adapterFor: () => kind as never });
      const { id } = yield* runtime.spawn(talker({ prompt: "begin" }));
      const run = yield* nth(memory, 1);
      const stops = () => run.stdin.split("\n").filter((line) => line === '{"stop":true}').length;
      for (const n of [1, 2]) {
        yield* until("it has a message", () => run.stdin.split("\n").length > 2 * n - 1);
        say(run, { type: "system", subtype: "init" });
        yield* settled;
        expect(yield* runtime.cancel(id)).toMatchObject({ effect: "updated" });
        yield* runtime.cancel(id);
        expect(stops()).toBe(n);
        say(run, { type: "result", subtype: "error_during_execution", is_error: true, num_turns: 1 });
        yield* settled;
        yield* runtime.send(id, "go on");
      }
    }),
  );

  it.effect("cannot be asked for where the agent's input has ended", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(talker({ prompt: "begin" }));
      const run = yield* nth(memory, 1);
      yield* until("the prompt is there", () => textsOf(run).length === 1);
      say(run, { type: "system", subtype: "init" });
      acknowledge(run, 0);
      yield* settled;
      yield* runtime.send(id, undefined, { close: true });
      const before = run.stdin;
      expect(yield* Effect.flip(runtime.cancel(id))).toMatchObject({
        code: "INVALID_STATE",
        message: expect.stringContaining("nothing more reaches its agent"),
      });
      expect(run.stdin).toBe(before);
    }),
  );
});

it.effect("the same key is one message, also of two who ask at once; the queue is bounded", () =>
  Effect.gen(function* () {
    const { memory, boot } = yield* world;
    const { runtime } = yield* boot();
    const { id } = yield* runtime.spawn(talker());
    const run = yield* nth(memory, 1);
    const key = { idempotency_key: "k" };
    const both = yield* Effect.all([runtime.send(id, "a", key), runtime.send(id, "a", key)], {
      concurrency: "unbounded",
    });
    expect(new Set(both.map(({ message_id }) => message_id)).size).toBe(1);
    expect(textsOf(run)).toHaveLength(1);
    const reused = [
      runtime.send(id, "b", key),
      runtime.ask(id, "b", key),
      runtime.send(id, undefined, { ...key, close: true }),
    ];
    for (const another of reused)
      expect(
        yield* Effect.flip(Effect.asVoid(another as Effect.Effect<unknown, HoldfastError>)),
      ).toMatchObject({
        code: "VERSION_CONFLICT",
        message: "The idempotency key k was given to another request.",
      });
    expect(textsOf(run)).toHaveLength(1);
    const many = Array.from({ length: MESSAGES_OPEN_MAX + 4 }, (_, n) =>
      Effect.exit(runtime.send(id, `${n}`)),
    );
    const sent = yield* Effect.all(many, { concurrency: "unbounded" });
    expect(sent.filter(({ _tag }) => _tag === "Success")).toHaveLength(MESSAGES_OPEN_MAX - 1);
    expect(yield* Effect.flip(runtime.send(id, "x"))).toMatchObject({ code: "QUEUE_FULL" });
  }),
);

it.effect("an agent between two turns is not stuck; one that has a message and says nothing is", () =>
  Effect.gen(function* () {
    const { memory, boot, count } = yield* world;
    const { runtime } = yield* boot();
    const { id } = yield* runtime.spawn(talker({ stall_ms: 5_000 }));
    const run = yield* nth(memory, 1);
    yield* until("it waits", () => true);
    yield* elapse(30);
    expect(count(id, "worker_stalled")).toBe(0);
    expect((yield* runtime.info(id)).reason).toBe("waits for a message");
    yield* runtime.send(id, "a");
    yield* elapse(3);
    turn(run, 0);
    yield* settled;
    yield* elapse(30);
    expect(count(id, "worker_stalled")).toBe(0);
    yield* runtime.send(id, "b");
    yield* elapse(8);
    expect(count(id, "worker_stalled")).toBe(1);
  }),
);

describe("ask", () => {
  it.effect("answers with the text of the turn that the message was taken into", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(talker());
      const run = yield* nth(memory, 1);
      const asking = yield* Effect.forkChild(runtime.ask(id, "what?\n"));
      yield* until("it is asked", () => textsOf(run).length === 1);
      turn(run, 0);
      expect(yield* Fiber.join(asking)).toMatchObject({
        id,
        turn: 1,
        text: "heard what?",
        usage: { output_tokens: 3 },
      });
    }),
  );

  it.effect("fails when its time is up, and when the agent ends in the turn", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* world;
      const { runtime } = yield* boot();
      const { id } = yield* runtime.spawn(talker({ restart: "temporary" }));
      const run = yield* nth(memory, 1);
      const late = yield* Effect.forkChild(Effect.flip(runtime.ask(id, "a", { timeout_ms: 1_000 })));
      yield* until("it is asked", () => textsOf(run).length === 1);
      yield* TestClock.adjust("2 seconds");
      expect(yield* Fiber.join(late)).toMatchObject({ code: "TIMEOUT" });
      const asking = yield* Effect.forkChild(Effect.flip(runtime.ask(id, "b")));
      yield* until("it is asked again", () => textsOf(run).length === 2);
      acknowledge(run, 1);
      yield* settled;
      run.exit(1);
      expect(yield* Fiber.join(asking)).toMatchObject({ code: "AGENT_FAILED" });
    }),
  );
});
