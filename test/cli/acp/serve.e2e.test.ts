/** `agent acp` as an editor on the official SDK meets it, with an agent on the same SDK behind it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CACHE } from "../../support/built.ts";
import { type Editor, openEditor, say } from "../../support/editor.ts";
import { type Commands, makeCommands, until } from "../support/commands.ts";

const FIXTURE = join(import.meta.dirname, "../../fixtures/agents/acp-agent.mjs");
const PROMPT_MAX_MS = 60_000;

let commands: Commands;
beforeAll(() => {
  commands = makeCommands();
});
afterAll(() => commands.close());

const edit = (argv: readonly string[], answer?: string): Promise<Editor> =>
  openEditor(argv, { PATH: process.env.PATH, ...CACHE, HOLDFAST_HOME: commands.home }, answer);

const ledgerOf = (name: string): string => join(commands.home, `ledger-${name}`);
const linesOf = (name: string): readonly string[] =>
  existsSync(ledgerOf(name)) ? readFileSync(ledgerOf(name), "utf8").split("\n").slice(0, -1) : [];
/** The agent on the SDK, as the kind of the sessions. */
const fixture = (name: string, ...flags: string[]): readonly string[] => [
  "acp",
  ...["--env", `LEDGER=${ledgerOf(name)}`, "--env", `HOME=${ledgerOf(name)}.home`, "--backoff", "100ms..1s"],
  ...flags,
  "--",
  process.execPath,
  FIXTURE,
];
const begun = async ({ agent }: Editor): Promise<string> =>
  (await agent.request("session/new", { cwd: commands.home, mcpServers: [] })).sessionId;

it("a session is a worker: its turns, its list, and the replay that another editor gets", async () => {
  const editor = await edit(fixture("plain", "--label", "team=a"));
  const id = await begun(editor);
  expect((await commands.agent("info", id)).data).toMatchObject({
    labels: { team: "a" },
    status: expect.any(String),
  });
  expect(await say(editor, id, "hello")).toEqual({ stopReason: "end_turn" });
  expect(await say(editor, id, "again")).toEqual({ stopReason: "end_turn" });
  expect(editor.text("agent_message_chunk")).toBe("heard helloheard again");
  expect(editor.text("user_message_chunk")).toBe("");

  const other = await edit(fixture("plain"));
  const { sessions } = await other.agent.request("session/list", { cwd: commands.home });
  expect(sessions).toMatchObject([{ sessionId: id, cwd: commands.home }]);
  await other.agent.request("session/load", { sessionId: id, cwd: commands.home, mcpServers: [] });
  expect(other.text("user_message_chunk")).toBe("helloagain");
  expect(other.text("agent_message_chunk")).toBe("heard helloheard again");

  // The agent has the servers of its spec, so others are refused by name.
  const mcpServers = [{ name: "tickets", command: "serve", args: [], env: [] }];
  for (const method of ["session/load", "session/resume"] as const)
    await expect(
      other.agent.request(method, { sessionId: id, cwd: commands.home, mcpServers }),
    ).rejects.toMatchObject({ message: expect.stringContaining("tickets") });

  // Both watch: what one says, the other is shown.
  expect(await say(other, id, "third")).toEqual({ stopReason: "end_turn" });
  await until(() => editor.text("agent_message_chunk").endsWith("heard third"));
  expect(editor.text("user_message_chunk")).toBe("third");
  await expect(say(editor, "nobody", "hello")).rejects.toMatchObject({ code: -32002 });
});

