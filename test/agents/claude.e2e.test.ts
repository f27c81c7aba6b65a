/** Claude Code itself, under `agent spawn`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { claude } from "./agents.ts";
import { describeAgent } from "./suite.ts";
import { killedBetweenTurns, makeCanary, makeCwd, replaceDaemon, until, type World } from "./world.ts";

const statesOf = async (world: World, id: string): Promise<readonly string[]> =>
  JSON.parse(await world.agent("messages", id, "-o", "json")).data.map(
    ({ state }: { readonly state: string }) => state,
  );

describeAgent(claude, (world) => {
  it("with a schema, the final answer is JSON of that form", async () => {
    const cwd = makeCwd();
    const schema = {
      type: "object",
      properties: { city: { type: "string" }, people: { type: "integer" } },
      required: ["city", "people"],
      additionalProperties: false,
    };
    writeFileSync(join(cwd, "schema.json"), JSON.stringify(schema));
    const id = await world().spawn("answer", cwd, "--output-schema", join(cwd, "schema.json"));
    await world().story(id);
    const { data } = JSON.parse(await world().agent("output", id, "-o", "json"));
    expect(JSON.parse(data.text)).toEqual({ city: "Łódź", people: 648_711 });
  });

  it.each([
    ["refusal", "REFUSED", []],
    ["maxturns", "MAX_TURNS", ["--budget", "turns=2"]],
  ] as const)("%s is told as %s", async (scenario, code, flags) => {
    const id = await world().spawn(scenario, makeCwd(), "--restart", "temporary", ...flags);
    const story = await world().story(id);
    expect(story.of("worker_failed")).toMatchObject([{ payload: { error: { code } } }]);
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
    expect(new Set(await statesOf(world(), id))).toEqual(new Set(["acknowledged"]));
  });

  it("killed between two turns of a conversation, it has failed, and goes on in its session", async () => {
    const story = await killedBetweenTurns(world(), makeCwd());
    expect(story.of("worker_failed")).toMatchObject([{ incarnation: 1 }]);
    expect(story.of("worker_completed")).toMatchObject([{ incarnation: 2 }]);
    expect(new Set(story.of("session_started").map(({ payload }) => payload.session_id)).size).toBe(1);
  });

  it("its daemon is killed in the middle of its turn: the answer, its usage and its exit arrive in the watch that goes on", async () => {
    const cwd = makeCwd();
    const isHeld = makeCanary(cwd);
    const id = await world().spawn("text", cwd, "--interactive");
    await until(
      async () => (await world().soFar(id)).of("turn_completed").length === 1,
      "the first turn is over",
    );
    const asking = world().agent("ask", id, "Wait for it. [[scenario:shellwait]]", "-o", "text");
    await until(isHeld, "the tool runs");
    // In its input, and not taken in as long as the tool runs.
    await world().agent("send", id, "One more thing. [[scenario:shellwait]]");
    const cursor = (await world().soFar(id)).records.at(-1)!.seq;

    await replaceDaemon(world());
    const watching = world().agent("watch", id, "--from", String(cursor), "-o", "json");
    await world().agent("send", id, "--close");
    writeFileSync(join(cwd, "go"), "");
    expect(await asking).toBe("Waited.\n");
    const lines = (await watching).trimEnd().split("\n");
    const types = lines.map((line) => JSON.parse(line).type);
    expect(types.filter((type) => type === "turn_completed").length).toBeGreaterThan(0);
    expect(types).toContain("worker_exited");
    expect(types).toContain("worker_completed");
    const story = await world().story(id);
    expect(story.records.map(({ seq }) => seq)).toEqual([...new Set(story.records.map(({ seq }) => seq))]);
    expect(story.of("worker_adopted")).toHaveLength(1);
    expect(story.of("turn_completed")[1]).toMatchObject({ payload: { usage: { output_tokens: 112 } } });
    expect(new Set(await statesOf(world(), id))).toEqual(new Set(["acknowledged"]));
  });

  it("a message that it had not taken in when it was killed is given to it again in its session, once", async () => {
    const cwd = makeCwd();
    const isHeld = makeCanary(cwd);
    const flags = ["--interactive", "--backoff", "100ms..1s", "--on-interrupted", "continue"];
    const id = await world().spawn("shellsleep", cwd, ...flags);
    await until(isHeld, "the tool runs");
    await world().agent("send", id, "Hello? [[scenario:text]]");
    const [spawned] = (await world().soFar(id)).of("worker_spawned");
    process.kill(spawned!.payload.agent!.pid, "SIGKILL");
    await until(
      async () => (await statesOf(world(), id)).every((state) => state === "acknowledged"),
      "it has both",
    );
    await world().agent("send", id, "--close");
    const story = await world().story(id);
    const acknowledged = story
      .of("worker_message")
      .filter(({ payload }) => payload.state === "acknowledged")
      .map(({ incarnation }) => incarnation);
    expect(acknowledged.slice(0, 2)).toEqual([1, 2]);
    expect(story.of("turn_completed")).toMatchObject([{ incarnation: 2 }]);
    expect(story.of("worker_completed")).toMatchObject([{ incarnation: 2 }]);
  });
});
