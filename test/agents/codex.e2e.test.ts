/** codex itself, under `agent spawn`. */
import { expect, it } from "vitest";
import { codex } from "./agents.ts";
import { describeAgent } from "./suite.ts";
import { makeCwd } from "./world.ts";

describeAgent(codex, (world) => {
  it("a line that drops in the middle of an answer is told as PROVIDER_ERROR", async () => {
    const story = await world().story(await world().spawn("drop", makeCwd(), "--restart", "temporary"));
    expect(story.of("worker_failed")).toMatchObject([{ payload: { error: { code: "PROVIDER_ERROR" } } }]);
  });
});
