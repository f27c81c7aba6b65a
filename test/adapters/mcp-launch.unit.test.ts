/** MCP servers of a worker in the plan of each kind. */
import { describe, expect, it } from "vitest";
import { adapters, builtIn } from "../../src/adapters/registry.ts";
import { refusal } from "../../src/adapters/spec-refusal.ts";
import { MCP_SERVERS } from "../../src/protocol/extensions.ts";
import { WorkerSpec } from "../../src/protocol/worker.ts";

const MCP = {
  github: {
    command: "npx",
    args: ["-y", "server", "$HOME"],
    env: { TOKEN: "@env:GITHUB", KEY: "literal-key" },
  },
  web: { url: "http://127.0.0.1:1/mcp", headers: { Authorization: "Bearer @env:WEB" } },
};
const PROGRAM = { github: MCP.github };

const specOf = (kind: string, more: object = {}) =>
  WorkerSpec.parse({ kind, cwd: "/w", prompt: "p", restart: "transient", mcp: MCP, ...more });
const planOf = (kind: string, more: object = {}) =>
  builtIn.adapterFor(kind)!.plan({
    spec: specOf(kind, more),
    worker_id: "01",
    incarnation: 1,
    session: undefined,
    binary: kind,
    scripts_dir: "/runs/01/launch",
  });
const wordAfter = (flag: string, argv: readonly string[]): string => argv[argv.indexOf(flag) + 1] ?? "";

const SCRIPT = { command: "/bin/sh", args: ["/runs/01/launch/github.sh"] };
const ALL_OF_IT = { "github.sh": { argv: ["npx", "-y", "server", "$HOME"], env: MCP.github.env } };
const HELD = { HOLDFAST_MCP_SECRET_0: "Bearer @env:WEB" };
const braced = { type: "http", url: MCP.web.url, headers: { Authorization: "${HOLDFAST_MCP_SECRET_0}" } };

