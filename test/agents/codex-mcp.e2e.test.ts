/** Codex itself, which starts Claude Code and waits for it by `agent mcp serve`. */
import { expect, it } from "vitest";
import { AGENT } from "../support/built.ts";
import { type AgentUnderTest, claude, codex } from "./agents.ts";
import { describeWorld } from "./suite.ts";
import { makeCwd } from "./world.ts";

/** As docs/how-to/agents-that-run-agents.md has it, and the variables of the agent that it starts. */
const SERVER = `
[mcp_servers.holdfast]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([AGENT, "mcp", "serve"])}
env_vars = ${JSON.stringify(["HOLDFAST_HOME", ...Object.keys(claude.env(""))])}
`;
const served: AgentUnderTest = {
  ...codex,
  env: (url) => ({ ...codex.env(url), ...claude.env(url) }),
  flags: [...codex.flags, ...Object.keys(claude.env("")).flatMap((name) => ["--inherit-env", name])],
  files: (url) => ({ ".codex/config.toml": `${codex.files(url)[".codex/config.toml"]}${SERVER}` }),
};

describeWorld(served, "codex with the server of holdfast", (world) => {
  it("spawns a worker below itself, waits for it, and reads its answer", async () => {
    const id = await world().spawnWith("mcpspawn", makeCwd(), "--permission", "allow");
    const story = await world().story(id);
    expect(story.of("worker_completed")).toHaveLength(1);
    const { data: helper } = JSON.parse(await world().agent("info", "helper", "-o", "json"));
    expect(helper).toMatchObject({ parent: id, status: "completed" });
    const results = story.events.filter(({ kind }) => kind === "ToolResult");
    expect(results).toHaveLength(3);
    expect(JSON.stringify(world().model.requests.map(({ results: told }) => told))).toContain(
      "Hello from the fake model.",
    );
  });
});
