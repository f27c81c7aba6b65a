import { Effect, Fiber } from "effect";
import { expect, it } from "vitest";
import { makeMailbox } from "../../src/actors/mailbox.ts";

const take = <A>(mailbox: { readonly take: Effect.Effect<A> }) => Effect.runPromise(mailbox.take);

it("a kill overtakes a flooded user lane", async () => {
  const mailbox = makeMailbox<string>({ control: 4, user: 1_000 });
  for (let n = 0; n < 1_000; n += 1) mailbox.offer("user", `message ${n}`);
  mailbox.offer("control", "kill");
  expect(await take(mailbox)).toBe("kill");
  expect(await take(mailbox)).toBe("message 0");
});

it("a full lane refuses and says so; the other lane is not touched", () => {
  const mailbox = makeMailbox<number>({ control: 1, user: 2 });
  expect([mailbox.offer("user", 1), mailbox.offer("user", 2), mailbox.offer("user", 3)]).toEqual([
    true,
    true,
    false,
  ]);
  expect(mailbox.offer("control", 4)).toBe(true);
  expect(mailbox.size()).toBe(3);
});

it("wakes the one who waits, in the order of arrival", async () => {
  const mailbox = makeMailbox<number>();
  const both = Effect.runPromise(Effect.all([mailbox.take, mailbox.take]));
  mailbox.offer("user", 1);
  mailbox.offer("user", 2);
  expect(await both).toEqual([1, 2]);
});

it("loses nothing when the one who waits is interrupted", async () => {
  const mailbox = makeMailbox<number>();
  const waiting = Effect.runFork(mailbox.take);
  await Effect.runPromise(Fiber.interrupt(waiting));
  mailbox.offer("user", 7);
  expect(await take(mailbox)).toBe(7);
});
