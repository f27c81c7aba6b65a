/** codex itself, under `agent spawn`: by `codex exec`, and where it is spoken with by `codex app-server`. */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { codex } from "./agents.ts";
import { describeAgent } from "./suite.ts";
import {
  callIsTold,
  killedBetweenTurns,
  makeCanary,
  makeCwd,
  resultsOfCalls,
  type Story,
  until,
} from "./world.ts";

const approvalsIn = (story: Story) => story.of("approval_requested").map(({ payload }) => payload);

describeAgent(codex, (world) => {
  const answerTo = async (id: string, text: string): Promise<string> =>
    JSON.parse(await world().agent("ask", id, text, "--timeout", "60s", "-o", "json")).data.text;

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
    expect(world().model.requests.find(({ scenario }) => scenario === "answer")).toMatchObject({ schema });
  });

  it("a line that drops in the middle of an answer is told as PROVIDER_ERROR", async () => {
    const story = await world().story(await world().spawn("drop", makeCwd(), "--restart", "temporary"));
    expect(story.of("worker_failed")).toMatchObject([{ payload: { error: { code: "PROVIDER_ERROR" } } }]);
  });

  it.each([
    ["overflow", "PROVIDER_BAD_REQUEST", /longer than the model can read/],
    ["quota", "RATE_LIMITED", /quota at the provider is used up/],
    ["nomodel", "PROVIDER_BAD_REQUEST", /does not know the model/],
  ] as const)("%s is told apart", async (scenario, code, message) => {
    const story = await world().story(await world().spawn(scenario, makeCwd(), "--restart", "temporary"));
    expect(story.of("worker_failed").map(({ payload }) => payload.error)).toMatchObject([
      { code, message: expect.stringMatching(message) },
    ]);
  });

  it("a conversation: each message is answered in a turn of one thread, and its end is a good one", async () => {
    const id = await world().spawn("text", makeCwd(), "--interactive");
    await until(async () => (await world().soFar(id)).of("turn_completed").length === 1, "the first turn");
    expect(await answerTo(id, "And now? [[scenario:thinking]]")).toBe("Forty-two.");
    await world().agent("send", id, "--close");

    const story = await world().story(id);
    expect(story.of("session_started")).toHaveLength(1);
    expect(story.of("turn_completed").map(({ payload }) => payload.usage.output_tokens)).toEqual([56, 56]);
    expect(story.of("worker_completed")).toMatchObject([
      { payload: { completion: { status: { code: 0 }, final_text: "Forty-two." } } },
    ]);
    expect(story.events.filter(({ kind }) => kind === "Unknown" || kind === "Error")).toEqual([]);
  });

  it.each([
    ["approve", true],
    ["deny", false],
  ] as const)("%s: it asks before it runs a command, and does as it is told", async (verdict, isWritten) => {
    const cwd = makeCwd();
    const id = await world().spawnWith("shellwrite", cwd, "--permission", "ask");
    await until(async () => approvalsIn(await world().soFar(id)).length === 1, "it asks");
    expect(existsSync(join(cwd, "made.txt"))).toBe(false);
    const { data } = JSON.parse(await world().agent("approvals", "-o", "json"));
    expect(data).toMatchObject([{ tool: "shell", input: { command: "echo made-by-tool > made.txt" } }]);
    await world().agent("approvals", verdict, id);

    const story = await world().story(id);
    expect(existsSync(join(cwd, "made.txt"))).toBe(isWritten);
    expect(story.of("worker_completed")).toMatchObject([
      { payload: { completion: { final_text: "Tried to write." } } },
    ]);
    const results = story.events.filter(({ kind }) => kind === "ToolResult");
    expect(results).toMatchObject([{ data: { tool: { status: isWritten ? "completed" : "failed" } } }]);
    expect(readdirSync(cwd)).toEqual(isWritten ? ["made.txt"] : []);
  });

  it("rules decide in the place of a person", async () => {
    const cwd = makeCwd();
    const rules = [
      "--allow-tool",
      "shell(sleep *)",
      "--deny-tool",
      "shell(echo made*)",
      "--permission",
      "allow",
    ];
    const story = await world().story(await world().spawnWith("shellwrite", cwd, ...rules));
    expect(story.of("approval_answered")).toMatchObject([{ payload: { decision: "deny", by: "policy" } }]);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("cancelled in a command, it stays for the next message, and no tool is left", async () => {
    const cwd = makeCwd();
    const isHeld = makeCanary(cwd);
    const id = await world().spawn("shellsleep", cwd, "--interactive");
    await until(isHeld, "the tool runs");
    await callIsTold(world(), id);
    await world().agent("cancel", id);
    await until(async () => (await world().soFar(id)).of("turn_completed").length === 1, "the turn's end");
    expect(resultsOfCalls(await world().soFar(id))).toEqual([1]);
    expect(await answerTo(id, "Something else. [[scenario:text]]")).toBe("Hello from the fake model.");
    await world().agent("send", id, "--close");

    const story = await world().story(id);
    expect(story.of("worker_exited")).toHaveLength(1);
    expect(story.of("worker_completed")).toHaveLength(1);
    expect(isHeld()).toBe(false);
    expect(readdirSync(cwd)).toEqual(["canary"]);
  });

  it("killed by somebody in a conversation, it goes on in its thread", async () => {
    const cwd = makeCwd();
    const isHeld = makeCanary(cwd);
    const flags = ["--interactive", "--restart", "transient", "--backoff", "100ms..1s"];
    const id = await world().spawn("shellsleep", cwd, ...flags, "--on-interrupted", "continue");
    await until(isHeld, "the tool runs");
    const [spawned] = (await world().soFar(id)).of("worker_spawned");
    process.kill(spawned!.payload.agent!.pid, "SIGKILL");
    const hasResumed = async () => (await world().soFar(id)).of("session_started").length === 2;
    await until(hasResumed, "the thread is open again");
    expect(await answerTo(id, "Go on. [[scenario:text]]")).toBe("Hello from the fake model.");
    await world().agent("send", id, "--close");

    const story = await world().story(id);
    const sessions = story.of("session_started").map(({ payload }) => payload.session_id);
    expect(new Set(sessions).size).toBe(1);
    expect(story.of("worker_completed")).toMatchObject([{ incarnation: 2 }]);
  });

  it("killed between two turns of a conversation, it has failed, and goes on in its session", async () => {
    const story = await killedBetweenTurns(world(), makeCwd());
    expect(story.of("worker_failed")).toMatchObject([{ incarnation: 1 }]);
    expect(story.of("worker_completed")).toMatchObject([{ incarnation: 2 }]);
    expect(new Set(story.of("session_started").map(({ payload }) => payload.session_id)).size).toBe(1);
  });

  it("a fork is a thread of its own, which knows what was said before", async () => {
    const cwd = makeCwd();
    const first = await world().story(await world().spawn("text", cwd));
    const [session] = first.of("session_started").map(({ payload }) => payload.session_id);
    const forked = await world().agent("fork", first.id, "Please. [[scenario:text]]", "-o", "json");
    const story = await world().story(JSON.parse(forked).data.id);
    const [branch] = story.of("session_started").map(({ payload }) => payload.session_id);
    expect(branch).toMatch(/^[0-9a-f-]{36}$/);
    expect(branch).not.toBe(session);
    expect(story.of("worker_completed")).toHaveLength(1);
    expect(world().model.requests.at(-1)).toMatchObject({ scenario: "text", asked: 2 });
  });

  it("a thread that it does not know is told as SESSION_NOT_FOUND", async () => {
    const unknown = ["--session", "01a1fb3f-165a-77d1-b2a9-04000495a57e", "--fork", "--restart", "temporary"];
    const story = await world().story(await world().spawn("text", makeCwd(), ...unknown));
    expect(story.of("worker_failed")).toMatchObject([{ payload: { error: { code: "SESSION_NOT_FOUND" } } }]);
  });

  it("the newest thread of the directory is found, and branched", async () => {
    const cwd = makeCwd();
    const first = await world().story(await world().spawn("text", cwd));
    const [session] = first.of("session_started").map(({ payload }) => payload.session_id);
    const fork = ["--ext", 'agent_api.session.fork.v1={"selector":"last"}'];
    const story = await world().story(await world().spawn("text", cwd, ...fork));
    expect(story.of("session_started")[0]?.payload.session_id).not.toBe(session);
    expect(world().model.requests.at(-1)).toMatchObject({ scenario: "text", asked: 2 });
  });
});
