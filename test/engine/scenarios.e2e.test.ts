/**
 * Kind `llm` as people run it, over a provider: the same scenarios of the fake model that the real agent CLIs go through
 * (test/agents), in both dialects, with the outcome of the best of them.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Commands, makeCommands } from "../cli/support/commands.ts";
import { type FakeModel, startFakeModel } from "../support/fake-model/server.ts";

const KEY = "sk-fake-0123456789-abcdefghij";

let commands: Commands;
let fake: FakeModel;
beforeAll(async () => {
  commands = makeCommands();
  fake = await startFakeModel();
});
afterAll(async () => {
  await commands.close();
  await fake.close();
});

const spawn = (model: string, scenario: string, ...flags: string[]) =>
  commands.agent(
    ...["spawn", "llm", `Hello. [[scenario:${scenario}]]`, "--model", model, "--cwd", commands.home],
    ...["--env", `ANTHROPIC_BASE_URL=${fake.url}`, "--env", `OPENAI_BASE_URL=${fake.url}/v1`],
    ...["--env", `ANTHROPIC_API_KEY=${KEY}`, "--env", `OPENAI_API_KEY=${KEY}`],
    ...["--env", `HOLDFAST_ENGINE_HOME=${join(commands.home, "journals")}`],
    ...["--restart", "temporary", "--wait", ...flags],
  );

const outputOf = async (id: unknown) => (await commands.agent("output", String(id))).data.text;

/** Files of the log and of the runs, without the launch specs, which hold the environment (decision 0004). */
const kept = (): readonly string[] =>
  (readdirSync(commands.home, { recursive: true, withFileTypes: true }) as import("node:fs").Dirent[])
    .filter((entry) => entry.isFile() && entry.name !== "spec.json" && entry.name !== "daemon.token")
    .map(({ parentPath, name }) => join(parentPath, name));

describe.each(["anthropic/fake-1", "openai/fake-1"])("%s", (model) => {
  it.each([
    ["text", "Hello from the fake model."],
    ["thinking", "Forty-two."],
  ])("%s is answered", async (scenario, text) => {
    const { data } = await spawn(model, scenario);
    expect(data).toMatchObject({ status: "completed", attempts: 1 });
    expect(await outputOf(data.id)).toBe(text);
  });

  it.each([
    ["e400", "PROVIDER_BAD_REQUEST", "The provider rejected the request (HTTP 400)."],
    ["e401", "TOKEN_INVALID", "The provider refused the credentials (HTTP 401)."],
    ["e403", "TOKEN_INVALID", "The provider does not allow this with these credentials (HTTP 403)."],
    ["e404", "PROVIDER_BAD_REQUEST", "The provider does not know the model"],
    ["refusal", "REFUSED", "The model refused to answer."],
    ["maxtokens", "OUTPUT_TOO_LARGE", "The answer reached the model's output limit before it was complete."],
  ])("%s fails at once with %s", async (scenario, code, message) => {
    const { error } = await spawn(model, scenario);
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
    const prompt = `Hello. [[scenario:${scenario}]]`;
    const own = fake.requests.filter((one) => one.prompt === prompt && one.path.includes(pathOf(model)));
    expect(own).toHaveLength(1);
  });

  it("counts tokens in one meaning, and none twice", async () => {
    const { data } = await spawn(model, "text");
    const info = await commands.agent("info", String(data.id));
    const isAnthropic = model.startsWith("anthropic/");
    expect(info.data.usage).toMatchObject({
      input_tokens: isAnthropic ? 1_234 : 1_134,
      cached_tokens: 100,
      output_tokens: 56,
    });
  });
});

const pathOf = (model: string): string =>
  model.startsWith("anthropic/") ? "/v1/messages" : "/v1/chat/completions";

it("has no key: the agent says whose, before anything is sent", async () => {
  const asked = fake.requests.length;
  const { error } = await spawn("openai/fake-1", "text", "--env", "OPENAI_API_KEY=");
  expect(error).toMatchObject({
    code: "TOKEN_MISSING",
    message: expect.stringContaining(
      "There is no key for the provider openai: the variable OPENAI_API_KEY has none.",
    ),
  });
  expect(fake.requests.length).toBe(asked);
});

it("no file of the daemon has a key, but the launch specs", async () => {
  await spawn("anthropic/fake-1", "text");
  const files = kept();
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((file) => readFileSync(file).includes(KEY))).toEqual([]);
});
