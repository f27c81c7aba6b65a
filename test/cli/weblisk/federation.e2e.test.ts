/** Two hubs of two state directories: an agent of one does a task for the other, whatever is killed meanwhile. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newId } from "../../weblisk/support/agent.ts";
import { type Commands, makeCommands, until } from "../support/commands.ts";
import { filesOf, type HubUnderTest, killRunning, serveHub, trailsOf } from "../support/hubs.ts";

const [A, B] = ["a.example", "b.example"];
const CAPABILITY = "content:translate";

/** With a prompt that names a file, it answers once that file is there. It counts its runs in the directory. */
const PROGRAM = [
  "sh",
  "-c",
  `read -r line; echo run >>runs; case "$line" in /*) while ! [ -e "$line" ]; do sleep 0.05; done;; esac; echo '{"title":"bonjour","deep":[{"E-Mail":"secret-of-b"}]}'`,
];

let root: string;
let a: HubUnderTest;
let b: HubUnderTest;

const serveB = (commands: Commands, port: string) =>
  serveHub(commands, B, port, ["clerk=command", "--root", root, "--offer", CAPABILITY, "--", ...PROGRAM]);

const runs = (): number =>
  existsSync(join(root, "runs")) ? readFileSync(join(root, "runs"), "utf8").trim().split("\n").length : 0;

const trailOf = async (hub: HubUnderTest, task_id: string) => (await trailsOf(hub)).get(task_id) ?? [];

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-hubs-")));
  const [one, other] = [makeCommands(), makeCommands()];
  await Promise.all([one.agent("daemon", "start"), other.agent("daemon", "start")]);
  [a, b] = await Promise.all([serveHub(one, A, "0"), serveB(other, "0")]);
  await a.commands.agent("peer", "add", B, b.url, "--deny", "email");
  await b.commands.agent("peer", "add", A, a.url, "--share", CAPABILITY, "--deny", "email");
});
afterAll(async () => {
  await Promise.all([killRunning(a.server), killRunning(b.server)]);
  await Promise.all([a.commands.close(), b.commands.close()]);
  rmSync(root, { recursive: true, force: true });
});

it("a handshake makes them known, a task is done, and denied fields are in no file of the other hub", async () => {
  expect(await a.commands.agent("peer", "connect", B)).toMatchObject({ exit: 0, data: { tier: "known" } });
  expect((await b.commands.agent("peer", "show", A)).data).toMatchObject({ tier: "known", hub_id: A });
  const id = newId();
  const inputs = { email: "secret-of-a", deep: [{ "E MAIL": "secret-of-a" }] };
  const done = await a.commands.agent(
    ...["peer", "task", B, CAPABILITY, "good morning", "--id", id, "--inputs", JSON.stringify(inputs)],
  );
  expect(done).toMatchObject({
    exit: 0,
    data: { task_id: id, output: { title: "bonjour", deep: [{}] }, stripped: ["E MAIL", "email"] },
  });
  for (const text of filesOf(b)) expect(text).not.toContain("secret-of-a");
  for (const text of filesOf(a)) expect(text).not.toContain("secret-of-b");
  // Nothing of a prompt or an answer stays with who asks, and no record has the prompt where it is answered.
  for (const text of filesOf(a)) expect(text).not.toMatch(/bonjour|good morning/);
  const { data } = await b.commands.agent("list", "--all", "--label", `weblisk_task=${id}`);
  const [{ id: worker }] = data as unknown as [{ id: string }];
  expect(await b.commands.agent("info", worker)).toMatchObject({
    data: { spec: { prompt: expect.stringMatching(/^from another hub: sha256:[0-9a-f]{64}$/) } },
  });
  expect(await trailOf(a, id)).toEqual(await trailOf(b, id));
  expect(await trailOf(a, id)).toMatchObject([
    { action: "task.request" },
    { action: "task.result", status: "ok" },
  ]);
  // A person compares both by the words of a terminal.
  const digestsOf = async ({ commands }: HubUnderTest) =>
    (await commands.text("audit", "list")).stdout.match(/sha256:[0-9a-f]{16}/g);
  expect(await digestsOf(a)).toHaveLength(2);
  expect(await digestsOf(a)).toEqual(await digestsOf(b));
});

it("kills of the gateway, of both daemons and of the command leave one worker, one answer and whole trails", async () => {
  const before = runs();
  const [id, gate] = [newId(), join(root, "gate")];
  const ask = ["-o", "json", "peer", "task", B, CAPABILITY, gate, "--id", id];
  const first = a.commands.start(ask);
  await until(() => runs() === before + 1);
  await killRunning(first);
  const port = new URL(b.url).port;
  await killRunning(b.server);
  await a.commands.killDaemon();
  await b.commands.killDaemon();
  await Promise.all([a.commands.agent("daemon", "start"), b.commands.agent("daemon", "start")]);
  const second = a.commands.start(ask);
  b = await serveB(b.commands, port);
  writeFileSync(gate, "");
  const { exit, stdout } = await second.ended;
  expect({ exit, stdout }).toMatchObject({ exit: 0, stdout: expect.stringContaining("bonjour") });
  const again = await a.commands.agent(...ask.slice(2));
  expect(again.data.output).toMatchObject({ title: "bonjour" });

  const workers = await b.commands.agent("list", "--all", "--label", `weblisk_task=${id}`);
  expect(workers.data).toHaveLength(1);
  for (const one of [a, b]) {
    expect((await one.commands.agent("audit", "verify")).exit).toBe(0);
    expect(await trailOf(one, id)).toHaveLength(2);
  }
});

it("a revocation kills the worker in its middle; the task has no answer, and the other hub is refused", async () => {
  const before = runs();
  const [id, never] = [newId(), join(root, "never")];
  const asked = a.commands.start(["-o", "json", "peer", "task", B, CAPABILITY, never, "--id", id]);
  await until(() => runs() === before + 1);
  await b.commands.agent("peer", "revoke", A, "--reason", "over");
  expect(await asked.ended).toMatchObject({ exit: 7, stdout: expect.stringContaining("PEER_UNTRUSTED") });
  const { data } = await b.commands.agent("list", "--all", "--label", `weblisk_task=${id}`);
  expect(data).toMatchObject([{ status: expect.stringMatching(/cancelled|killed|failed/) }]);
  expect(await a.commands.agent("peer", "connect", B)).toMatchObject({ error: { code: "PEER_UNTRUSTED" } });
});
