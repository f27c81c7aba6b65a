/**
 * Every recorded conversation with `codex app-server`, where the transcripts are at hand: what it came to, and that each text,
 * call and token is told once, as a count of its own over the raw lines says. The harness numbered its requests, we name
 * them; nothing else of what codex said is changed.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { codex } from "../../../../src/adapters/codex/index.ts";
import { AgentEvent } from "../../../../src/protocol/agent-event.ts";
import { boundEvent } from "../../../../src/protocol/bounds.ts";
import { DECODER_STATE_MAX_BYTES } from "../../../../src/protocol/limits.ts";
import { exit, textOf } from "../../conformance/support.ts";
import { codexAppServer } from "../../conformance/verdicts/codex-app-server.ts";
import { fold, MESSAGE, ofType, opening } from "./support.ts";

const ROOT = new URL("../../../../../shared/data/cli-transcripts/codex-app-server-0.169.0/", import.meta.url)
  .pathname;
const present = existsSync(ROOT);

// biome-ignore lint/suspicious/noExplicitAny: raw lines of others
type Raw = any;

const messagesOf = (scenario: string, file: string): readonly Raw[] =>
  readFileSync(join(ROOT, scenario, file), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

const NAMES: Readonly<Record<string, string>> = {
  initialize: "holdfast:initialize",
  "thread/start": "holdfast:thread",
  "turn/start": `turn:${MESSAGE}`,
  "turn/interrupt": "interrupt:x",
};

const renamed = (scenario: string): readonly Raw[] => {
  const asked = messagesOf(scenario, "stdin.ndjson").filter(({ method }) => method !== undefined);
  return messagesOf(scenario, "stdout.ndjson").map((message) => {
    if (message.method !== undefined) return message;
    const method = asked.find(({ id }) => id === message.id)?.method;
    return { ...message, id: NAMES[method] };
  });
};

/** Read without any of our code. */
const counted = (lines: readonly Raw[]) => {
  const of = (method: string): readonly Raw[] =>
    lines.filter((line) => line.method === method).map(({ params }) => params);
  const isTool = ({ item }: Raw): boolean =>
    !["agentMessage", "reasoning", "userMessage", "plan"].includes(item.type);
  const total = of("thread/tokenUsage/updated").at(-1)?.tokenUsage.total;
  return {
    answer: of("item/completed")
      .filter(({ item }) => item.type === "agentMessage")
      .map(({ item }) => item.text)
      .join(""),
    calls: of("item/started").filter(isTool).length,
    asked: lines.filter(({ method, id }) => method?.endsWith("/requestApproval") && id !== undefined).length,
    turns: of("turn/completed").length,
    input_tokens: total?.inputTokens ?? 0,
    output_tokens: total?.outputTokens ?? 0,
  };
};

describe.skipIf(!present)(
  present ? "recorded conversations" : "recorded conversations (skipped: no ../shared/data/cli-transcripts)",
  () => {
    test("every scenario has its verdict", () => {
      expect(readdirSync(ROOT).sort()).toEqual(Object.keys(codexAppServer).sort());
    });

    test.each(Object.entries(codexAppServer))("%s is %s", (scenario, verdict) => {
      const lines = renamed(scenario);
      const from = codex.initial(opening({ interactive: false, permission: "ask" }));
      const { state, records } = fold(lines, from);
      const { outcome, records: last } = codex.finish(state, { ...exit(), input_ended: true });
      const all = [...records, ...last];
      const events = ofType(all, "agent.event").flatMap(({ payload }) => boundEvent(payload));
      const kinds = (kind: AgentEvent["kind"]) => events.filter((event) => event.kind === kind).length;
      expect(outcome.error?.code ?? outcome.status).toBe(verdict);
      const turns = ofType(all, "turn_completed").map(({ payload }) => payload.usage);
      const raw = counted(lines);
      expect({
        answer: textOf(events, "assistant"),
        calls: kinds("ToolCall"),
        asked: ofType(all, "approval_requested").length,
        turns: turns.length,
        input_tokens: turns.reduce((sum, { input_tokens }) => sum + input_tokens, 0),
        output_tokens: turns.reduce((sum, { output_tokens }) => sum + output_tokens, 0),
      }).toEqual(raw);
      // Each call has its one result, and an error is told once.
      expect(kinds("ToolResult")).toBe(raw.calls);
      expect(kinds("Error")).toBe(verdict === "completed" ? 0 : 1);
      expect(kinds("Unknown")).toBe(0);
      for (const event of events) {
        AgentEvent.parse(event);
        const fields = [event.text, event.message, JSON.stringify(event.data)];
        const long = lines.map((line) => JSON.stringify(line));
        for (const field of fields) expect(long.some((line) => field?.includes(line))).toBe(false);
      }
      expect(JSON.stringify(outcome.error ?? null)).not.toMatch(/fake|127\.0\.0\.1/);
      expect(Buffer.byteLength(JSON.stringify(state))).toBeLessThanOrEqual(DECODER_STATE_MAX_BYTES);
    });
  },
);
