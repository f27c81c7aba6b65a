/** MCP servers that `agent spawn --mcp` gives to a CLI: each is started with its secret, and called. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type McpWeb, startMcpWeb } from "../support/mcp-web.ts";
import {
  type AgentUnderTest,
  claude,
  codex,
  copilot,
  FAKE_KEY,
  gemini,
  openCodeConfig,
  opencode,
  qwen,
} from "./agents.ts";
import { BINARIES, isUnderTest } from "./install.ts";
import { makeCwd, makeWorld, type Spawnable } from "./world.ts";

const SERVER = join(import.meta.dirname, "../fixtures/mcp/server.mjs");
const SECRETS = { MCP_PROGRAM_TOKEN: "pw-of-the-program-4711", MCP_WEB_TOKEN: "pw-of-the-web-0815" };

interface Given extends Spawnable {
  readonly program: AgentUnderTest["kind"];
  /** Its server at an address gets its secret; false for a kind whose protocol would record it. */
  readonly has_web: boolean;
}

const asIs = (under: AgentUnderTest): Given => ({ ...under, program: under.kind, has_web: true });
const byAcp = (under: AgentUnderTest, more: Partial<Given> = {}): Given => ({
  ...under,
  program: under.kind,
  allowed: { flags: ["--permission", "allow"], argv: [] },
  ...more,
  kind: `acp:${under.kind}`,
  has_web: false,
});

const GIVEN: readonly Given[] = [
  { ...asIs(claude), allowed: { flags: [], argv: ["--allowedTools", "mcp__fake__echo,mcp__web__ping"] } },
  asIs(codex),
  {
    ...asIs(codex),
    kind: "codex",
    allowed: { flags: ["--permission", "allow", "--ask-tool", "nothing"], argv: [] },
  },
  { ...asIs(qwen), has_web: false },
  asIs(opencode),
  asIs(copilot),
  byAcp(gemini),
  byAcp(claude, { program: "claudeBridge", flags: [] }),
  byAcp(codex, {
    program: "codexBridge",
    files: (url) => ({
      ".codex/config.toml": `model = "fake-model"\n${codex.files(url)[".codex/config.toml"]}`,
    }),
    flags: ["--inherit-env", "FAKE_KEY"],
  }),
  byAcp(opencode),
  byAcp(qwen),
];

const variablesOf = ({ kind, env }: Given, modelUrl: string) => ({
  ...env(modelUrl),
  ...SECRETS,
  ...(kind === "acp:claude" && {
    PATH: `${join(process.execPath, "..")}:/usr/bin:/bin`,
    CLAUDE_ACP_BINARY: BINARIES.claudeBridge,
    CLAUDE_CODE_EXECUTABLE: BINARIES.claude,
  }),
  ...(kind === "acp:codex" && {
    PATH: `${join(process.execPath, "..")}:/usr/bin:/bin`,
    CODEX_ACP_BINARY: BINARIES.codexBridge,
    CODEX_PATH: BINARIES.codex,
  }),
  ...(kind === "acp:opencode" && { OPENCODE_CONFIG_CONTENT: openCodeConfig(modelUrl) }),
  ...(kind.startsWith("acp:") && { FAKE_KEY }),
});

const fileOf = (web: McpWeb, ledger: string, hasWeb: boolean): object => ({
  mcpServers: {
    fake: {
      command: process.execPath,
      args: [SERVER, "records", ledger, "a $HOME ${PATH} 'word'"],
      env: { MCP_TOKEN: "@env:MCP_PROGRAM_TOKEN", PLAIN: 'it\'s "$HOME"' },
    },
    web: {
      type: "http",
      url: web.url,
      headers: hasWeb ? { Authorization: "Bearer @env:MCP_WEB_TOKEN" } : { "X-Team": "core" },
    },
  },
});

describe.each(GIVEN)("$kind $allowed.flags", (given) => {
  it.skipIf(!isUnderTest(given.program))(
    "its own servers are started with their secrets and called",
    async () => {
      const web = await startMcpWeb();
      onTestFinished(() => web.close());
      const world = await makeWorld({ ...given, env: (url) => variablesOf(given, url) });
      onTestFinished(() => world.close());
      const cwd = makeCwd();
      const [ledger, file] = [join(cwd, "ledger"), join(cwd, "servers.json")];
      writeFileSync(file, JSON.stringify(fileOf(web, ledger, given.has_web)));
      const story = await world.story(
        await world.spawn("mcpboth", cwd, "--mcp", file, "--restart", "temporary"),
      );
      expect(story.of("worker_completed")).toHaveLength(1);
      expect(JSON.parse(readFileSync(ledger, "utf8"))).toEqual({
        name: "echo",
        token: SECRETS.MCP_PROGRAM_TOKEN,
        plain: 'it\'s "$HOME"',
        rest: ["a $HOME ${PATH} 'word'"],
      });
      const calls = web.called.filter(({ method }) => method === "tools/call");
      expect(calls).toHaveLength(1);
      const { authorization, "x-team": team } = calls[0]!.headers;
      expect(authorization ?? team).toBe(given.has_web ? `Bearer ${SECRETS.MCP_WEB_TOKEN}` : "core");
      expect(JSON.stringify(story.records)).not.toMatch(/pw-of-the/);
    },
  );
});
