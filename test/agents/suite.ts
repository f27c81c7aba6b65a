/** The duties of every CLI under `agent spawn`, whatever its wire and its words. */
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/protocol/agent-event.ts";
import { longText } from "../support/fake-model/scenarios.ts";
import { type AgentUnderTest, FAKE_KEY } from "./agents.ts";
import { isUnderTest } from "./install.ts";
import { describePrompts } from "./prompts.ts";
import {
  callIsTold,
  makeCanary,
  makeCwd,
  makeWorld,
  resultsOfCalls,
  type Story,
  until,
  type World,
} from "./world.ts";

const DAEMON_STOPPED_MS = 7_000;
const SCENARIOS_THAT_END = ["e401", "e429", "e500", "maxtokens"] as const;

const textOn = (events: readonly AgentEvent[], channel: string): string =>
  events
    .filter((event) => event.kind === "TextOutput" && event.channel === channel)
    .map(({ text = "" }) => text)
    .join("");

const failureOf = (story: Story) => story.of("worker_failed").map(({ payload }) => payload.error.code);

/** Tests of one CLI in a world of their own, which they get once it is made. */
export const describeWorld = (
  under: AgentUnderTest,
  title: string,
  tests: (world: () => World) => void,
): void => {
  describe.skipIf(!isUnderTest(under.kind))(title, () => {
    let world: World;
    beforeAll(async () => {
      world = await makeWorld(under);
    });
    afterAll(() => world.close());
    tests(() => world);
  });
};

