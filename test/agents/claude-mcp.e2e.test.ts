/** Claude Code itself, which starts and waits for a worker by `agent mcp serve`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { AGENT } from "../support/built.ts";
import { claude } from "./agents.ts";
import { describeWorld } from "./suite.ts";
import { makeCwd } from "./world.ts";

describeWorld(claude, "claude with the server of holdfast", (world) => {
  it("spawns a worker below itself, waits for it, and reads its answer", async () => {
    const cwd = makeCwd();
    const env = claude.env(world().model.url);
    const server = { command: process.execPath, args: [AGENT, "mcp", "serve"], env };
    writeFileSync(join(cwd, "mcp.json"), JSON.stringify({ mcpServers: { holdfast: server } }));
    const mcp = ["--mcp-config", "mcp.json", "--strict-mcp-config", "--allowedTools", "mcp__holdfast"];
    // Its search of tools would come before them.
    const direct = ["--env", "ENABLE_TOOL_SEARCH=false"];
    const id = await world().spawnWith("mcpspawn", cwd, ...direct, "--", ...mcp);
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
