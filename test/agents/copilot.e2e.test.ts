/** Copilot CLI itself, under `agent spawn`. Runs with HOLDFAST_AGENTS=all. */
import { expect, it } from "vitest";
import { copilot } from "./agents.ts";
import { describeAgent } from "./suite.ts";
import { makeCanary, makeCwd, until } from "./world.ts";

describeAgent(copilot, (world) => {
  it("killed in the middle of a tool and not restarted, its session is known, and gone on with", async () => {
    const cwd = makeCwd();
    const isHeld = makeCanary(cwd);
    const id = await world().spawn("shellsleep", cwd, "--restart", "temporary");
    await until(isHeld, "the tool runs");
    const [spawned] = (await world().soFar(id)).of("worker_spawned");
    process.kill(spawned!.payload.agent!.pid, "SIGKILL");
    const first = await world().story(id);
    const resumed = await world().agent("resume", id, "Go on. [[scenario:text]]", "-o", "json");
    const story = await world().story(JSON.parse(resumed).data.id);
    expect(story.of("worker_completed")).toHaveLength(1);
    expect(story.of("session_started")).toMatchObject(
      first.of("session_started").map(({ payload }) => ({ payload })),
    );
    expect(first.of("session_started")).toHaveLength(1);
  });

  it("its tokens are those of the file that it writes at its end, by model; a run that goes on counts none", async () => {
    const cwd = makeCwd();
    const first = await world().story(await world().spawn("shell", cwd));
    expect(first.of("turn_completed")).toMatchObject([
      {
        payload: {
          usage: { input_tokens: 2_468, output_tokens: 112, cached_tokens: 200 },
          models: [{ model: "fake-model", input_tokens: 2_268, output_tokens: 112 }],
        },
      },
    ]);
    const { data } = JSON.parse(await world().agent("usage", first.id, "-o", "json"));
    expect(data.total).toMatchObject({ turns: 1, output_tokens: 112 });
    const resumed = await world().agent("resume", first.id, "Go on. [[scenario:text]]", "-o", "json");
    const second = await world().story(JSON.parse(resumed).data.id);
    expect(second.of("turn_completed")).toMatchObject([{ payload: { usage: { output_tokens: 0 } } }]);
  });

  it("a session that it does not know is told as SESSION_NOT_FOUND", async () => {
    const flags = ["--session", "99999999-2222-4333-8444-555555555555", "--restart", "temporary"];
    const story = await world().story(await world().spawn("text", makeCwd(), ...flags));
    expect(story.of("worker_failed")).toMatchObject([{ payload: { error: { code: "SESSION_NOT_FOUND" } } }]);
  });
});
