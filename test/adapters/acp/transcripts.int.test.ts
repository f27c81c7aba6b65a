/**
 * Every recorded conversation with the real ACP agents, where the transcripts are at hand: what it came to, and that each text,
 * call and token is told once, as a count of its own over the raw lines says.
 */
import { describe, expect, test } from "vitest";
import { acp } from "../../../src/adapters/acp/index.ts";
import { AgentEvent } from "../../../src/protocol/agent-event.ts";
import { boundEvent } from "../../../src/protocol/bounds.ts";
import { DECODER_STATE_MAX_BYTES } from "../../../src/protocol/limits.ts";
import { textOf } from "../conformance/support.ts";
import { acpClaude } from "../conformance/verdicts/acp-claude.ts";
import { acpCodex } from "../conformance/verdicts/acp-codex.ts";
import { acpCopilot } from "../conformance/verdicts/acp-copilot.ts";
import { acpGemini } from "../conformance/verdicts/acp-gemini.ts";
import { acpOpencode } from "../conformance/verdicts/acp-opencode.ts";
import { acpSdkExample } from "../conformance/verdicts/acp-sdk-example.ts";
import { eventsOf, fold, ofType, opening } from "./support.ts";
import { type Conversation, conversation, present, scenariosOf } from "./transcripts.ts";

const VERDICTS = {
  "acp-sdk-example-0.28.1": acpSdkExample,
  "claude-agent-acp-0.100.0": acpClaude,
  "codex-acp-2.6.0": acpCodex,
  "copilot-acp-1.0.102": acpCopilot,
  "gemini-acp-0.61.0": acpGemini,
  "opencode-acp-1.18.33": acpOpencode,
};

const replay = ({ lines, session, exit }: Conversation) => {
  const { state, records } = fold(lines, acp.initial(opening({}, session === undefined ? {} : { session })));
  const { outcome, records: last } = acp.finish(state, exit);
  return {
    state,
    records: [...records, ...last],
    outcome,
    events: eventsOf([...records, ...last]).flatMap(boundEvent),
  };
};

// biome-ignore lint/suspicious/noExplicitAny: raw lines of others
type Raw = any;

/** Read without any of our code: what an agent said and did after its session was opened. */
const counted = (lines: readonly string[]) => {
  const messages: Raw[] = lines.flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
  const updates = messages.flatMap(({ params }) => params?.update ?? []);
  const said = (type: string): string =>
    updates
      .filter((update) => update.sessionUpdate === type)
      .map(({ content }) => content.text)
      .join("");
  const asked = messages.filter(({ method }) => method === "session/request_permission");
  const answers = messages.filter(({ id }) => String(id).startsWith("prompt:"));
  let calls = 0;
  const seen = new Set<string>();
  for (const { params, method } of messages) {
    const call = method === "session/request_permission" ? params.toolCall : params?.update;
    const isNew = call?.sessionUpdate === "tool_call" || !seen.has(call?.toolCallId);
    if (call?.toolCallId === undefined || !isNew) continue;
    seen.add(call.toolCallId);
    calls += 1;
  }
  return {
    answer: said("agent_message_chunk"),
    reasoning: said("agent_thought_chunk"),
    calls,
    asked: asked.length,
    answers: answers.length,
    output_tokens: answers.reduce(
      (sum, { result }) =>
        sum + (result?.usage?.outputTokens ?? result?._meta?.quota?.token_count?.output_tokens ?? 0),
      0,
    ),
  };
};

describe.skipIf(!present)(
  present ? "recorded conversations" : "recorded conversations (skipped: no ../shared/data/cli-transcripts)",
  () => {
    describe.each(Object.entries(VERDICTS))("%s", (folder, verdicts) => {
      test("every scenario has its verdict", () => {
        expect([...scenariosOf(folder)].sort()).toEqual(Object.keys(verdicts).sort());
      });

      test.each(Object.entries(verdicts))("%s is %s", (scenario, verdict) => {
        const told = conversation(folder, scenario);
        const { records, events, outcome, state } = replay(told);
        const kinds = (kind: AgentEvent["kind"]) => events.filter((event) => event.kind === kind).length;
        expect(outcome.error?.code ?? outcome.status).toBe(verdict);
        const raw = counted(told.lines);
        expect({
          answer: textOf(events, "assistant"),
          reasoning: textOf(events, "reasoning"),
          calls: kinds("ToolCall"),
          asked: ofType(records, "approval_requested").length,
          answers: ofType(records, "turn_completed").length,
          output_tokens: ofType(records, "turn_completed").reduce(
            (sum, { payload }) => sum + payload.usage.output_tokens,
            0,
          ),
        }).toEqual(raw);
        // Each call has its one result, but for those in a turn that never ended.
        expect(kinds("ToolResult")).toBe(raw.calls - state.tools.length);
        for (const event of events) {
          AgentEvent.parse(event);
          const fields = [event.text, event.message, JSON.stringify(event.data)];
          const long = told.lines.filter((line) => line.length > 20);
          for (const field of fields) expect(long.some((line) => field?.includes(line))).toBe(false);
        }
        expect(JSON.stringify(outcome.error ?? null)).not.toMatch(/fake|127\.0\.0\.1/);
        expect(Buffer.byteLength(JSON.stringify(state))).toBeLessThanOrEqual(DECODER_STATE_MAX_BYTES);
      });
    });
  },
);
