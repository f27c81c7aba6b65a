import { expect, it } from "vitest";
import type { Message, ModelPart } from "../../src/engine/model.ts";
import { type ScriptedAnswer, scriptedModel } from "../../src/engine/scripted.ts";
import { NO_TOOLS } from "../../src/engine/tools.ts";

const said = async (
  script: readonly ScriptedAnswer[],
  messages: readonly Message[],
): Promise<readonly ModelPart[]> => {
  const request = { model: "scripted/one", messages, tools: [] };
  const parts: ModelPart[] = [];
  for await (const part of scriptedModel(script).stream(request, new AbortController().signal))
    parts.push(part);
  return parts;
};
const user: Message = { role: "user", text: "go" };
const before: Message = { role: "assistant", text: "first", tool_calls: [] };

it("answers by the place in the conversation", async () => {
  const script = [{ text: "first" }, { text: "second", usage: { output_tokens: 3 } }];
  expect((await said(script, [user])).map(({ type }) => type)).toEqual(["text", "finished"]);
  expect((await said(script, [user, before, user])).at(-1)).toMatchObject({
    type: "finished",
    reason: "stop",
    message: { text: "second", tool_calls: [] },
    usage: { output_tokens: 3, input_tokens: 0 },
  });
});

it("calls tools, with an empty input by default", async () => {
  expect((await said([{ calls: [{ id: "c1", name: "fs/ls" }] }], [user])).at(-1)).toMatchObject({
    reason: "tool_calls",
    message: { tool_calls: [{ id: "c1", name: "fs/ls", input: {} }] },
  });
});

it("fails as the script says, and at the script's end", async () => {
  await expect(
    said([{ text: "half", error: { kind: "rate_limited", status: 429, retry_after_ms: 5 } }], [user]),
  ).rejects.toMatchObject({ kind: "rate_limited", status: 429, retry_after_ms: 5 });
  await expect(said([], [user])).rejects.toMatchObject({ kind: "invalid_request" });
});

it("an agent without tools has none to run", async () => {
  expect(await NO_TOOLS.list()).toEqual([]);
  const call = { id: "c1", name: "fs/ls", input: {} };
  expect(NO_TOOLS.judge(call)).toEqual({ decision: "deny", reason: "There is no tool fs/ls." });
});
