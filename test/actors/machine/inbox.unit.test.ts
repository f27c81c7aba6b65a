import { Effect, Exit, Fiber } from "effect";
import { expect, it } from "vitest";
import { Inbox } from "../../../src/actors/machine/inbox.ts";
import { MAILBOX_MAX_EVENTS } from "../../../src/base/limits.ts";

const takeThree = (inbox: Inbox<number>, taken: number[]) =>
  Effect.gen(function* () {
    while (taken.length < 3) taken.push(yield* inbox.take());
  });

it("gives messages in the order of arrival, and wakes its fiber at once", () => {
  const inbox = new Inbox<number>();
  const taken: number[] = [];
  inbox.post(1);
  inbox.post(2);
  expect(inbox.waiting()).toBe(2);
  const fiber = Effect.runFork(takeThree(inbox, taken));
  expect([taken, inbox.waiting(), fiber.pollUnsafe()]).toEqual([[1, 2], 0, undefined]);
  inbox.post(3);
  expect([taken, fiber.pollUnsafe()]).toEqual([[1, 2, 3], Exit.void]);
});

it("one more than the bound breaks its fiber, so that no message is lost in silence", async () => {
  const inbox = new Inbox<number>();
  for (let n = 0; n < MAILBOX_MAX_EVENTS; n += 1) inbox.post(n);
  expect(inbox.waiting()).toBe(MAILBOX_MAX_EVENTS);
  inbox.post(-1);
  const exit = await Effect.runPromise(Effect.exit(inbox.take()));
  expect(exit).toEqual(Exit.die(new Error(`More than ${MAILBOX_MAX_EVENTS} messages wait for one fiber.`)));
});

it("a defect ends the fiber that waits; only the first one counts", async () => {
  const inbox = new Inbox<number>();
  const fiber = Effect.runFork(inbox.take());
  inbox.break(new TypeError("first"));
  inbox.break(new TypeError("second"));
  inbox.post(1);
  expect(await Effect.runPromise(Fiber.await(fiber))).toEqual(Exit.die(new TypeError("first")));
  expect(inbox.waiting()).toBe(0);
});

it("keeps nothing once it is closed", () => {
  const inbox = new Inbox<number>();
  inbox.post(1);
  inbox.close();
  inbox.post(2);
  expect(inbox.waiting()).toBe(0);
});
