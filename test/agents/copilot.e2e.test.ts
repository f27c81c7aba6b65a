/** Copilot CLI itself, under `agent spawn`. Runs with HOLDFAST_AGENTS=all. */
import { expect, it } from "vitest";
import { copilot } from "./agents.ts";
import { describeAgent } from "./suite.ts";
import { makeCwd } from "./world.ts";

describeAgent(copilot, (world) => {
  it("a session that it does not know is told as SESSION_NOT_FOUND", async () => {
    const flags = ["--session", "99999999-2222-4333-8444-555555555555", "--restart", "temporary"];
    const story = await world().story(await world().spawn("text", makeCwd(), ...flags));
    expect(story.of("worker_failed")).toMatchObject([{ payload: { error: { code: "SESSION_NOT_FOUND" } } }]);
  });
});
