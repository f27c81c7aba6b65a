/** A call of a tool is open until its result: where its agent ends first, or is ended, the runtime closes it. */
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Ingest } from "../../../src/actors/intake/ingest.ts";
import type { AgentAdapter } from "../../../src/adapters/adapter.ts";
import { acp } from "../../../src/adapters/kinds/acp/index.ts";
import { claudeCode } from "../../../src/adapters/kinds/claude-code/index.ts";
import { codex } from "../../../src/adapters/kinds/codex/index.ts";
import { copilot } from "../../../src/adapters/kinds/copilot/index.ts";
import { geminiCli } from "../../../src/adapters/kinds/gemini-cli/index.ts";
import { opencode } from "../../../src/adapters/kinds/opencode/index.ts";
import { qwenCode } from "../../../src/adapters/kinds/qwen-code/index.ts";
import { TOOLS_IN_FLIGHT_MAX } from "../../../src/base/limits.ts";
import type { AgentEvent } from "../../../src/protocol/agent-event.ts";
import type { RecordDraft } from "../../../src/protocol/records.ts";
import { makeRedactor } from "../../../src/protocol/redact.ts";
import type { Checkpoint } from "../../../src/store/event-log.ts";
import { openingOf } from "../../adapters/conformance/support.ts";
import { fileSource } from "../../support/file-source.ts";

const dir = mkdtempSync(join(tmpdir(), "holdfast-calls-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const KILLED = {
  status: { code: null, signal: "SIGKILL" },
  signals_sent: [],
  stderr_tail: "",
  program: "agent",
};

/** An agent that prints these parts and is killed; between two parts the daemon is another one. */
const killedAfter = (adapter: AgentAdapter, parts: readonly string[], spec: object = {}) => {
  const home = mkdtempSync(join(dir, "run-"));
  const drafts: RecordDraft[] = [];
  let checkpoints: readonly Checkpoint[] = [];
  const open = () =>
    new Ingest({
      adapter,
      worker_id: "W",
      opening: openingOf(adapter.kind, spec as never),
      source: (stream) => fileSource(join(home, stream)),
      checkpoints,
      redact: makeRedactor(),
      account: { model: null, estimate: (one) => one },
    });
  let ingest = open();
  for (const part of parts) {
    appendFileSync(join(home, "stdout"), part);
    ingest = open();
    for (let batch = ingest.pull(); batch !== undefined; batch = ingest.pull()) {
      drafts.push(...batch.drafts);
      checkpoints = [batch.checkpoint];
    }
  }
  const { drafts: last, unended } = ingest.finish(KILLED);
  return { drafts: [...drafts, ...last], unended };
};

const toolsOf = (drafts: readonly RecordDraft[]): readonly AgentEvent[] =>
  drafts.flatMap((draft) =>
    draft.type === "agent.event" && /^Tool(Call|Result)$/.test(draft.payload.kind) ? [draft.payload] : [],
  );

const idOf = ({ data }: AgentEvent): unknown => {
  const { tool } = data as { tool: { tool_use_id: unknown; backend_item_id: unknown } };
  return tool.tool_use_id ?? tool.backend_item_id;
};

const recordings = join(import.meta.dirname, "../../recordings");
const kinds: readonly (readonly [string, AgentAdapter, object])[] = [
  ["claude-code", claudeCode as AgentAdapter, {}],
  ["codex", codex as AgentAdapter, {}],
  ["codex-app-server", codex as AgentAdapter, { permission: "ask" }],
  ["gemini-cli", geminiCli as AgentAdapter, {}],
  ["opencode", opencode as AgentAdapter, {}],
  ["copilot", copilot as AgentAdapter, {}],
  ["qwen-code", qwenCode as AgentAdapter, {}],
  ["acp", acp as AgentAdapter, { argv: ["agent"] }],
];

test.each(kinds)(
  "%s: wherever it is killed, each call has one result in the end",
  (folder, adapter, spec) => {
    let closed = 0;
    for (const file of readdirSync(join(recordings, folder))) {
      const lines = readFileSync(join(recordings, folder, file), "utf8").split(/(?<=\n)/);
      const isToolLine = (line: string) => /tool|command_execution|commandExecution/i.test(line);
      const ends = lines.flatMap((line, at) => (isToolLine(line) ? [at + 1] : [])).slice(0, 12);
      for (const end of [...ends, lines.length]) {
        const { drafts, unended } = killedAfter(adapter, [lines.slice(0, end).join("")], spec);
        closed += unended.length;
        const tools = toolsOf([...drafts, ...unended]);
        const called = new Set(tools.flatMap((event) => (event.kind === "ToolCall" ? [idOf(event)] : [])));
        // A resumed copilot begins with results of calls that its killed run has left open.
        const answered = tools.filter((event) => event.kind === "ToolResult" && called.has(idOf(event)));
        expect(answered.map(idOf).toSorted(), `${file}, after line ${end}`).toEqual([...called].toSorted());
      }
    }
    // Opencode tells a call together with its result.
    expect(closed > 0).toBe(folder !== "opencode");
  },
);

describe("a call that its agent leaves open", () => {
  const call = (id: string) =>
    `${JSON.stringify({ type: "item.started", item: { id, type: "command_execution", command: "x" } })}\n`;
  const result = (id: string) =>
    `${JSON.stringify({ type: "item.completed", item: { id, type: "command_execution", exit_code: 0 } })}\n`;
  const adapter = codex as AgentAdapter;

  test("is told as failed, by its name, and that nobody saw its end", () => {
    const { drafts, unended } = killedAfter(adapter, [call("a"), result("a") + call("b")]);
    expect(toolsOf(drafts).map((event) => [event.kind, idOf(event)])).toEqual([
      ["ToolCall", "a"],
      ["ToolResult", "a"],
      ["ToolCall", "b"],
    ]);
    expect(unended).toMatchObject([
      {
        type: "agent.event",
        worker_id: "W",
        payload: {
          agent_kind: "codex",
          kind: "ToolResult",
          channel: "tool",
          message: "The agent ended before this call did.",
          data: {
            unended: true,
            tool: {
              backend_item_id: "b",
              kind: "command_execution",
              phase: "fail",
              status: "unknown",
              exit_code: null,
            },
          },
        },
      },
    ]);
  });

  test("is known to the next daemon, too", () => {
    expect(killedAfter(adapter, [call("a"), call("b"), result("a")]).unended.length).toBe(1);
    expect(killedAfter(adapter, [call("a"), result("a"), ""]).unended).toEqual([]);
  });

  test("is remembered up to a bound", () => {
    const many = Array.from({ length: 2 * TOOLS_IN_FLIGHT_MAX }, (_, n) => call(`call-${n}`)).join("");
    expect(killedAfter(adapter, [many]).unended).toHaveLength(TOOLS_IN_FLIGHT_MAX);
  });
});
