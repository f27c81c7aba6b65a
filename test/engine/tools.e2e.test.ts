/** The tools of kind `llm`: skills, and MCP servers of the configuration, under the permissions of every kind. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lookForSandbox } from "../../src/workspace/sandbox/sandbox.ts";
import { type Commands, makeCommands, until } from "../cli/support/commands.ts";
import { type FakeModel, startFakeModel } from "../support/fake-model/server.ts";

const isHere = "program" in (await lookForSandbox());
const SERVER = join(import.meta.dirname, "../fixtures/mcp/server.mjs");

let commands: Commands;
let fake: FakeModel;
let work: string;
beforeAll(async () => {
  commands = makeCommands();
  fake = await startFakeModel();
  // A skill sees no state directory, so its workspace is outside of it.
  work = mkdtempSync(join(tmpdir(), "holdfast-work-"));
  writeFileSync(join(work, "note.txt"), "remember the milk\n");
  const server = (name: string, trusted: boolean, sin = "none") =>
    `  ${name}:\n    command: [${JSON.stringify(process.execPath)}, ${JSON.stringify(SERVER)}, ${sin}]\n    trusted: ${trusted}\n`;
  writeFileSync(
    join(commands.home, "config.yaml"),
    `providers:
  local: { dialect: openai, base_url: ${fake.url}/v1, key: "@env:LOCAL_KEY" }
  plain: { dialect: anthropic, base_url: ${fake.url}/v1 }
kinds:
  llm: { model: openai/some-model }
mcp:
${server("fake", true)}${server("silent", false, "dies_at_once")}`,
  );
});
afterAll(async () => {
  await commands.close();
  await fake.close();
  rmSync(work, { recursive: true, force: true });
});

const spawn = (scenario: string, ...flags: string[]) => spawnOn("plain/fake-1", scenario, ...flags);
const argvOn = (model: string, scenario: string, ...flags: string[]) => [
  ...["spawn", "llm", `Hello. [[scenario:${scenario}]]`, "--model", model, "--cwd", work],
  ...["--env", `HOLDFAST_ENGINE_HOME=${join(commands.home, "journals")}`],
  ...["--restart", "temporary", ...flags],
];
const spawnOn = (model: string, scenario: string, ...flags: string[]) =>
  commands.agent(...argvOn(model, scenario, ...flags));
const outputOf = async (id: unknown) => (await commands.agent("output", String(id))).data.text;
const WITH_FAKE = ["--ext", 'backend.llm.mcp.v1=["fake"]'];
/** The results of the tools that the model was given last. */
const results = (scenario: string) =>
  fake.requests.findLast((one) => one.scenario === scenario && one.results?.length)?.results;

it("a provider of the configuration gets the key that its reference names", async () => {
  const { data } = await spawnOn("local/fake-1", "text", "--env", "LOCAL_KEY=fake-key-123", "--wait");
  expect(data).toMatchObject({ status: "completed" });
  expect(fake.requests.at(-1)?.credential).toBe("Bearer fake-key-123");
});

it("the doctor names a server that does not come up, and keys that are missing, also of a default model", async () => {
  const { data } = await commands.agent("doctor");
  const checks = data.checks as readonly { readonly name: string; readonly finding: string }[];
  expect(checks.find(({ name }) => name === "models")).toMatchObject({
    result: "warn",
    finding:
      "There is no key for the provider openai: the variable OPENAI_API_KEY has none. There is no key for the provider local: the variable LOCAL_KEY has none. The MCP server silent did not come up.",
  });
});

describe.skipIf(!isHere)("a skill", () => {
  it("reads a file of the workspace without a permission", async () => {
    const { data } = await spawn("readnote", "--wait");
    expect(await outputOf(data.id)).toBe("The note says: remember the milk.");
    expect(results("readnote")?.[0]).toContain("remember the milk");
  });

  it("cannot leave the workspace, and the model learns why", async () => {
    const { data } = await spawn("readoutside", "--wait");
    expect(await outputOf(data.id)).toBe("It may not be read.");
    expect(results("readoutside")?.[0]).toContain("POLICY_VIOLATION");
  });
});

describe("a tool of an MCP server", () => {
  it("that only reads, of a trusted server, needs no permission", async () => {
    const { data } = await spawn("mcpecho", ...WITH_FAKE, "--wait");
    expect(await outputOf(data.id)).toBe("It answered.");
    expect(results("mcpecho")).toEqual(["echo: ping"]);
  });

  it("is not offered to an agent that has no permission for it", async () => {
    const { data } = await spawn("mcpnote", ...WITH_FAKE, "--wait");
    expect(await outputOf(data.id)).toBe("No tool of mcp__fake__note was offered.");
  });

  it("runs under a rule that allows it", async () => {
    const { data } = await spawn("mcpnote", ...WITH_FAKE, "--allow-tool", "mcp__fake__note", "--wait");
    expect(await outputOf(data.id)).toBe("It is noted.");
    expect(results("mcpnote")).toEqual([JSON.stringify({ noted: true })]);
  });

  it.each([
    ["approve", "It is noted.", JSON.stringify({ noted: true })],
    ["deny", "It is noted.", "Not today."],
  ])("waits for a person who is asked: %s", async (verb, text, result) => {
    const { data } = await spawn("mcpnote", ...WITH_FAKE, "--permission", "ask");
    const id = String(data.id);
    let asked: { approval_id: string; tool: string } | undefined;
    await until(async () => {
      const open = (await commands.agent("approvals", id)).data as unknown as (typeof asked)[];
      asked = open[0];
      return asked !== undefined;
    });
    expect(asked?.tool).toBe("mcp__fake__note");
    const words =
      verb === "deny"
        ? ["deny", asked!.approval_id, "--reason", "Not today."]
        : ["approve", asked!.approval_id];
    await commands.agent("approvals", ...words);
    await commands.agent("wait", id);
    expect(await outputOf(id)).toBe(text);
    expect(results("mcpnote")).toEqual([result]);
  });

  it("is named by the configuration, or the request is refused", async () => {
    const { error } = await spawn("mcpecho", "--ext", 'backend.llm.mcp.v1=["fakes"]');
    expect(error).toMatchObject({
      code: "INVALID_REQUEST",
      message: "There is no MCP server fakes under mcp in config.yaml: it names fake, silent.",
    });
  });

  it("whose server does not come up fails the agent with a reason", async () => {
    const { error } = await spawn("mcpecho", "--ext", 'backend.llm.mcp.v1=["silent"]', "--wait");
    expect(error?.message).toContain("The MCP server silent did not come up.");
  });
});

