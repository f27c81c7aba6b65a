/**
 * Lives of workers of kind `llm` among kills: of the engine between two turns and while it asks, and of the daemon. The other
 * kinds go through the same (test/agents).
 */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { Runtime } from "../../src/library/index.ts";
import { type Commands, makeCommands, until } from "../cli/support/commands.ts";
import { type Place, placeOf } from "./places.ts";

let commands: Commands;
beforeAll(() => {
  commands = makeCommands();
});
afterAll(() => commands.close());

const pay = { id: "pay-1", name: "pay" };
const asking = { name: "pay", ledger: "ledger", decision: "ask" };
const answers = (count: number) => Array.from({ length: count }, (_, at) => ({ text: `Answer ${at + 1}.` }));

const infoOf = async (id: string) => (await commands.agent("info", id)).data;
const openApprovals = async (id: string) =>
  (await commands.agent("approvals", id)).data as unknown as readonly { readonly approval_id: string }[];
const asks = (id: string) => until(async () => (await openApprovals(id)).length === 1);
const turnsOf = async (id: string) => Number((await infoOf(id)).turns);

const begun = async (place: Place, ...flags: string[]): Promise<string> =>
  String((await place.spawn("Begin.", "-i", ...flags)).data.id);

const killEngine = async (id: string): Promise<void> => {
  const { pid } = (await infoOf(id)) as { readonly pid?: number };
  process.kill(pid!, "SIGKILL");
};

/** Texts that began a turn, by the journal. */
const promptsIn = ({ dir }: Place): readonly string[] => {
  const [file = ""] = readdirSync(join(dir, "journals"));
  const lines = readFileSync(join(dir, "journals", file), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line)).flatMap(({ type, text }) => (type === "given" ? [text] : []));
};

/** The daemon is killed, and another one takes over. */
const replaceDaemon = async (): Promise<void> => {
  await commands.killDaemon();
  await until(async () => (await commands.agent("daemon", "start")).error === null);
};

it("killed between two turns of a conversation, it has failed, and goes on in its session", async () => {
  const id = await begun(placeOf(commands, answers(2)), "--restart", "transient");
  await until(async () => (await turnsOf(id)) === 1);
  const session = (await infoOf(id)).session_id;
  await killEngine(id);
  await until(async () => (await infoOf(id)).incarnation === 2);
  expect((await commands.agent("ask", id, "And then?")).data).toMatchObject({ text: "Answer 2." });
  expect(await infoOf(id)).toMatchObject({ session_id: session, turns: 2 });
  await commands.agent("kill", id);
});

it("answers each of four messages that came while it was busy, in their order", async () => {
  const place = placeOf(commands, [{ calls: [pay] }, ...answers(5)], [asking]);
  const id = await begun(place, "--permission", "ask");
  await asks(id);
  for (const text of ["one", "two", "three", "four"]) await commands.agent("send", id, text);
  await commands.agent("approvals", "approve", id);
  await until(async () => (await turnsOf(id)) === 5);
  expect((await commands.agent("output", id)).data.text).toBe("Answer 5.");
  await commands.agent("kill", id);
});

it("takes a message of 49 KB with a NUL and separators whole, and refuses one of 70 KB", async () => {
  const place = placeOf(commands, answers(2));
  const id = await begun(place);
  const text = `a\0b\u2028c${"x".repeat(49 * 1024)}`;
  const runtime = await Runtime.connect({ stateDir: commands.home });
  onTestFinished(() => runtime.close());
  expect(await runtime.ask(id, text)).toMatchObject({ text: "Answer 2." });
  expect(promptsIn(place)).toContain(text);
  await expect(runtime.ask(id, "x".repeat(70 * 1024))).rejects.toThrow("over 64 KB");
  await commands.agent("kill", id);
});

it("of three that continue a session at once one wins, and the others are told whose it is", async () => {
  const place = placeOf(commands, [...answers(1), { calls: [pay] }, ...answers(1)], [asking]);
  const first = await place.spawn("Begin.", "--wait");
  const session = String((await infoOf(String(first.data.id))).session_id);
  const three = await Promise.all(
    [1, 2, 3].map(() => place.spawn(randomUUID(), "--session", session, "--permission", "ask")),
  );
  const won = three.filter(({ error }) => error === null);
  expect(won).toHaveLength(1);
  expect(three.flatMap(({ error }) => error?.code ?? [])).toEqual(["SESSION_IN_USE", "SESSION_IN_USE"]);
  await commands.agent("kill", String(won[0]!.data.id));
});

it("branched or continued with a prompt and --wait, a conversation answers it, and the new worker ends", async () => {
  const id = await begun(placeOf(commands, answers(3)));
  await until(async () => (await turnsOf(id)) === 1);
  const branch = await commands.agent("fork", id, "Or so?", "--wait");
  expect(branch.data).toMatchObject({ status: "completed" });
  expect((await commands.agent("output", String(branch.data.id))).data.text).toBe("Answer 2.");
  expect((await commands.agent("ask", id, "And here?")).data).toMatchObject({ text: "Answer 2." });
  await commands.agent("kill", id);
  const more = await commands.agent("resume", id, "And then?", "--wait");
  expect((await commands.agent("output", String(more.data.id))).data.text).toBe("Answer 3.");
});

it("asks on while its daemon is killed before and after the answer, and pays once", async () => {
  const place = placeOf(commands, [{ calls: [pay] }, { text: "Paid." }], [asking]);
  const { data } = await place.spawn("Pay.", "--permission", "ask");
  const id = String(data.id);
  await asks(id);
  await replaceDaemon();
  expect(await openApprovals(id)).toHaveLength(1);
  await commands.agent("approvals", "approve", id);
  await replaceDaemon();
  expect((await commands.agent("wait", id)).data).toMatchObject({ results: [{ status: "completed" }] });
  expect((await commands.agent("output", id)).data.text).toBe("Paid.");
  expect(place.ledger()).toEqual(["pay-1"]);
  expect(await infoOf(id)).toMatchObject({ incarnation: 1, turns: 1 });
});

it("killed while it asks, it asks again, and the answer to the first request comes too late", async () => {
  const place = placeOf(commands, [{ calls: [pay] }, { text: "Paid." }], [asking]);
  const { data } = await place.spawn("Pay.", "--permission", "ask");
  const id = String(data.id);
  await asks(id);
  const [first] = await openApprovals(id);
  await killEngine(id);
  await until(async () => {
    const [now] = await openApprovals(id);
    return now !== undefined && now.approval_id !== first!.approval_id;
  });
  const late = await commands.agent("approvals", "approve", first!.approval_id);
  expect(late.error?.code).toBe("INVALID_STATE");
  await commands.agent("approvals", "approve", id);
  expect((await commands.agent("wait", id)).data).toMatchObject({ results: [{ status: "completed" }] });
  expect(place.ledger()).toEqual(["pay-1"]);
});
