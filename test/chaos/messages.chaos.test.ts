/** Messages to agents while their daemon is killed again and again: none is lost, none is read twice (promise R33). */
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { MessageReply, MessageRow } from "../../src/runtime/replies.ts";
import { figure, full } from "../support/figures.ts";
import { killIfThere } from "../support/kill-if-there.ts";
import { type Daemon, makeLedger, sleep, startDaemon, temporaryDirectory, until } from "./support.ts";

const AGENT = join(import.meta.dirname, "../fixtures/agents/converses.mjs");
const KILLS = full ? 20 : 6;
const MESSAGES = full ? 100 : 30;
const AGENTS = 2;
/** A daemon lives at most so long after its first answer. */
const LIFE_MAX_MS = 150;

const spawnTalker = async (daemon: Daemon, dir: string, name: string, over: object = {}) => {
  const ledger = makeLedger(dir, name);
  const id = await daemon.spawn([], {
    kind: "claude_code",
    interactive: true,
    env: { CLAUDE_BINARY: AGENT, LEDGER: ledger.path },
    ...over,
  });
  return { id, ledger };
};
type Talker = Awaited<ReturnType<typeof spawnTalker>>;

const messagesOf = async (daemon: Daemon, id: string): Promise<readonly MessageRow[]> =>
  (await daemon.request<{ messages: readonly MessageRow[] }>("agent/messages", { id })).messages;

test(`${MESSAGES} messages to each of ${AGENTS} agents over ${KILLS} kills of the daemon: each is read once, in order, and acknowledged`, {
  timeout: 600_000,
}, async () => {
  const dir = temporaryDirectory();
  let daemon = await startDaemon();
  const { stateDir } = daemon;
  const talkers = await Promise.all(
    Array.from({ length: AGENTS }, (_, n) => spawnTalker(daemon, dir, `ledger-${n}`)),
  );
  const took: number[] = [];

  /** Until it is accepted: whoever got no answer asks again with the same key. */
  const send = async ({ id }: Talker, text: string): Promise<void> => {
    const began = performance.now();
    for (;;) {
      const sent = await daemon
        .request<MessageReply>("agent/send", { id, text: `${text}\n`, idempotency_key: text })
        .catch(() => undefined);
      if (sent !== undefined) break;
      await sleep(2);
    }
    took.push(performance.now() - began);
  };
  let sent = 0;
  const sending = Promise.all(
    talkers.map(async (talker) => {
      for (let n = 1; n <= MESSAGES; n += 1) {
        await send(talker, `message-${n}`);
        sent += 1;
        await setImmediate();
      }
    }),
  );
  for (let kills = 1; kills <= KILLS; kills += 1) {
    // Each life brings some messages on their way; the last ones are sent to the last daemon.
    const goal = Math.floor((AGENTS * MESSAGES * kills) / (KILLS + 1));
    await until("some more were sent", () => sent >= goal);
    await sleep(Math.random() * LIFE_MAX_MS);
    await daemon.kill9();
    daemon = await startDaemon(stateDir);
  }
  await sending;

  for (const { id, ledger } of talkers) {
    const states = async () => (await messagesOf(daemon, id)).map(({ state }) => state);
    await until("all are acknowledged", async () =>
      (await states()).every((state) => state === "acknowledged"),
    );
    const expected = Array.from({ length: MESSAGES }, (_, n) => `message-${n + 1}`);
    expect(ledger.all().map(([, , , text]) => text)).toEqual(expected);
    expect(new Set(ledger.all().map(([, incarnation]) => incarnation))).toEqual(new Set(["1"]));
    const rows = await messagesOf(daemon, id);
    expect(rows.map(({ deliveries }) => deliveries)).toEqual(Array(MESSAGES).fill(1));
    const steps = (await daemon.history(["worker_message", "turn_completed"])).filter(
      ({ worker_id }) => worker_id === id,
    );
    for (const { message_id } of rows) {
      const ofOne = steps.flatMap((record) =>
        record.type === "worker_message" && record.payload.message_id === message_id
          ? [record.payload.state]
          : [],
      );
      expect(ofOne).toEqual(["accepted", "delivered", "acknowledged"]);
    }
    expect(steps.filter(({ type }) => type === "turn_completed")).toHaveLength(MESSAGES);
  }
  took.sort((a, b) => a - b);
  figure("R33", {
    rounds: AGENTS * MESSAGES,
    failures: 0,
    p50_ms: took[Math.floor(took.length / 2)] ?? 0,
    p99_ms: took[Math.floor(took.length * 0.99)] ?? 0,
    note: `messages over ${KILLS} kills of the daemon, read once and acknowledged; the time until one is accepted, kills and all`,
  });
});

test("agent and daemon are both killed with a message between them: it goes on in the session, and is told unknown where nobody is left", async () => {
  const dir = temporaryDirectory();
  const first = await startDaemon();
  const again = await spawnTalker(first, dir, "again", { restart: "transient" });
  const never = await spawnTalker(first, dir, "never");
  await Promise.all(
    [again, never].map(async ({ id, ledger }) => {
      await first.request("agent/send", { id, text: "work\n" });
      await until("it works", () => ledger.all().length === 1);
      // It is in the agent's input, and the agent reads nothing while it works.
      await first.request("agent/send", { id, text: "after\n" });
    }),
  );
  const pids = await Promise.all([again, never].map(async ({ id }) => (await first.info(id)).pid as number));
  await first.kill9();
  for (const pid of pids) killIfThere(pid);
  makeLedger(dir, "again.go");

  const daemon = await startDaemon(first.stateDir);
  const statesOf = async ({ id }: Talker) => (await messagesOf(daemon, id)).map(({ state }) => state);
  await until("the next agent has it", async () => (await statesOf(again)).at(-1) === "acknowledged");
  expect(again.ledger.all().map(([, incarnation, , text]) => [incarnation, text])).toEqual([
    ["1", "work"],
    ["2", "after"],
  ]);
  await until("the other one has ended", async () => (await daemon.info(never.id)).state === "failed");
  await until("it is told", async () => (await statesOf(never)).at(-1) === "unknown");
  expect(await statesOf(never)).toEqual(["acknowledged", "unknown"]);
});

test("a question is answered over a kill of the daemon, and the conversation ends when its input does", async () => {
  const dir = temporaryDirectory();
  const first = await startDaemon();
  const talker = await spawnTalker(first, dir, "ledger", { name: "talker", prompt: "begin" });
  const asking = first.agent("ask", "talker", "work", "-o", "text");
  await until("it works", () => talker.ledger.all().length === 2);
  await first.kill9();
  const daemon = await startDaemon(first.stateDir);
  makeLedger(dir, "ledger.go");
  expect(await asking).toBe("heard work\n");
  expect((await daemon.agent("ask", "talker", "die", "-o", "text").catch(({ code }) => code)) as number).toBe(
    2,
  );
  expect(await daemon.info(talker.id)).toMatchObject({ state: "failed" });

  const polite = await spawnTalker(daemon, dir, "polite");
  await daemon.agent("send", polite.id, "last words", "--close");
  await daemon.wait([polite.id]);
  expect(await daemon.info(polite.id)).toMatchObject({ state: "completed" });
  expect((await messagesOf(daemon, polite.id)).every(({ state }) => state === "acknowledged")).toBe(true);
});