describe("the plan of a kind that takes servers", () => {
  it("claude: --mcp-config, beside the servers of its own configuration", () => {
    const { argv, scripts, references } = planOf("claude_code");
    const [given = ""] = argv.filter((word) => word.startsWith("--mcp-config="));
    expect(JSON.parse(given.slice("--mcp-config=".length))).toEqual({
      mcpServers: { github: SCRIPT, web: braced },
    });
    expect(argv).not.toContain("--strict-mcp-config");
    expect({ scripts, references }).toEqual({ scripts: ALL_OF_IT, references: HELD });
  });

  it.each([
    ["exec", {}],
    ["app-server", { interactive: true }],
  ])("codex %s: settings", (way, more) => {
    const { argv, scripts, references } = planOf("codex", more);
    expect(argv).toContain(way);
    expect(argv).toContain('mcp_servers.github={command="/bin/sh",args=["/runs/01/launch/github.sh"]}');
    expect(argv).toContain(
      'mcp_servers.web={url="http://127.0.0.1:1/mcp",env_http_headers={"Authorization"="HOLDFAST_MCP_SECRET_0"}}',
    );
    expect({ scripts, references }).toEqual({ scripts: ALL_OF_IT, references: HELD });
  });

  it("copilot: --additional-mcp-config, with all tools", () => {
    const { argv } = planOf("copilot");
    const tools = ["*"];
    expect(JSON.parse(wordAfter("--additional-mcp-config", argv))).toEqual({
      mcpServers: { github: { ...SCRIPT, tools }, web: { ...braced, tools } },
    });
  });

  it("qwen: --mcp-config, and a header as it is", () => {
    const web = { url: MCP.web.url, headers: { "X-Team": "core" } };
    const { argv, references } = planOf("qwen_code", { mcp: { ...PROGRAM, web } });
    expect(JSON.parse(wordAfter("--mcp-config", argv))).toEqual({
      mcpServers: { github: SCRIPT, web: { httpUrl: MCP.web.url, headers: { "X-Team": "core" } } },
    });
    expect(references).toBeUndefined();
  });

  it("opencode: its variable, beside what the user's own holds", () => {
    const client_env = { OPENCODE_CONFIG_CONTENT: '{"model":"m","mcp":{"mine":{"type":"local"}}}' };
    const { env } = planOf("opencode", { client_env });
    expect(JSON.parse(env.OPENCODE_CONFIG_CONTENT!)).toEqual({
      model: "m",
      mcp: {
        mine: { type: "local" },
        github: { type: "local", command: [SCRIPT.command, ...SCRIPT.args] },
        web: { type: "remote", url: MCP.web.url, headers: { Authorization: "{env:HOLDFAST_MCP_SECRET_0}" } },
      },
    });
  });

  it("acp: the session's servers, once it is opened", () => {
    const acp = builtIn.adapterFor("acp")!;
    const spec = specOf("acp", { argv: ["agent"], mcp: { ...PROGRAM, web: { url: MCP.web.url } } });
    const opening = { spec, incarnation: 1, session: undefined, scripts_dir: "/runs/01/launch" };
    const line = (mcpCapabilities: object) =>
      JSON.stringify({
        jsonrpc: "2.0",
        id: "holdfast:initialize",
        result: { protocolVersion: 1, agentCapabilities: { mcpCapabilities } },
      });
    const said = (capabilities: object) =>
      acp.decode(acp.initial(opening), { kind: "text", text: line(capabilities), end: "\n" }, "stdout")
        .records;
    const [opened] = said({ http: true }).flatMap((item) =>
      item.type === "reply" && "line" in item ? [JSON.parse(item.line)] : [],
    );
    expect(opened).toMatchObject({
      method: "session/new",
      params: {
        mcpServers: [
          { name: "github", ...SCRIPT, env: [] },
          { type: "http", name: "web", url: MCP.web.url, headers: [] },
        ],
      },
    });
    expect(said({})).toContainEqual({ type: "reply", closes: true });
  });

  it("llm: the engine's own client, which reads references itself", () => {
    const { stdin, references, scripts } = planOf("llm", { model: "a/b" });
    expect(JSON.parse((stdin as { text: string }).text).ground.mcp).toEqual({
      github: { command: [SCRIPT.command, ...SCRIPT.args], env: {}, trusted: false },
      web: { url: MCP.web.url, headers: { Authorization: "Bearer @env:WEB" }, trusted: false },
    });
    expect(references).toEqual({ WEB: "@env:WEB" });
    expect(scripts).toEqual(ALL_OF_IT);
  });

  const taking = adapters.filter(({ capabilities }) => capabilities.includes(MCP_SERVERS));
  it.each(taking.map(({ kind }) => kind))("%s: no variable of a program stands anywhere else", (kind) => {
    const { scripts: _, references, ...rest } = planOf(kind, { mcp: PROGRAM, model: "a/b", argv: ["agent"] });
    expect(JSON.stringify(rest)).not.toMatch(/literal-key|@env:GITHUB|TOKEN/);
    expect(references ?? {}).toEqual({});
  });
});

describe("a kind", () => {
  const told = (kind: string, more: object = {}) =>
    refusal(builtIn.adapterFor(kind)!, specOf(kind, { argv: ["x"], ...more }));

  it.each(["command", "gemini_cli"])("%s without a way to take servers refuses them", (kind) => {
    expect(told(kind, kind === "command" ? {} : { argv: [] })).toMatchObject({
      code: "UNSUPPORTED_CAPABILITY",
    });
  });

  it.each(["acp", "qwen_code"])("%s that would be told a header itself refuses a secret in it", (kind) => {
    expect(told(kind)).toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringContaining("A header of MCP server web refers to a secret"),
    });
  });

  it("opencode names a variable that its plan could not extend", () => {
    const content = (more: object) => told("opencode", { argv: [], ...more })?.message;
    expect(content({ env: { OPENCODE_CONFIG_CONTENT: "{}" } })).toContain("which --env would replace");
    expect(content({ client_env: { OPENCODE_CONFIG_CONTENT: "[" } })).toContain("holds no JSON object");
    expect(content({})).toBeUndefined();
  });
});