describe("an MCP server of one worker", () => {
  const given = (file: string, servers: object): readonly string[] => {
    writeFileSync(join(work, file), JSON.stringify({ mcpServers: servers }));
    return ["--mcp", join(work, file)];
  };
  const program = (ledger: string) => ({
    fake: {
      command: process.execPath,
      args: [SERVER, "records", ledger],
      env: { MCP_TOKEN: "@env:TOKEN_OF_SERVER", PLAIN: "plain" },
    },
  });
  const SECRET = "pw-of-one-server-4711";

  const spawnWithSecret = async (...argv: string[]) => {
    const { stdout, exit } = await commands.start(["-o", "json", ...argv, "--wait"], {
      TOKEN_OF_SERVER: SECRET,
    }).ended;
    expect(exit, stdout).toBe(0);
    return JSON.parse(stdout).data.id as string;
  };

  it("gets its secret, and no record has it", async () => {
    const ledger = join(work, "ledger");
    const flags = [...given("servers.json", program(ledger)), "--allow-tool", "mcp__*"];
    const id = await spawnWithSecret(...argvOn("plain/fake-1", "mcpecho", ...flags));
    const written = JSON.parse(readFileSync(ledger, "utf8"));
    expect(written).toMatchObject({ name: "echo", token: SECRET, plain: "plain" });
    const { data } = await commands.agent("info", id);
    const env = { MCP_TOKEN: "@env:TOKEN_OF_SERVER", PLAIN: "plain" };
    expect(data).toMatchObject({ spec: { mcp: { fake: { env } } } });
    const { stdout: log } = await commands.text("logs", id, "-o", "json");
    expect(JSON.stringify(data) + log).not.toContain(SECRET);
  });

  it.skipIf(!isHere)("can be started from inside a sandbox, which hides the state directory", async () => {
    // A CLI that does no more than to start its server, of programs that every sandbox sees.
    const stub = join(work, "claude.sh");
    const line = { type: "result", subtype: "success", is_error: false, result: "done", session_id: "s" };
    writeFileSync(
      stub,
      `#!/bin/sh
for word; do case $word in --mcp-config=*) given=\${word#*=} ;; esac; done
command=$(printf %s "$given" | sed 's/.*"command":"\\([^"]*\\)".*/\\1/')
script=$(printf %s "$given" | sed 's/.*"args":\\["\\([^"]*\\)"\\].*/\\1/')
"$command" "$script" || exit 1
echo '${JSON.stringify(line)}'
`,
      { mode: 0o755 },
    );
    const server = { command: "sh", args: ["-c", 'echo "$MCP_TOKEN" > token'], env: program("").fake.env };
    const flags = [...given("boxed.json", { fake: server }), "--sandbox", "workspace", "--cwd", work];
    await spawnWithSecret("spawn", "claude", "go", "--env", `CLAUDE_BINARY=${stub}`, ...flags);
    expect(readFileSync(join(work, "token"), "utf8")).toBe(`${SECRET}\n`);
  });

  it("is shown by a dry run, which starts and writes nothing", async () => {
    const plain = { fake: { command: "serve", env: { MCP_TOKEN: "pw-of-a-dry-run-1" } } };
    const { data } = await spawn("text", ...given("dry.json", plain), "--dry-run");
    expect(data).toMatchObject({ effect: "would_create", plan: { mcp: ["fake"] } });
    expect(JSON.stringify(data)).not.toContain("pw-of-a-dry-run-1");
    expect(existsSync(join(commands.home, "runs", "WORKER-ID"))).toBe(false);
  });

  it("whose secret is not there fails the request", async () => {
    const { error } = await spawn("text", ...given("none.json", program("/nowhere")));
    expect(error).toMatchObject({
      code: "SECRET_UNAVAILABLE",
      message: "MCP_TOKEN refers to the variable TOKEN_OF_SERVER, which was not set at spawn.",
    });
  });

  it("that is malformed is refused with its place", async () => {
    const { error } = await spawn("text", ...given("bad.json", { fake: { command: "x", url: "http://h/" } }));
    expect(error).toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringContaining(
        "mcp.fake: a server is a command (with args and env), or a url (with headers)",
      ),
    });
  });
});
