import { Effect, Exit, Fiber } from "effect";
import { expect, it } from "vitest";
import { Mailbox } from "../../../src/actors/machine/mailbox.ts";
import { MAILBOX_MAX_EVENTS } from "../../../src/base/limits.ts";

const takeThree = (mailbox: Mailbox<number>, taken: number[]) =>
  Effect.gen(function* () {
    while (taken.length < 3) taken.push(yield* mailbox.take());
  });

it("gives messages in the order of arrival, and wakes its fiber at once", () => {
  const mailbox = new Mailbox<number>();
  const taken: number[] = [];
  mailbox.post(1);
  mailbox.post(2);
  expect(mailbox.waiting()).toBe(2);
  const fiber = Effect.runFork(takeThree(mailbox, taken));
  expect([taken, mailbox.waiting(), fiber.pollUnsafe()]).toEqual([[1, 2], 0, undefined]);
  mailbox.post(3);
  expect([taken, fiber.pollUnsafe()]).toEqual([[1, 2, 3], Exit.void]);
});

it("one more than the bound breaks its fiber, so that no message is lost in silence", async () => {
  const mailbox = new Mailbox<number>();
  for (let n = 0; n < MAILBOX_MAX_EVENTS; n += 1) mailbox.post(n);
  expect(mailbox.waiting()).toBe(MAILBOX_MAX_EVENTS);
  mailbox.post(-1);
  const exit = await Effect.runPromise(Effect.exit(mailbox.take()));
  expect(exit).toEqual(Exit.die(new Error(`More than ${MAILBOX_MAX_EVENTS} messages wait for one fiber.`)));
});

it("a defect ends the fiber that waits; only the first one counts", async () => {
  const mailbox = new Mailbox<number>();
  const fiber = Effect.runFork(mailbox.take());
  mailbox.break(new TypeError("first"));
  mailbox.break(new TypeError("second"));
  mailbox.post(1);
  expect(await Effect.runPromise(Fiber.await(fiber))).toEqual(Exit.die(new TypeError("first")));
  expect(mailbox.waiting()).toBe(0);
});

it("keeps nothing once it is closed", () => {
  const mailbox = new Mailbox<number>();
  mailbox.post(1);
  mailbox.close();
  mailbox.post(2);
  expect(mailbox.waiting()).toBe(0);
});
