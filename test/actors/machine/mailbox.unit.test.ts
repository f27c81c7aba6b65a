import { expect, it } from "vitest";
import { Mailbox } from "../../../src/actors/machine/mailbox.ts";
import { MAILBOX_CONTROL_MAX, MAILBOX_USER_MAX } from "../../../src/base/limits.ts";

it("a kill overtakes a flooded user lane", () => {
  const mailbox = new Mailbox<string>();
  for (let n = 0; n < 1_000; n += 1) mailbox.offer("user", `message ${n}`);
  mailbox.offer("control", "kill");
  expect(mailbox.take()).toBe("kill");
  expect(mailbox.take()).toBe("message 0");
});

it("a full lane refuses and says so; the other lane is not touched", () => {
  const mailbox = new Mailbox<number>();
  const offered = Array.from({ length: MAILBOX_USER_MAX + 1 }, (_, n) => mailbox.offer("user", n));
  expect([offered.indexOf(false), offered.lastIndexOf(true)]).toEqual([
    MAILBOX_USER_MAX,
    MAILBOX_USER_MAX - 1,
  ]);
  expect(mailbox.offer("control", -1)).toBe(true);
  expect(mailbox.size()).toBe(MAILBOX_USER_MAX + 1);
  for (let n = 1; n < MAILBOX_CONTROL_MAX; n += 1) mailbox.offer("control", n);
  expect(mailbox.offer("control", 0)).toBe(false);
});

it("gives messages in the order of arrival, then nothing", () => {
  const mailbox = new Mailbox<number>();
  for (const message of [1, 2, 3]) mailbox.offer("user", message);
  const taken = [mailbox.take(), mailbox.take(), mailbox.take(), mailbox.take()];
  mailbox.offer("user", 4);
  expect([...taken, mailbox.take(), mailbox.size()]).toEqual([1, 2, 3, undefined, 4, 0]);
});
