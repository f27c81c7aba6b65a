/** Lines that are long, by each kind: over the limit the beginning ends the call of a tool, and an answer is not lost in silence. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AgentAdapter, DecodedItem, Line } from "../../src/adapters/adapter.ts";
import { acp } from "../../src/adapters/kinds/acp/index.ts";
import { claudeCode } from "../../src/adapters/kinds/claude-code/index.ts";
import { codex } from "../../src/adapters/kinds/codex/index.ts";
import { copilot } from "../../src/adapters/kinds/copilot/index.ts";
import { geminiCli } from "../../src/adapters/kinds/gemini-cli/index.ts";
import { opencode } from "../../src/adapters/kinds/opencode/index.ts";
import { qwenCode } from "../../src/adapters/kinds/qwen-code/index.ts";
import { hasMoreValues } from "../../src/base/json.ts";
import { LINE_HEAD_MAX_BYTES, LONG_LINE_BYTES, LONG_LINE_MAX_VALUES } from "../../src/base/limits.ts";
import { openingOf } from "./conformance/support.ts";

const OUTPUT = /hello-from-tool\\n/g;
const LONG = "A".repeat(2 * LINE_HEAD_MAX_BYTES);

const whole = (text: string): Line => ({ kind: "text", text, end: "\n" });
const beginning = (text: string): Line => ({
  kind: "truncated",
  limit_bytes: LINE_HEAD_MAX_BYTES,
  head: text.slice(0, LINE_HEAD_MAX_BYTES),
});

const fold = (adapter: AgentAdapter, lines: readonly Line[], spec: object = {}) => {
  const records: DecodedItem[] = [];
  let state = adapter.initial(openingOf(adapter.kind, spec as never));
  for (const line of lines) {
    const decoded = adapter.decode(state, line, "stdout");
    state = decoded.state;
    records.push(...decoded.records);
  }
  const exit = { status: { code: 0, signal: null }, signals_sent: [], stderr_tail: "", program: "agent" };
  const tools = records.flatMap((record) =>
    record.type === "agent.event" && record.payload.channel === "tool" ? [record.payload] : [],
  );
  return { records, tools, outcome: adapter.finish(state, { ...exit, input_ended: true }).outcome };
};

const recorded = (folder: string, name: string): readonly string[] =>
  readFileSync(join(import.meta.dirname, "../recordings", folder, `${name}.ndjson`), "utf8")
    .split("\n")
    .filter((line) => line !== "");

test.each([
  ["claude-code", claudeCode, /"tool_use_id"/, {}],
  ["codex", codex, /"item\.completed".*command_execution/, {}],
  ["codex-app-server", codex, /item\/completed.*commandExecution/, { permission: "ask" }],
  ["gemini-cli", geminiCli, /"type":"tool_result"/, {}],
  ["opencode", opencode, /"type":"tool_use"/, {}],
  ["copilot", copilot, /"tool\.execution_complete"/, {}],
  ["qwen-code", qwenCode, /"type":"tool_result"/, {}],
] as const)(
  "%s: a tool result over the limit ends its call, and the run goes on",
  (folder, adapter, isResult, spec) => {
    const lines = recorded(folder, "real-shell");
    const shown = fold(adapter as AgentAdapter, lines.map(whole), spec);
    const cut = lines.map((line) =>
      isResult.test(line) ? beginning(line.replace(OUTPUT, LONG)) : whole(line),
    );
    expect(cut.filter(({ kind }) => kind === "truncated")).toHaveLength(1);
    const found = fold(adapter as AgentAdapter, cut, spec);
    const factsOf = (tools: typeof found.tools) =>
      tools.map(({ kind, data }) => [kind, (data as { tool?: { tool_use_id: unknown } }).tool?.tool_use_id]);
    expect(factsOf(found.tools)).toEqual(factsOf(shown.tools));
    expect(found.tools.at(-1)).toMatchObject({ kind: "ToolResult", data: { truncated: true } });
    expect(found.outcome.status).toBe("completed");
    expect(found.outcome.completion.final_text).toBe(shown.outcome.completion.final_text);
  },
);

test("acp: a tool result over the limit ends its call", () => {
  const lines = recorded("acp", "allowed");
  const isResult = /"tool_call_update".*"completed"/;
  const cut = lines.map((line) =>
    isResult.test(line) ? beginning(line.replace('"done"', `"${LONG}"`)) : whole(line),
  );
  expect(cut.filter(({ kind }) => kind === "truncated")).toHaveLength(1);
  const { tools, outcome } = fold(acp as AgentAdapter, cut, { argv: ["agent"] });
  expect(tools.filter(({ kind }) => kind === "ToolResult")).toMatchObject([{ data: { truncated: true } }]);
  expect(outcome.status).toBe("completed");
});

describe("an answer over the limit", () => {
  test.each([
    ["codex", codex, /agent_message/],
    ["opencode", opencode, /"type":"text"/],
    ["claude-code", claudeCode, /"type":"(?:assistant|result)"/],
  ] as const)("%s: is OUTPUT_TOO_LARGE, never a success without an answer", (folder, adapter, isAnswer) => {
    const cut = recorded(folder, "real-text").map((line) =>
      isAnswer.test(line) ? beginning(line) : whole(line),
    );
    const { outcome } = fold(adapter as AgentAdapter, cut);
    expect(outcome).toMatchObject({ status: "failed", error: { code: "OUTPUT_TOO_LARGE" } });
    expect(outcome.completion).not.toHaveProperty("final_text");
  });

  test("a later one makes up for it", () => {
    const lines = recorded("codex", "real-text");
    const answer = lines.find((line) => line.includes("agent_message"))!;
    const { outcome } = fold(
      codex as AgentAdapter,
      lines.flatMap((line) => (line === answer ? [beginning(line), whole(line)] : [whole(line)])),
    );
    expect(outcome).toMatchObject({
      status: "completed",
      completion: { final_text: "Hello from the fake model." },
    });
  });
});

test("a long line of very many values is read by its beginning alone", () => {
  const many = `{"type":"item.completed","item":{"id":"i","type":"mcp_tool_call","result":[${"{},".repeat(LONG_LINE_MAX_VALUES)}0]}}`;
  expect(many.length).toBeGreaterThan(LONG_LINE_BYTES);
  const { records, tools } = fold(codex as AgentAdapter, [whole(many)]);
  expect(records[0]).toMatchObject({ payload: { kind: "Unknown", data: { reason: "too_many_values" } } });
  expect(tools.at(-1)).toMatchObject({ kind: "ToolResult", data: { truncated: true } });
});

test.each([
  ['{"a":1,"b":[2,{"c":3}]}', 5],
  ['{"a":"[{,,,}]","b\\\\":"\\"[,[,\\\\","c":0}', 3],
  ['["unended, [ { ', 1],
  ["[,", 2],
  ["", 0],
])("%s has %i objects, lists and members", (text, values) => {
  expect(hasMoreValues(text, values)).toBe(false);
  if (values > 0) expect(hasMoreValues(text, values - 1)).toBe(true);
});
