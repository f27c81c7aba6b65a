/** Leases on a log of a hundred thousand records: their tokens have six digits, and are told whole. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DAEMON_STREAM, type RecordDraft } from "../../src/protocol/records.ts";
import { openLog } from "../../src/store/sqlite/log.ts";
import { type Commands, makeCommands } from "./support/commands.ts";

const RECORDS = 100_000;
const BATCH = 2_000;

let commands: Commands;
beforeAll(() => {
  commands = makeCommands();
  const log = openLog({ file: join(commands.home, "holdfast.db") });
  const clock = { boot_id: "boot", mono_ns: "1" };
  const draft: RecordDraft = {
    type: "daemon_defect",
    stream: DAEMON_STREAM,
    payload: { where: "a test", error: "Error", clock },
  };
  for (let n = 0; n < RECORDS; n += BATCH) log.append(Array.from({ length: BATCH }, () => draft));
  log.close();
});
afterAll(() => commands.close());

it("an item is claimed, extended and released by the token that the claim told", async () => {
  await commands.agent("bb", "post", "work");
  const { item_id, token } = (await commands.agent("bb", "claim")).data as { item_id: string; token: number };
  expect(token).toBeGreaterThan(RECORDS);
  const by = ["--token", String(token)];
  expect((await commands.agent("bb", "claim", item_id, ...by)).data).toMatchObject({ token });
  expect(await commands.agent("bb", "release", item_id, ...by, "--done")).toMatchObject({ exit: 0 });
});

it("a message is polled and acknowledged by the token that the poll told", async () => {
  await commands.agent("mailbox", "send", "user", "hello");
  const { messages } = (await commands.agent("mailbox", "poll")).data as {
    messages: readonly { token: number }[];
  };
  const token = messages[0]?.token ?? 0;
  expect(token).toBeGreaterThan(RECORDS);
  expect(await commands.agent("mailbox", "ack", String(token))).toMatchObject({ exit: 0 });
  const lost = await commands.agent("mailbox", "ack", String(token));
  expect(lost).toMatchObject({ error: { code: "LEASE_LOST" }, meta: { details: { token } } });
});
