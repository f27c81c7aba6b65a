/** Mailboxes while their daemon is killed again and again: nothing is lost, nothing acknowledged comes again, all is in order (promise R41). */
import { expect, test } from "vitest";
import { MAILBOX_ATTEMPTS_MAX } from "../../src/base/limits.ts";
import type { MailListReply, MailPollReply, MailSentReply } from "../../src/protocol/replies/mail.ts";
import { figure } from "../support/figures.ts";
import { checkMail, type MailHistory } from "./mail-history.ts";
import { type Daemon, sleep, startDaemon, until } from "./support.ts";

const KILLS = 20;
const SENDERS = 10;
const CONSUMERS = 10;
const MESSAGES = 15;
const LEASE_MS = 400;
/** A daemon lives at most so long after its first answer. */
const LIFE_MAX_MS = 200;
/** The part of what is polled that is forgotten, and that is given back. */
const FORGOTTEN = 0.1;
const GIVEN_BACK = 0.1;

/** Notes of what its clients were told. */
class Told {
  readonly sent: string[] = [];
  readonly got: { message_id: string; token: number }[] = [];
  readonly acked: string[] = [];
  /** The work of a consumer that knows ids, by the sender's own name of it. */
  readonly done = new Map<string, number>();
}

test(`${SENDERS} senders and ${CONSUMERS} consumers over ${KILLS} kills of the daemon: nothing is lost, doubled or out of order, and attempts are bounded`, {
  timeout: 300_000,
}, async () => {
  let daemon: Daemon = await startDaemon();
  const { stateDir } = daemon;
  const id = await daemon.spawn(["sleep", "1000"]);
  const told = new Told();
  let isOver = false;

  const send = async (sender: number, n: number): Promise<void> => {
    const name = `${sender}-${n}`;
    const asked = { to: id, payload: name, idempotency_key: name };
    for (;;) {
      const reply = await daemon.request<MailSentReply>("mailbox/send", asked).catch(() => undefined);
      if (reply !== undefined) return void told.sent.push(reply.message_id);
      await sleep(2);
    }
  };

  /** Until it is answered: a lease that is lost after a crash may be its own acknowledgement. */
  const settle = async (request: "mailbox/ack" | "mailbox/nack", message_id: string, token: number) => {
    for (;;) {
      const answer = await daemon.request(request, { token }).then(
        () => "done",
        (error: Error) => (/LEASE_LOST|Nothing is held/.test(error.message) ? "LEASE_LOST" : undefined),
      );
      if (answer === "done" && request === "mailbox/ack") told.acked.push(message_id);
      if (answer === "done" || answer === "LEASE_LOST") return;
      await sleep(2);
    }
  };

  const seen = new Set<string>();
  const consume = async (): Promise<void> => {
    while (!isOver) {
      const asked = { id, limit: 2, lease_ms: LEASE_MS, wait_ms: 200 };
      const polled = await daemon.request<MailPollReply>("mailbox/poll", asked).catch(() => undefined);
      if (polled === undefined) await sleep(2);
      for (const { message_id, token, payload, attempt } of polled?.messages ?? []) {
        told.got.push({ message_id, token });
        // The last attempt is taken, so that few die.
        const luck = attempt < MAILBOX_ATTEMPTS_MAX - 1 ? Math.random() : 1;
        if (luck < FORGOTTEN) continue;
        if (luck < FORGOTTEN + GIVEN_BACK) await settle("mailbox/nack", message_id, token);
        else {
          if (!seen.has(message_id))
            told.done.set(String(payload), (told.done.get(String(payload)) ?? 0) + 1);
          seen.add(message_id);
          await settle("mailbox/ack", message_id, token);
        }
      }
    }
  };

  const began = performance.now();
  const sending = Promise.all(
    Array.from({ length: SENDERS }, async (_, sender) => {
      for (let n = 1; n <= MESSAGES; n += 1) await send(sender, n);
    }),
  );
  const consuming = Promise.all(Array.from({ length: CONSUMERS }, consume));
  for (let kills = 1; kills <= KILLS; kills += 1) {
    const goal = Math.floor((SENDERS * MESSAGES * kills) / (KILLS + 1));
    await until("some more were sent", () => told.sent.length >= goal);
    await sleep(Math.random() * LIFE_MAX_MS);
    await daemon.kill9();
    daemon = await startDaemon(stateDir);
  }
  await sending;
  const left = async (dead: boolean) =>
    (await daemon.request<MailListReply>("mailbox/list", { id, dead })).messages;
  await until("the mailbox is empty", async () => (await left(false)).length === 0);
  isOver = true;
  await consuming;
  figure("R41", {
    rounds: SENDERS * MESSAGES,
    failures: 0,
    note: `messages over ${KILLS} kills of the daemon by ${SENDERS} senders and ${CONSUMERS} consumers, in ${Math.round((performance.now() - began) / 1_000)} s`,
  });

  const dead = await left(true);
  for (const letter of dead)
    expect(letter).toMatchObject({ cause: "attempts", attempt: MAILBOX_ATTEMPTS_MAX });
  const records = await daemon.history([
    "mailbox_sent",
    "mailbox_delivered",
    "mailbox_acked",
    "mailbox_nacked",
    "mailbox_died",
    "mailbox_dropped",
  ]);
  const history: MailHistory = { ...told, records };
  expect(checkMail(history)).toEqual([]);
  // Each was done once by a consumer that knows ids, but for those that nobody acknowledged.
  const names = Array.from({ length: SENDERS }, (_, sender) =>
    Array.from({ length: MESSAGES }, (_, n) => `${sender}-${n + 1}`),
  ).flat();
  const undone = names.filter((name) => !told.done.has(name));
  expect(dead.map(({ payload }) => payload)).toEqual(expect.arrayContaining(undone));
  expect([...told.done.values()].every((times) => times === 1)).toBe(true);
  expect(new Set(told.sent).size).toBe(names.length);
});
