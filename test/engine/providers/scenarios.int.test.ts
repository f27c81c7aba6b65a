/** One step against the fake model, in both dialects: the outcomes of the best agent CLIs for the same behaviour of the model. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Message } from "../../../src/engine/model.ts";
import { longText, type ScenarioName } from "../../support/fake-model/scenarios.ts";
import { type FakeModel, startFakeModel } from "../../support/fake-model/server.ts";
import { BASH, DIALECTS, KEY, stepOf } from "./steps.ts";

let fake: FakeModel;
beforeAll(async () => {
  fake = await startFakeModel();
});
afterAll(() => fake.close());

/** The fake model's usage, of which the two dialects count cached tokens differently. */
const USAGE = {
  anthropic: { input_tokens: 1_234, cached_tokens: 100, cache_write_tokens: 0, output_tokens: 56 },
  openai: { input_tokens: 1_134, cached_tokens: 100, cache_write_tokens: 0, output_tokens: 56 },
};

describe.each(DIALECTS)("%s", (dialect) => {
  const step = (scenario: ScenarioName, messages?: readonly Message[]) =>
    stepOf(dialect, fake.at(scenario), messages && { messages });

  it("streams text in pieces, and counts its tokens", async () => {
    const { text, deltas, finished } = await step("text");
    expect(text).toBe("Hello from the fake model.");
    expect(deltas).toBeGreaterThan(1);
    expect(finished).toEqual({
      type: "finished",
      reason: "stop",
      message: { role: "assistant", text, tool_calls: [] },
      usage: { ...USAGE[dialect], reasoning_tokens: 0 },
    });
  });

  it("sends the key of its variable", async () => {
    await step("text");
    expect(fake.requests.at(-1)?.credential).toBe(dialect === "anthropic" ? KEY : `Bearer ${KEY}`);
  });

  it("calls a tool, and answers to its result", async () => {
    const { message, reason } = (await step("shell")).finished!;
    expect(reason).toBe("tool_calls");
    expect(message.tool_calls).toEqual([
      {
        id: expect.any(String),
        name: "bash",
        input: { command: expect.stringContaining("hello-from-tool") },
      },
    ]);
    const result: Message = {
      role: "tool",
      call_id: message.tool_calls[0]!.id,
      name: "bash",
      output: { stdout: "hello-from-tool\n" },
      is_error: false,
    };
    const messages = [{ role: "user", text: "Hello." }, message, result] as const;
    const second = await step("shell", JSON.parse(JSON.stringify(messages)));
    expect(second.text).toBe("The command printed hello-from-tool.");
    expect(fake.requests.at(-1)?.results).toEqual([JSON.stringify({ stdout: "hello-from-tool\n" })]);
  });

  it("gives reasoning back after a round trip through JSON", async () => {
    const { reasoning, text, finished } = await step("thinking");
    expect({ reasoning, text }).toEqual({
      reasoning: "First the question, then the answer.",
      text: "Forty-two.",
    });
    const message = JSON.parse(JSON.stringify(finished!.message));
    expect(message).toEqual(finished!.message);
    const again = await step("text", [
      { role: "user", text: "Why?" },
      message,
      { role: "user", text: "Go on." },
    ]);
    expect(again.text).toBe("Hello from the fake model.");
  });

  it("keeps every character of 200 KB", async () => {
    expect((await step("long")).text).toBe(longText());
  });

  it.each([
    ["empty", "stop", ""],
    ["maxtokens", "length", "This is cut o"],
    ["refusal", "refusal", "I cannot help with that."],
  ] as const)("%s ends with %s", async (scenario, reason, text) => {
    expect((await step(scenario)).finished).toMatchObject({ reason, message: { text } });
  });

  it.each([
    ["e400", "invalid_request", "The provider rejected the request (HTTP 400)."],
    ["e401", "auth", "The provider refused the credentials (HTTP 401)."],
    ["e403", "auth", "The provider does not allow this with these credentials (HTTP 403)."],
    ["e404", "no_such_model", expect.stringMatching(/^The provider does not know the model/)],
    ["e429", "rate_limited", "The provider's rate limit was reached (HTTP 429)."],
    ["e500", "overloaded", "The provider failed (HTTP 500)."],
    ["e529", "overloaded", "The provider is overloaded (HTTP 529)."],
  ] as const)("%s fails with %s", async (scenario, kind, message) => {
    const asked = fake.requests.length;
    const { error } = await step(scenario);
    expect(error).toMatchObject({ kind, message, status: Number(scenario.slice(1)) });
    expect(fake.requests.length, "one request, and no retry").toBe(asked + 1);
  });

  it("fails after what came before, if the line drops", async () => {
    const { text, error } = await step("drop");
    expect(text).toBe("Partial answer before the line drops.");
    expect(error).toMatchObject({ kind: "reset", message: "The connection to the provider was cut." });
  });

  it.each(["hang", "hangstream"] as const)("does not wait for ever: %s", async (scenario) => {
    const { error } = await stepOf(dialect, fake.at(scenario), {}, { silence_ms: 100 });
    expect(error).toMatchObject({ kind: "unreachable", message: "The provider did not answer in time." });
  });

  it.each(["hang", "hangstream"] as const)("ends soon after it is aborted: %s", async (scenario) => {
    const abort = new AbortController();
    const reason = new Error("called off");
    const asked = fake.requests.length;
    const onPart = () => abort.abort(reason);
    const running = stepOf(dialect, fake.at(scenario), {}, { signal: abort.signal, onPart });
    await expect.poll(() => fake.requests.length).toBe(asked + 1);
    abort.abort(reason);
    expect((await running).error).toBe(reason);
  });

  it("may call tools although the answer has a schema", async () => {
    const output_schema = {
      type: "object",
      properties: { name: { type: "string" } },
      required: ["name"],
      additionalProperties: false,
    };
    const { finished } = await stepOf(dialect, fake.at("shell"), { output_schema, tools: [BASH] });
    expect(finished?.reason).toBe("tool_calls");
  });
});
