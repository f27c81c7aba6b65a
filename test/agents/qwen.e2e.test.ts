/** Qwen Code itself, under `agent spawn`. Runs with HOLDFAST_AGENTS=all. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { qwen } from "./agents.ts";
import { describeAgent } from "./suite.ts";
import { killedBetweenTurns, makeCwd } from "./world.ts";

describeAgent(qwen, (world) => {
  it("with a schema, the final answer is JSON of that form", async () => {
    const cwd = makeCwd();
    const schema = {
      type: "object",
      properties: { city: { type: "string" }, people: { type: "integer" } },
      required: ["city", "people"],
    };
    writeFileSync(join(cwd, "schema.json"), JSON.stringify(schema));
    const id = await world().spawn("answer", cwd, "--output-schema", join(cwd, "schema.json"));
    await world().story(id);
    const { data } = JSON.parse(await world().agent("output", id, "-o", "json"));
    expect(JSON.parse(data.text)).toEqual({ city: "Łódź", people: 648_711 });
  });

  it("converses: a turn for each message, with its own usage, until its input ends", async () => {
    const id = await world().spawn("text", makeCwd(), "--interactive");
    const said = await world().agent("ask", id, "And now? [[scenario:shell]]", "-o", "text");
    expect(said).toBe("The command printed hello-from-tool.\n");
    await world().agent("send", id, "Good. [[scenario:text]]");
    await world().agent("send", id, "--close");
    const story = await world().story(id);
    expect(story.of("turn_completed").map(({ payload }) => payload.usage.output_tokens)).toEqual([
      56, 112, 56,
    ]);
    expect(story.of("worker_completed")).toHaveLength(1);
    const taken = story.of("worker_message").filter(({ payload }) => payload.state === "acknowledged");
    expect(taken.map(({ payload }) => "turn" in payload && payload.turn)).toEqual([1, 2, 3]);
  });

  it("killed between two turns of a conversation, it has failed, and goes on in its session", async () => {
    const story = await killedBetweenTurns(world(), makeCwd());
    expect(story.of("worker_failed")).toMatchObject([{ incarnation: 1 }]);
    expect(story.of("worker_completed")).toMatchObject([{ incarnation: 2 }]);
    expect(new Set(story.of("session_started").map(({ payload }) => payload.session_id)).size).toBe(1);
  });

  it("a session that is forked is another one, and only its own turn is counted", async () => {
    const cwd = makeCwd();
    const first = await world().story(await world().spawn("text", cwd));
    const [session] = first.of("session_started").map(({ payload }) => payload.session_id);
    const story = await world().story(await world().spawn("text", cwd, "--session", session!, "--fork"));
    expect(story.of("session_started")[0]!.payload.session_id).not.toBe(session);
    expect(story.of("turn_completed")).toMatchObject([{ payload: { usage: { output_tokens: 56 } } }]);
  });

  it("a line that drops is told as PROVIDER_ERROR, without the words of the error", async () => {
    const story = await world().story(await world().spawn("drop", makeCwd(), "--restart", "temporary"));
    expect(story.of("worker_failed")).toMatchObject([{ payload: { error: { code: "PROVIDER_ERROR" } } }]);
    expect(JSON.stringify(story.events)).not.toContain("API Error");
  });

  it("more turns than it may take are told as MAX_TURNS, exit code 53", async () => {
    const flags = ["--budget", "turns=2", "--restart", "temporary"];
    const story = await world().story(await world().spawn("maxturns", makeCwd(), ...flags));
    expect(story.of("worker_failed")).toMatchObject([{ payload: { error: { code: "MAX_TURNS" } } }]);
    expect(story.of("worker_exited")).toMatchObject([{ payload: { exit_code: 53 } }]);
  });

  it("a session that it does not know is told as SESSION_NOT_FOUND", async () => {
    const flags = ["--session", "99999999-2222-4333-8444-555555555555", "--restart", "temporary"];
    const story = await world().story(await world().spawn("text", makeCwd(), ...flags));
    expect(story.of("worker_failed")).toMatchObject([{ payload: { error: { code: "SESSION_NOT_FOUND" } } }]);
  });
});