/** `more` are tests of one CLI alone; they get the world once it is made. */
export const describeAgent = (under: AgentUnderTest, more: (world: () => World) => void): void => {
  describe.skipIf(!isUnderTest(under.kind))(under.kind, () => {
    let world: World;
    beforeAll(async () => {
      world = await makeWorld(under);
    });
    afterAll(() => world.close());

    it("answers, and its session, usage and final text are told", async () => {
      const story = await world.story(await world.spawn("text", makeCwd()));
      expect(textOn(story.events, "assistant")).toBe("Hello from the fake model.");
      expect(story.of("worker_completed")).toMatchObject([
        { payload: { completion: { status: { code: 0 }, final_text: "Hello from the fake model." } } },
      ]);
      expect(story.of("session_started")).toHaveLength(1);
      expect(story.of("turn_completed")).toMatchObject([
        { payload: { usage: { output_tokens: under.output_tokens } } },
      ]);
    });

    it("thinks on its own channel", async () => {
      const story = await world.story(await world.spawn("thinking", makeCwd()));
      const thought = under.thinks ? "First the question, then the answer." : "";
      expect(textOn(story.events, "reasoning")).toContain(thought);
      expect(textOn(story.events, "assistant")).toBe("Forty-two.");
    });

    it.each([
      ["shell", "hello-from-tool"],
      ["shellfail", "about-to-fail"],
    ] as const)(
      "%s: a tool is called, and its result reaches the log and the model",
      async (scenario, output) => {
        const story = await world.story(await world.spawn(scenario, makeCwd()));
        const tools = story.events.filter(({ kind }) => kind === "ToolCall" || kind === "ToolResult");
        expect(tools.map(({ kind }) => kind)).toEqual(["ToolCall", "ToolResult"]);
        expect(story.of("worker_completed")).toHaveLength(1);
        const told = world.model.requests.filter((seen) => seen.scenario === scenario && seen.round === 1);
        expect(told.flatMap(({ results = [] }) => results).join("")).toContain(output);
      },
    );

    it("brings 200 KB of text, every byte of them", async () => {
      const story = await world.story(await world.spawn("long", makeCwd()));
      expect(textOn(story.events, "assistant") === longText()).toBe(true);
      const output = JSON.parse(await world.agent("output", story.id, "-o", "json"));
      expect(output.data).toMatchObject({ truncated: false });
      expect(output.data.text === longText()).toBe(true);
    });

    it("a command that prints 3 MB ends its call, and an answer of 3 MB comes whole", async () => {
      const story = await world.story(await world.spawn("bigout", makeCwd()));
      const tools = story.events.filter(({ kind }) => kind === "ToolCall" || kind === "ToolResult");
      expect(tools.map(({ kind }) => kind)).toEqual(["ToolCall", "ToolResult"]);
      expect(story.of("worker_log_chunk")).toEqual([]);
      const { id } = await world.story(await world.spawn("long3mb", makeCwd()));
      const { data } = JSON.parse(await world.agent("output", id, "-o", "json"));
      expect(data).toMatchObject({ truncated: false, omitted_bytes: 0 });
      expect(data.text === longText().repeat(15)).toBe(true);
    });

    it("brings them all the same when its daemon is stopped for seven seconds meanwhile", async () => {
      const id = await world.spawn("long", makeCwd());
      const running = async () => (await world.soFar(id)).of("worker_spawned").length === 1;
      await until(running, "the agent runs");
      const { pid } = JSON.parse(await world.agent("daemon", "status", "-o", "json")).data;
      process.kill(pid, "SIGSTOP");
      try {
        // Not a wait for something: the reply comes while nobody reads.
        await new Promise((resolve) => setTimeout(resolve, DAEMON_STOPPED_MS));
      } finally {
        process.kill(pid, "SIGCONT");
      }
      const story = await world.story(id);
      expect(textOn(story.events, "assistant") === longText()).toBe(true);
      expect(story.of("worker_completed")).toHaveLength(1);
    });

    const endings = SCENARIOS_THAT_END.flatMap((scenario) => {
      const ending = under.endings[scenario];
      return ending === undefined ? [] : [[scenario, ...ending] as const];
    });
    it.each(endings)("%s is told as %s, exit code %i", async (scenario, outcome, exit_code) => {
      const story = await world.story(await world.spawn(scenario, makeCwd(), "--restart", "temporary"));
      expect(failureOf(story)).toEqual(outcome === "completed" ? [] : [outcome]);
      expect(story.of("worker_exited")).toMatchObject([{ payload: { exit_code, reason: "exited" } }]);
    });

    it("writes a file with permission, and none without", async () => {
      const [allowed, denied] = [makeCwd(), makeCwd()];
      await world.story(await world.spawn("shellwrite", allowed));
      expect(readdirSync(allowed)).toContain("made.txt");
      const story = await world.story(await world.spawnWith("shellwrite", denied, "--permission", "deny"));
      expect(story.of("worker_exited")).toHaveLength(1);
      expect(readdirSync(denied)).not.toContain("made.txt");
    });

    it.each([
      ["hang", "--stall", "2s", "stall"],
      ["hangstream", "--timeout", "3s", "timeout"],
    ] as const)("%s is ended by %s", async (scenario, flag, value, limit) => {
      const flags = [flag, value, "--grace", "1s", "--restart", "temporary"];
      const story = await world.story(await world.spawn(scenario, makeCwd(), ...flags));
      expect(story.of("worker_limit_reached")).toMatchObject([{ payload: { limit } }]);
      expect(failureOf(story)).toHaveLength(1);
    });

    it("killed by somebody in the middle of its answer, it is started again, and answers in the same session", async () => {
      const flags = ["--restart", "transient", "--backoff", "100ms..1s"];
      const id = await world.spawn("hangonce", makeCwd(), ...flags);
      const isAsked = () => world.model.requests.some(({ scenario }) => scenario === "hangonce");
      const hasBegun = async () => (await world.soFar(id)).of("turn_started").length === 1;
      await until(async () => isAsked() && (await hasBegun()), "the model is silent");
      const [spawned] = (await world.soFar(id)).of("worker_spawned");
      process.kill(spawned!.payload.agent!.pid, "SIGKILL");

      const story = await world.story(id);
      expect(story.of("worker_completed")).toMatchObject([
        { incarnation: 2, payload: { completion: { final_text: "Resumed, and done." } } },
      ]);
      const sessions = story.of("session_started").map(({ payload }) => payload.session_id);
      expect(new Set(sessions).size).toBe(1);
      expect(world.model.requests.at(-1)).toMatchObject({ scenario: "hangonce", asked: 2 });
    });

    it("is killed while it waits for a model that says nothing", async () => {
      const before = world.model.requests.length;
      const id = await world.spawn("hang", makeCwd());
      const isAsked = () => world.model.requests.slice(before).some(({ scenario }) => scenario === "hang");
      await until(isAsked, "the model is asked");
      await world.agent("kill", id, "--grace", "2s");
      expect((await world.story(id)).of("worker_cancelled")).toHaveLength(1);
    });

    it("killed by somebody in the middle of a tool, it goes on in its session, and no tool is left", async () => {
      const cwd = makeCwd();
      const isHeld = makeCanary(cwd);
      const flags = ["--restart", "transient", "--backoff", "100ms..1s", "--on-interrupted", "continue"];
      const id = await world.spawn("shellsleep", cwd, ...flags);
      await until(isHeld, "the tool runs");
      if (under.kind !== "opencode") await callIsTold(world, id);
      const [spawned] = (await world.soFar(id)).of("worker_spawned");
      process.kill(spawned!.payload.agent!.pid, "SIGKILL");

      const story = await world.story(id);
      expect(isHeld()).toBe(false);
      expect(textOn(story.events, "assistant")).toContain("Resumed, and done.");
      expect(story.of("worker_failed")).toMatchObject([{ incarnation: 1 }]);
      expect(story.of("worker_completed")).toMatchObject([{ incarnation: 2 }]);
      expect(new Set(resultsOfCalls(story))).toEqual(new Set(under.kind === "opencode" ? [] : [1]));
      const sessions = story.of("session_started").map(({ payload }) => payload.session_id);
      expect(new Set(sessions).size).toBe(1);
      expect(world.model.requests.at(-1)).toMatchObject({ scenario: "shellsleep", asked: 2 });
    });

    it("is killed with its tools, also the one that left its session", async () => {
      const cwd = makeCwd();
      const isHeld = makeCanary(cwd);
      const id = await world.spawn("shellsleep", cwd);
      await until(isHeld, "the tool runs");
      if (under.kind !== "opencode") await callIsTold(world, id);
      await world.agent("kill", id, "--grace", "2s");
      expect(isHeld()).toBe(false);
      const story = await world.story(id);
      expect(story.of("worker_cancelled")).toHaveLength(1);
      expect(resultsOfCalls(story)).toEqual(under.kind === "opencode" ? [] : [1]);
    });

    describePrompts(under.kind, () => world);
    more(() => world);

    it("asked nobody but the model, with nothing but the fake key", async () => {
      const seen = world.model.requests;
      expect(new Set(seen.map(({ credential }) => credential?.replace("Bearer ", "")))).toEqual(
        new Set([FAKE_KEY]),
      );
      expect(seen.filter(({ scenario }) => scenario === undefined)).toEqual([]);
    });
  });
};
