/** `holdfast/adapters`: an adapter that makes its records with it keeps the promises of the suite. */
import { expect, test } from "vitest";
import { command } from "../../src/adapters/kinds/command/index.ts";
import {
  AgentEventSchema,
  eventsOf,
  sessionFacet,
  sessionStarted,
  ToolDataSchema,
  turnCompleted,
  turnStarted,
} from "../../src/library/adapters.ts";
import type { AgentAdapter, Line } from "../../src/library/index.ts";
import { conformance } from "../../src/library/testing.ts";

const { text, toolCall, toolResult, session } = eventsOf("lines");
const tool = { item_id: null, thread_id: null, kind: "tool_use", name: "Shell", use_id: "call-1" };
const usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, cost_usd: null };
const records = [
  sessionStarted("s-1"),
  session("session started", "s-1"),
  turnStarted(1),
  text("assistant", "I look."),
  toolCall(tool),
  toolResult(tool, { failed: true, exit_code: 1 }),
  turnCompleted(1, usage, null, null),
];

type Saying = { readonly said: boolean };

/** Answers its first line with these records. */
const saying = (said: readonly unknown[]) =>
  ({
    ...(command as AgentAdapter<unknown>),
    kind: "lines",
    initial: () => ({ said: false }),
    decode: (state: Saying, line: Line) =>
      line.kind === "text" && line.text === "go" && !state.said
        ? { state: { said: true }, records: said }
        : { state, records: [] },
  }) as unknown as AgentAdapter<Saying>;

const failures = (adapter: AgentAdapter<Saying>) =>
  conformance(adapter, [["go"]]).flatMap(({ title, check }) => {
    try {
      check();
      return [];
    } catch (error) {
      return [`${title}: ${(error as Error).message}`];
    }
  });

test("its records pass the suite and the schemas", () => {
  expect(failures(saying(records))).toEqual([]);
  for (const { type, payload } of records) if (type === "agent.event") AgentEventSchema.parse(payload);
  expect(sessionFacet("s-1")).toEqual({ schema: "agent_api.session.handle.v1", session: { id: "s-1" } });
});

test("a facet with a mistake is refused with the field, the record and the line", () => {
  const { payload } = toolCall(tool);
  const { data } = payload as unknown as { data: { tool: object } };
  const wrong = { ...data, tool: { ...data.tool, phase: "begun" } };
  expect(ToolDataSchema.safeParse(wrong).success).toBe(false);
  const [failure] = failures(saying([{ type: "agent.event", payload: { ...payload, data: wrong } }]));
  expect(failure).toMatch(/tool\.phase.*, but not in: .*, of the line "go"/);
});
