/** Mailboxes through the whole runtime, on a real log and a test's clock: leases, waiting polls, asks and the next daemon. */
import { it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import {
  MAILBOX_ASK_DEFAULT_MS,
  MAILBOX_ATTEMPTS_MAX,
  MAILBOX_FIRST_POLL_MS,
  MAILBOX_LEASE_DEFAULT_MS,
  MAILBOX_MESSAGES_MAX,
} from "../../../src/base/limits.ts";
import type { Caller } from "../../../src/protocol/caller.ts";
import type { MailPollReply } from "../../../src/protocol/replies/mail.ts";
import type { RuntimeApi } from "../../../src/runtime/api.ts";
import { memoryMachine, memoryRuntime, nth, settled, spec, until } from "../memory-runtime.ts";

const started = Effect.gen(function* () {
  const world = yield* memoryRuntime;
  const { id } = yield* world.runtime.spawn(spec({ name: "fixer" }));
  const self: Caller = { type: "worker", worker_id: id, incarnation: 1 };
  return { ...world, id, self };
});

const payloads = ({ messages }: MailPollReply): unknown[] => messages.map(({ payload }) => payload);
const tokenOf = ({ messages }: MailPollReply): number => messages[0]!.token;
const codeOf = <A>(work: Effect.Effect<A, { readonly code: string }>) =>
  Effect.map(Effect.flip(work), ({ code }) => code);

describe("a message", () => {
  it.effect(
    "is polled by the worker that it is for, without an address, and gone when it is acknowledged",
    () =>
      Effect.gen(function* () {
        const { runtime, id, self } = yield* started;
        const sent = yield* runtime.mailbox.send({ to: "fixer", payload: { do: "lint" } });
        expect(sent).toMatchObject({ to: id, effect: "created" });
        const polled = yield* runtime.mailbox.poll({ caller: self });
        expect(polled.messages).toMatchObject([
          {
            message_id: sent.message_id,
            from: "user",
            type: "cmd",
            payload: { do: "lint" },
            state: "leased",
            attempt: 1,
            attempts_max: MAILBOX_ATTEMPTS_MAX,
            holder: `worker:${id}`,
          },
        ]);
        expect((yield* runtime.mailbox.poll({ caller: self })).messages).toEqual([]);
        const token = tokenOf(polled);
        expect(yield* runtime.mailbox.ack(token, { caller: self })).toEqual({
          message_id: sent.message_id,
          effect: "updated",
        });
        expect(yield* codeOf(runtime.mailbox.ack(token, { caller: self }))).toBe("LEASE_LOST");
        expect((yield* runtime.mailbox.list({ id })).messages).toEqual([]);
        expect(yield* codeOf(runtime.mailbox.show(sent.message_id))).toBe("MESSAGE_NOT_FOUND");
      }),
  );

  it.effect("is delivered again when its lease is over, and wakes the poll that waits", () =>
    Effect.gen(function* () {
      const { runtime, id, self } = yield* started;
      yield* runtime.mailbox.send({ to: id, payload: 1 });
      const first = yield* runtime.mailbox.poll({ caller: self });
      const waiting = yield* Effect.forkChild(runtime.mailbox.poll({ caller: self, wait_ms: 3_600_000 }));
      yield* TestClock.adjust(MAILBOX_LEASE_DEFAULT_MS - 1);
      yield* settled;
      yield* TestClock.adjust(1);
      const second = yield* Fiber.join(waiting);
      expect(second.messages).toMatchObject([{ attempt: 2 }]);
      expect(yield* codeOf(runtime.mailbox.ack(tokenOf(first), { caller: self }))).toBe("LEASE_LOST");
    }),
  );

  it.effect("reaches a poll that waits, and no poll that has ended its wait", () =>
    Effect.gen(function* () {
      const { runtime, id, self } = yield* started;
      const gone = yield* Effect.forkChild(runtime.mailbox.poll({ caller: self, wait_ms: 1_000 }));
      yield* settled;
      yield* TestClock.adjust("1 second");
      expect((yield* Fiber.join(gone)).messages).toEqual([]);
      const waiting = yield* Effect.forkChild(runtime.mailbox.poll({ caller: self, wait_ms: 60_000 }));
      yield* settled;
      yield* runtime.mailbox.send({ to: id, payload: "hello" });
      expect(payloads(yield* Fiber.join(waiting))).toEqual(["hello"]);
    }),
  );

  it.effect("that nobody acknowledges is a dead letter, which is shown, sent again and dropped", () =>
    Effect.gen(function* () {
      const { runtime, id, self } = yield* started;
      const { message_id } = yield* runtime.mailbox.send({ to: id, payload: "poison" });
      for (let n = 0; n < MAILBOX_ATTEMPTS_MAX; n += 1) {
        const token = tokenOf(yield* runtime.mailbox.poll({ caller: self }));
        yield* runtime.mailbox.nack(token, { caller: self, note: `try ${n}` });
      }
      expect((yield* runtime.mailbox.poll({ caller: self })).messages).toEqual([]);
      expect((yield* runtime.mailbox.list({ id })).messages).toEqual([]);
      const dead = yield* runtime.mailbox.list({ id, dead: true });
      expect(dead.messages).toMatchObject([
        { message_id, state: "dead", cause: "attempts", note: `try ${MAILBOX_ATTEMPTS_MAX - 1}` },
      ]);
      expect(yield* runtime.mailbox.resend(message_id.slice(0, 20))).toMatchObject({ message_id });
      expect(payloads(yield* runtime.mailbox.poll({ caller: self }))).toEqual(["poison"]);
      expect(yield* codeOf(runtime.mailbox.resend(message_id))).toBe("INVALID_STATE");
      yield* runtime.mailbox.drop(message_id);
      expect(yield* codeOf(runtime.mailbox.show(message_id))).toBe("MESSAGE_NOT_FOUND");
    }),
  );

  it.effect("dies by itself when its time to live is over", () =>
    Effect.gen(function* () {
      const { runtime, id, log } = yield* started;
      yield* runtime.mailbox.send({ to: id, payload: 1, ttl_ms: 1_000 });
      yield* settled;
      yield* TestClock.adjust("1 second");
      yield* until(
        "its death is on record",
        () => log.read(0, 1_000, { types: ["mailbox_died"] }).records.length === 1,
      );
      expect((yield* runtime.mailbox.list({ id, dead: true })).messages).toMatchObject([
        { cause: "expired" },
      ]);
    }),
  );

  it.effect("under a key is one message, and another one under the same key is refused", () =>
    Effect.gen(function* () {
      const { runtime, id, self } = yield* started;
      const first = yield* runtime.mailbox.send({ to: id, payload: { a: 1, b: 2 }, idempotency_key: "k" });
      const again = { to: id, payload: { b: 2, a: 1 }, idempotency_key: "k" };
      expect(yield* runtime.mailbox.send(again)).toEqual({ ...first, effect: "noop" });
      expect(yield* codeOf(runtime.mailbox.send({ ...again, payload: 3 }))).toBe("VERSION_CONFLICT");
      const token = tokenOf(yield* runtime.mailbox.poll({ caller: self }));
      yield* runtime.mailbox.ack(token, { caller: self });
      expect(yield* runtime.mailbox.send(again)).toEqual({ ...first, effect: "noop" });
      expect((yield* runtime.mailbox.poll({ caller: self })).messages).toEqual([]);
    }),
  );

  it.effect("to a mailbox that is full is refused, and to a worker that has ended", () =>
    Effect.gen(function* () {
      const { runtime, id, memory } = yield* started;
      const all = Array.from({ length: MAILBOX_MESSAGES_MAX }, (_, payload) =>
        runtime.mailbox.send({ to: id, payload }),
      );
      yield* Effect.all(all, { concurrency: "unbounded" });
      expect(yield* codeOf(runtime.mailbox.send({ to: id, payload: "more" }))).toBe("QUEUE_FULL");
      const other = yield* runtime.spawn(spec({ restart: "temporary" }));
      (yield* nth(memory, 2)).exit(0);
      yield* runtime.wait([other.id]);
      expect(yield* codeOf(runtime.mailbox.send({ to: other.id, payload: 1 }))).toBe("INVALID_STATE");
    }),
  );

  it.effect("has its secrets masked", () =>
    Effect.gen(function* () {
      const { runtime, id, self } = yield* started;
      yield* runtime.mailbox.send({ to: id, payload: { password: "hunter2hunter2", note: "plain" } });
      expect(payloads(yield* runtime.mailbox.poll({ caller: self }))).toEqual([
        { password: "***", note: "plain" },
      ]);
    }),
  );
});

describe("a mailbox", () => {
  it.effect("is read by its worker and by the user, and by no other worker", () =>
    Effect.gen(function* () {
      const { runtime, id, self } = yield* started;
      const other = yield* runtime.spawn(spec());
      const stranger: Caller = { type: "worker", worker_id: other.id, incarnation: 1 };
      yield* runtime.mailbox.send({ to: id, payload: 1, caller: stranger });
      expect(yield* codeOf(runtime.mailbox.poll({ id, caller: stranger }))).toBe("POLICY_VIOLATION");
      expect(yield* codeOf(runtime.mailbox.list({ id, caller: stranger }))).toBe("POLICY_VIOLATION");
      expect(yield* codeOf(runtime.mailbox.poll({ id: "user", caller: self }))).toBe("POLICY_VIOLATION");
      const polled = yield* runtime.mailbox.poll({ id });
      expect(polled.messages).toMatchObject([{ from: other.id, holder: "user" }]);
      expect(yield* codeOf(runtime.mailbox.ack(tokenOf(polled), { caller: stranger }))).toBe(
        "POLICY_VIOLATION",
      );
      expect(yield* codeOf(runtime.mailbox.drop(polled.messages[0]!.message_id, { caller: stranger }))).toBe(
        "POLICY_VIOLATION",
      );
    }),
  );

  it.effect("is as it was for the next daemon: leases go on, a message that waits is polled", () =>
    Effect.gen(function* () {
      const { boot } = yield* memoryMachine;
      const first = yield* boot();
      const { id } = yield* first.runtime.spawn(spec());
      const self: Caller = { type: "worker", worker_id: id, incarnation: 1 };
      yield* first.runtime.mailbox.send({ to: id, payload: "a" });
      yield* first.runtime.mailbox.send({ to: id, payload: "b" });
      const held = yield* first.runtime.mailbox.poll({ caller: self, lease_ms: 10_000 });
      yield* settled;
      yield* first.crash;
      yield* TestClock.adjust("4 seconds");
      const { runtime } = yield* boot();
      const got = yield* runtime.mailbox.poll({ caller: self, limit: 10 });
      expect(payloads(got)).toEqual(["b"]);
      yield* TestClock.adjust("5 seconds");
      expect((yield* runtime.mailbox.poll({ caller: self })).messages).toEqual([]);
      yield* runtime.mailbox.extend(tokenOf(held), { caller: self, lease_ms: 2_000 });
      yield* TestClock.adjust("2 seconds");
      expect(payloads(yield* runtime.mailbox.poll({ caller: self }))).toEqual(["a"]);
    }),
  );
});

describe("an ask", () => {
  const reader = (runtime: RuntimeApi, self: Caller, payload: string) =>
    Effect.gen(function* () {
      const polled = yield* runtime.mailbox.poll({ caller: self, wait_ms: 60_000 });
      yield* runtime.mailbox.ack(tokenOf(polled), { caller: self, reply: { payload } });
      return polled;
    });

  it.effect("reaches a worker that polls, and its reply is the answer", () =>
    Effect.gen(function* () {
      const { runtime, id, self } = yield* started;
      const reading = yield* Effect.forkChild(reader(runtime, self, "42"));
      yield* settled;
      const answer = yield* runtime.ask("fixer", "how many?");
      expect(answer).toMatchObject({ id, turn: null, text: "42", usage: null });
      const [asked] = (yield* Fiber.join(reading)).messages;
      expect(asked).toMatchObject({ type: "ask", payload: "how many?", message_id: answer.message_id });
      // The asker has it: it is in nobody's mailbox.
      expect((yield* runtime.mailbox.list({})).messages).toEqual([]);
    }),
  );

  it.effect("waits for the first poll of a worker that has just begun, and is refused where none comes", () =>
    Effect.gen(function* () {
      const { runtime, id, self } = yield* started;
      const refused = yield* Effect.forkChild(codeOf(runtime.ask(id, "anybody?")));
      yield* settled;
      yield* TestClock.adjust(MAILBOX_FIRST_POLL_MS);
      expect(yield* Fiber.join(refused)).toBe("UNSUPPORTED_CAPABILITY");
      expect((yield* runtime.mailbox.list({ id })).messages).toEqual([]);
      const asking = yield* Effect.forkChild(runtime.ask(id, "anybody?"));
      yield* settled;
      yield* Effect.forkChild(reader(runtime, self, "yes"));
      expect((yield* Fiber.join(asking)).text).toBe("yes");
    }),
  );

  it.effect("that is not answered in time fails, and expires: nobody works on it later", () =>
    Effect.gen(function* () {
      const { runtime, id, self } = yield* started;
      yield* runtime.mailbox.poll({ caller: self });
      const asking = yield* Effect.forkChild(codeOf(runtime.ask(id, "late?")));
      yield* settled;
      yield* TestClock.adjust(MAILBOX_ASK_DEFAULT_MS);
      expect(yield* Fiber.join(asking)).toBe("TIMEOUT");
      expect((yield* runtime.mailbox.poll({ caller: self })).messages).toEqual([]);
    }),
  );

  it.effect("fails when its worker ends first", () =>
    Effect.gen(function* () {
      const { runtime, id, self } = yield* started;
      yield* runtime.mailbox.poll({ caller: self });
      const asking = yield* Effect.forkChild(codeOf(runtime.ask(id, "still there?")));
      yield* settled;
      yield* Effect.forkChild(runtime.kill({ ids: [id] }));
      yield* settled;
      yield* TestClock.adjust("1 minute");
      expect(yield* Fiber.join(asking)).toBe("INVALID_STATE");
    }),
  );

  it.effect(
    "that is put again under its key, after the daemon died, gets the reply that was given once",
    () =>
      Effect.gen(function* () {
        const { boot } = yield* memoryMachine;
        const first = yield* boot();
        const { id } = yield* first.runtime.spawn(spec());
        const self: Caller = { type: "worker", worker_id: id, incarnation: 1 };
        const reading = yield* Effect.forkChild(reader(first.runtime, self, "42"));
        yield* settled;
        const ask = (runtime: RuntimeApi) => runtime.ask(id, "how many?", { idempotency_key: "k" });
        const answer = yield* ask(first.runtime);
        yield* Fiber.join(reading);
        yield* first.crash;
        const { runtime } = yield* boot();
        expect(yield* ask(runtime)).toMatchObject({ text: "42", message_id: answer.message_id });
        expect((yield* runtime.mailbox.list({ id })).messages).toEqual([]);
      }),
  );

  it.effect("of one worker is answered by another, once, and by nobody else", () =>
    Effect.gen(function* () {
      const { runtime, id, self } = yield* started;
      const asker = yield* runtime.spawn(spec());
      const caller: Caller = { type: "worker", worker_id: asker.id, incarnation: 1 };
      const { message_id } = yield* runtime.mailbox.send({ to: id, type: "ask", payload: "?", caller });
      const reply = { type: "reply", correlation_id: message_id } as const;
      expect(yield* codeOf(runtime.mailbox.send({ ...reply, payload: "mine", caller }))).toBe(
        "POLICY_VIOLATION",
      );
      const said = yield* runtime.mailbox.send({ ...reply, payload: "first", caller: self });
      expect(said).toMatchObject({ to: asker.id, effect: "created" });
      expect(yield* runtime.mailbox.send({ ...reply, payload: "second", caller: self })).toEqual({
        ...said,
        effect: "noop",
      });
      const polled = yield* runtime.mailbox.poll({ caller, limit: 10 });
      expect(polled.messages).toMatchObject([
        { type: "reply", payload: "first", from: id, from_name: "fixer", correlation_id: message_id },
      ]);
    }),
  );
});
