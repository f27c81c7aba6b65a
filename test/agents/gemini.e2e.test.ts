/** Gemini CLI itself, under `agent spawn`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

  it("a model that the provider does not know is told as PROVIDER_BAD_REQUEST", async () => {
    const story = await world().story(await world().spawn("e404", makeCwd(), "--restart", "temporary"));
    expect(story.of("worker_failed")).toMatchObject([
      { payload: { error: { code: "PROVIDER_BAD_REQUEST" } } },
    ]);
  });

  it("more turns than its settings allow are told as MAX_TURNS, exit code 53", async () => {
    const cwd = makeCwd();
    mkdirSync(join(cwd, ".gemini"));
    writeFileSync(join(cwd, ".gemini/settings.json"), JSON.stringify({ model: { maxSessionTurns: 2 } }));
    const story = await world().story(await world().spawn("maxturns", cwd, "--restart", "temporary"));
    expect(story.of("worker_failed")).toMatchObject([{ payload: { error: { code: "MAX_TURNS" } } }]);
    expect(story.of("worker_exited")).toMatchObject([{ payload: { exit_code: 53 } }]);
  });

  it("a session that it does not know is told as SESSION_NOT_FOUND", async () => {
    const flags = ["--session", "00000000-0000-4000-8000-000000000000", "--restart", "temporary"];
    const story = await world().story(await world().spawn("text", makeCwd(), ...flags));
    expect(story.of("worker_failed")).toMatchObject([{ payload: { error: { code: "SESSION_NOT_FOUND" } } }]);
  });
});