it("a permission is the editor's to give, and is given once", async () => {
  const editor = await edit(fixture("asks"), "allow");
  const id = await begun(editor);
  const watcher = await edit(fixture("asks"));
  await watcher.agent.request("session/resume", { sessionId: id, cwd: commands.home });
  expect(await say(editor, id, "ask nicely")).toEqual({ stopReason: "end_turn" });
  expect(editor.text("agent_message_chunk")).toBe("was allowed");
  expect(editor.asked).toMatchObject([
    {
      toolCall: { title: "ask nicely", rawInput: { command: "ask nicely" } },
      options: [{ kind: "allow_once" }, {}],
    },
  ]);
  expect(linesOf("asks").filter((line) => line.includes(" permission "))).toEqual(["1 permission yes"]);
  expect(editor.updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual(
    expect.arrayContaining(["tool_call", "tool_call_update"]),
  );
});

it("the editor's MCP servers are the agent's, and their secrets stand in no argument, variable or record", async () => {
  const secret = "hunter2-of-the-editor";
  const editor = await edit(fixture("served"));
  const { sessionId } = await editor.agent.request("session/new", {
    cwd: commands.home,
    mcpServers: [
      { name: "My tickets", command: "/bin/echo", args: ["hi"], env: [{ name: "TOKEN", value: secret }] },
    ],
  });
  expect(await say(editor, sessionId, "hello")).toEqual({ stopReason: "end_turn" });
  const noted = linesOf("served").find((line) => line.includes(" servers ")) ?? "";
  const [server] = JSON.parse(noted.slice(noted.indexOf("["))) as [{ name: string; args: string[] }];
  expect(server.name).toBe("My-tickets");
  expect(readFileSync(server.args[0]!, "utf8")).toContain(secret);
  expect(linesOf("served").join()).not.toContain(secret);
  expect(linesOf("served").filter((line) => line.includes("leak"))).toEqual([]);
  expect(JSON.stringify((await commands.agent("info", sessionId)).data)).not.toContain(secret);

  const sse = { type: "sse", name: "old", url: "http://127.0.0.1:1/", headers: [] } as const;
  await expect(
    editor.agent.request("session/new", { cwd: commands.home, mcpServers: [sse] }),
  ).rejects.toMatchObject({ message: expect.stringContaining("sse") });
});

it("a mode of the session answers its agent's requests; an agent that asks nobody has none", async () => {
  const editor = await edit(fixture("moded"));
  const { sessionId, modes } = await editor.agent.request("session/new", {
    cwd: commands.home,
    mcpServers: [],
  });
  expect(modes).toMatchObject({ currentModeId: "ask", availableModes: [{}, {}, {}] });
  await editor.agent.request("session/set_mode", { sessionId, modeId: "allow" });
  expect(await say(editor, sessionId, "ask nicely")).toEqual({ stopReason: "end_turn" });
  await editor.agent.request("session/set_mode", { sessionId, modeId: "deny" });
  expect(await say(editor, sessionId, "ask again")).toEqual({ stopReason: "end_turn" });
  expect(editor.text("agent_message_chunk")).toBe("was allowedwas refused");
  expect(editor.asked).toEqual([]);
  await expect(editor.agent.request("session/set_mode", { sessionId, modeId: "yolo" })).rejects.toMatchObject(
    { message: expect.stringContaining("Choose one of ask, deny, allow") },
  );

  const free = await edit(fixture("free", "--permission", "allow"));
  const other = await free.agent.request("session/new", { cwd: commands.home, mcpServers: [] });
  expect(other.modes).toBeNull();
  await expect(
    free.agent.request("session/set_mode", { sessionId: other.sessionId, modeId: "deny" }),
  ).rejects.toMatchObject({ message: expect.stringContaining("--permission allow") });
});

it("a session that is deleted is killed and listed no more; a worker of others cannot be deleted", async () => {
  const editor = await edit(fixture("deleted"));
  const sessionId = await begun(editor);
  await editor.agent.request("session/delete", { sessionId });
  expect((await commands.agent("info", sessionId)).data).toMatchObject({
    status: "cancelled",
    archived: true,
  });
  const { sessions } = await editor.agent.request("session/list", { cwd: commands.home });
  expect(sessions.map((each) => each.sessionId)).not.toContain(sessionId);

  const { data } = await commands.agent("spawn", "--", "sleep", "60");
  const { id } = data as { id: string };
  await expect(editor.agent.request("session/delete", { sessionId: id })).rejects.toMatchObject({
    message: expect.stringContaining("No editor began"),
  });
  await commands.agent("kill", id);
});

it("a turn can be cancelled", async () => {
  const editor = await edit(fixture("hangs"));
  const id = await begun(editor);
  const turn = say(editor, id, "hang");
  await until(() => editor.text("agent_message_chunk") === "hm");
  await editor.agent.notify("session/cancel", { sessionId: id });
  expect(await turn).toEqual({ stopReason: "cancelled" });
  expect(await say(editor, id, "hello")).toEqual({ stopReason: "end_turn" });
});

it("the agent dies in the middle of a turn: the turn fails, the connection lives, the next one goes on in its session", async () => {
  const editor = await edit(fixture("dies"));
  const id = await begun(editor);
  await expect(say(editor, id, "die")).rejects.toMatchObject({ code: -32603 });
  expect(await say(editor, id, "hello")).toEqual({ stopReason: "end_turn" });
  expect(editor.text("agent_message_chunk")).toBe("ohheard hello");
  expect(linesOf("dies")).toContain("2 load session-1");
});

it("the daemon is killed in the middle of a turn: the turn ends as if nothing had been, and nothing is shown twice", async () => {
  const editor = await edit(fixture("works"));
  const id = await begun(editor);
  const turn = say(editor, id, "work");
  await until(() => editor.text("agent_message_chunk") === "busy ");
  const pid = await commands.daemonPid();
  process.kill(pid, "SIGKILL");
  writeFileSync(`${ledgerOf("works")}.go`, "");
  expect(await turn).toEqual({ stopReason: "end_turn" });
  expect(editor.text("agent_message_chunk")).toBe("busy worked");
  expect(await commands.daemonPid()).not.toBe(pid);
  expect(await say(editor, id, "hello")).toEqual({ stopReason: "end_turn" });
  expect(editor.text("agent_message_chunk")).toBe("busy workedheard hello");
  expect(linesOf("works").filter((line) => line.includes("prompt"))).toEqual([
    "1 prompt work",
    "1 prompt hello",
  ]);
});

it("a session that was closed ends, and a prompt begins it again", async () => {
  const editor = await edit(fixture("closes"));
  const id = await begun(editor);
  expect(await say(editor, id, "hello")).toEqual({ stopReason: "end_turn" });
  await editor.agent.request("session/close", { sessionId: id });
  expect((await commands.agent("wait", id)).exit).toBe(0);
  await editor.agent.request("session/load", { sessionId: id, cwd: commands.home, mcpServers: [] });
  expect(await say(editor, id, "again")).toEqual({ stopReason: "end_turn" });
  expect(linesOf("closes")).toContain("2 load session-1");
});

it("with the name of a worker, the session is that worker; it goes on when the editor is gone", async () => {
  await commands.agent(
    "spawn",
    "acp",
    "-i",
    ...["--name", "mine", "--env", `LEDGER=${ledgerOf("mine")}`, "--env", `HOME=${ledgerOf("mine")}.home`],
    ...["--", process.execPath, FIXTURE],
  );
  const editor = await edit(["mine"]);
  const id = await begun(editor);
  expect((await commands.agent("info", "mine")).data).toMatchObject({ id });
  expect(await say(editor, id, "hello")).toEqual({ stopReason: "end_turn" });
  const gone = new Promise((resolve) => editor.process.once("exit", resolve));
  editor.process.stdin!.end();
  expect(await gone).toBe(0);
  expect((await commands.agent("info", "mine")).data).toMatchObject({ status: "running" });
});

it(
  "mistakes are told before an editor waits",
  async () => {
    const ran = await commands.start(["acp"]).ended;
    expect({ exit: ran.exit, stdout: ran.stdout }).toEqual({ exit: 3, stdout: "" });
    expect(ran.stderr).toContain("agent acp needs a KIND, or the ID of a worker");
    const nobody = await commands.start(["acp", "nobody"]).ended;
    expect({ exit: nobody.exit, stdout: nobody.stdout }).toEqual({ exit: 3, stdout: "" });
    expect(nobody.stderr).toContain('There is no kind and no worker "nobody".');
  },
  PROMPT_MAX_MS,
);
