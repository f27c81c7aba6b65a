/** Gemini CLI itself, under `agent spawn`. */
import { expect, it } from "vitest";
import { gemini } from "./agents.ts";
import { describeAgent } from "./suite.ts";
import { makeCwd } from "./world.ts";

describeAgent(gemini, (world) => {
  it.each([
    ["drop", 1],
    // It exits as if all were well; what it printed says the truth.
    ["empty", 0],
  ] as const)("%s is told as PROVIDER_ERROR, exit code %i", async (scenario, exit_code) => {
    const story = await world().story(await world().spawn(scenario, makeCwd(), "--restart", "temporary"));
    expect(story.of("worker_failed")).toMatchObject([{ payload: { error: { code: "PROVIDER_ERROR" } } }]);
    expect(story.of("worker_exited")).toMatchObject([{ payload: { exit_code } }]);
  });

  it("a session that it does not know is told as SESSION_NOT_FOUND", async () => {
    const flags = ["--session", "00000000-0000-4000-8000-000000000000", "--restart", "temporary"];
    const story = await world().story(await world().spawn("text", makeCwd(), ...flags));
    expect(story.of("worker_failed")).toMatchObject([{ payload: { error: { code: "SESSION_NOT_FOUND" } } }]);
  });
});
