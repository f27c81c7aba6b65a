import { describe, expect, it } from "vitest";
import { MCP_SERVED_MAX_BYTES, MCP_SERVED_TEXT_MAX_BYTES } from "../../../src/base/limits.ts";
import { answerOf, boundedJson, refusalOf } from "../../../src/cli/mcp/answers.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";

describe("an answer", () => {
  it("is the same in its text and in its structured content, with long texts cut", () => {
    const { content, structuredContent } = answerOf({ a: { b: ["x".repeat(10_000)] }, n: null });
    expect(content).toEqual([{ type: "text", text: JSON.stringify(structuredContent) }]);
    const cut = `${"x".repeat(MCP_SERVED_TEXT_MAX_BYTES)} [${10_000 - MCP_SERVED_TEXT_MAX_BYTES} bytes cut]`;
    expect(structuredContent).toEqual({ a: { b: [cut] }, n: null });
  });

  it("keeps a text that is bounded already", () => {
    const text = "x".repeat(10_000);
    expect(answerOf({ text }, true).structuredContent).toEqual({ text });
  });

  it("masks secrets", () => {
    expect(boundedJson({ text: `sk-ant-api03-${"a1B2".repeat(12)}` })).toContain("***");
  });

  it("that is too large says so, and how to ask for less", () => {
    const many = Array.from({ length: MCP_SERVED_MAX_BYTES / 10 }, () => "0123456789");
    expect(() => boundedJson(many)).toThrow(`at most ${MCP_SERVED_MAX_BYTES} are sent`);
  });
});

it("a refusal has the code, the sentence and the next step", () => {
  const { isError, content } = refusalOf(
    new HoldfastError("WORKER_NOT_FOUND", "No worker has the id or name."),
  );
  const [first] = content as readonly { readonly text: string }[];
  expect({ isError, told: JSON.parse(first!.text) }).toEqual({
    isError: true,
    told: {
      code: "WORKER_NOT_FOUND",
      message: "No worker has the id or name.",
      suggestion: expect.stringContaining("agent list"),
      retryable: false,
    },
  });
});
