/** The fake model over a real socket: what the CLIs cannot show, because they hide it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { longText } from "./scenarios.ts";
import { type FakeModel, startFakeModel } from "./server.ts";

let model: FakeModel;
beforeAll(async () => {
  model = await startFakeModel();
});
afterAll(() => model.close());

const post = (url: string, body: unknown, signal?: AbortSignal): Promise<Response> =>
  fetch(url, { method: "POST", body: JSON.stringify(body), signal });

const BASH = { name: "Bash", input_schema: { properties: { command: { type: "string" } } } };
const EXEC = {
  type: "function",
  name: "exec_command",
  parameters: { properties: { cmd: { type: "string" } } },
};

const messages = (prompt: string, more: readonly unknown[] = []) => ({
  model: "m",
  stream: true,
  tools: [BASH],
  messages: [{ role: "user", content: prompt }, ...more],
});
const input = (prompt: string, more: readonly unknown[] = []) => ({
  model: "m",
  stream: true,
  tools: [EXEC],
  input: [{ role: "user", content: [{ type: "input_text", text: prompt }] }, ...more],
});

const chat = (prompt: string, more: readonly unknown[] = []) => ({
  model: "m",
  stream: true,
  tools: [{ function: { name: "bash", parameters: BASH.input_schema } }],
  messages: [{ role: "user", content: prompt }, ...more],
});
const contents = (prompt: string, more: readonly unknown[] = []) => ({
  tools: [{ functionDeclarations: [{ name: "run_shell_command", parameters: BASH.input_schema }] }],
  contents: [{ role: "user", parts: [{ text: prompt }] }, ...more],
});

interface Chunk {
  readonly delta?: string | { readonly text?: string };
  readonly choices?: readonly { readonly delta?: { readonly content?: string } }[];
  readonly candidates?: readonly { readonly content: { readonly parts: readonly { text?: string }[] } }[];
}

const textsOf = ({ delta, choices, candidates }: Chunk): readonly string[] => {
  if (choices !== undefined) return choices.flatMap((choice) => choice.delta?.content ?? []);
  if (candidates !== undefined)
    return candidates.flatMap(({ content }) => content.parts.map(({ text = "" }) => text));
  return [typeof delta === "string" ? delta : (delta?.text ?? "")];
};

/** The text deltas of a stream. */
const deltasOf = (stream: string): readonly string[] =>
  stream
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .flatMap((line) => textsOf(JSON.parse(line.slice("data: ".length))))
    .filter((text) => text !== "");

describe.each([
  ["/v1/messages", messages, "Bash", { role: "user", content: [{ type: "tool_result", content: "out" }] }],
  ["/v1/responses", input, "exec_command", { type: "function_call_output", output: "out" }],
  ["/v1/chat/completions", chat, "bash", { role: "tool", content: "out" }],
  [
    "/v1beta/models/m:streamGenerateContent",
    contents,
    "run_shell_command",
    { role: "user", parts: [{ functionResponse: { response: { output: "out" } } }] },
  ],
] as const)("%s", (path, ask, shell, result) => {
  it("streams a text in several deltas that join to the whole", async () => {
    const texts = deltasOf(await (await post(model.url + path, ask("[[scenario:long]]"))).text());
    expect(texts.length).toBeGreaterThan(4);
    expect(texts.join("") === longText()).toBe(true);
  });

  it("knows its turn by the tool results after the prompt, and keeps nothing itself", async () => {
    const first = await (await post(model.at("shell") + path, ask("do it"))).text();
    const second = await (await post(model.at("shell") + path, ask("do it", [result]))).text();
    expect(first).toContain(`"name":"${shell}"`);
    expect(deltasOf(second).join("")).toBe("The command printed hello-from-tool.");
    const [before, after] = model.requests.slice(-2);
    expect([before?.round, after?.round]).toEqual([0, 1]);
    expect(after?.results?.join("")).toContain("out");
  });

  it("answers an error with its HTTP status and the provider's own words for it", async () => {
    const response = await post(model.at("e429") + path, ask("x"));
    expect(response.status).toBe(429);
    expect(JSON.stringify(await response.json())).toMatch(/"rate_limit_error"|"RESOURCE_EXHAUSTED"/);
  });

  it("never answers when it hangs, until it is closed", async () => {
    const other = await startFakeModel();
    const pending = post(other.at("hang") + path, ask("x")).then(
      () => "answered",
      () => "cut",
    );
    await expect.poll(() => other.requests.length).toBe(1);
    await other.close();
    expect(await pending).toBe("cut");
  });

  it("cuts the line in the middle of an answer", async () => {
    const response = await post(model.at("drop") + path, ask("x"));
    await expect(response.text()).rejects.toThrow();
  });
});

it("answers other paths with 404, and remembers that they were asked", async () => {
  expect((await fetch(`${model.url}/telemetry`)).status).toBe(404);
  expect(model.requests.at(-1)).toMatchObject({ path: "/telemetry", status: 404 });
});
