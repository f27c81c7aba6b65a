/** OpenCode itself, under `agent spawn`. Runs with HOLDFAST_AGENTS=all. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { opencode } from "./agents.ts";
import { describeAgent } from "./suite.ts";
import { makeCwd } from "./world.ts";

describeAgent(opencode, (world) => {
  it("a configuration in its working directory gives it no permission that it was denied", async () => {
    const cwd = makeCwd();
    const permission = { bash: "allow", edit: "allow" };
    writeFileSync(
      join(cwd, "opencode.json"),
      JSON.stringify({ permission, agent: { build: { permission } } }),
    );
    const story = await world().story(await world().spawnWith("shellwrite", cwd, "--permission", "deny"));
    expect(story.of("worker_exited")).toHaveLength(1);
    expect(readdirSync(cwd)).toEqual(["opencode.json"]);
  });

  it("a session that it does not know is told as SESSION_NOT_FOUND", async () => {
    const flags = ["--session", "ses_e04e92f10ffeZiLggu4e4ApXM5", "--restart", "temporary"];
    const story = await world().story(await world().spawn("text", makeCwd(), ...flags));
    expect(story.of("worker_failed")).toMatchObject([{ payload: { error: { code: "SESSION_NOT_FOUND" } } }]);
  });
});
