/** Claude Code itself, under `agent spawn`. */
import { expect, it } from "vitest";
import { claude } from "./agents.ts";
import { describeAgent } from "./suite.ts";
import { makeCwd } from "./world.ts";

describeAgent(claude, (world) => {
  it.each([
    ["refusal", "REFUSED", []],
    ["maxturns", "MAX_TURNS", ["--budget", "turns=2"]],
  ] as const)("%s is told as %s", async (scenario, code, flags) => {
    const id = await world().spawn(scenario, makeCwd(), "--restart", "temporary", ...flags);
    const story = await world().story(id);
    expect(story.of("worker_failed")).toMatchObject([{ payload: { error: { code } } }]);
  });
});
