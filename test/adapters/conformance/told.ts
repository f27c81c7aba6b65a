/** An adapter's telling of a run, in the terms in which the readers of `expected/` say what it had to. */
import type { DecodedRecord } from "../../../src/adapters/adapter.ts";
import type { IncarnationOutcome } from "../../../src/protocol/incarnation.ts";
import { type Expected, NOTHING_USED, textOf, type Used } from "./expected/expected.ts";

// biome-ignore lint/suspicious/noExplicitAny: data is whatever JSON the events carry
type Loose = any;

export interface Told extends Omit<Expected, "said" | "ending" | "code" | "final"> {
  readonly answer: string;
  readonly reasoning: string;
}

/** In any order: which of two tools was told first is the agent's matter. */
const sorted = (list: readonly string[]): readonly string[] => [...list].sort();

const toolId = (data: Loose): string => data.tool.tool_use_id ?? data.tool.backend_item_id;

/** The texts of a channel; those of one message together, as they may come interleaved. */
const texts = (records: readonly DecodedRecord[], channel: string): string => {
  const by = new Map<string, string>();
  for (const record of records) {
    if (record.type !== "agent.event" || record.payload.channel !== channel) continue;
    const message = String((record.payload.data as Loose)?.message_id ?? "");
    by.set(message, (by.get(message) ?? "") + (record.payload.text ?? ""));
  }
  return [...by.values()].join("");
};

const usage = (records: readonly DecodedRecord[]): Used =>
  records.reduce<Used>((sum, record) => {
    if (record.type !== "turn_completed") return sum;
    const { input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd } = record.payload.usage;
    return {
      input: sum.input + input_tokens,
      output: sum.output + output_tokens,
      cached: sum.cached + cached_tokens,
      reasoning: sum.reasoning + reasoning_tokens,
      cost: cost_usd === null ? sum.cost : Math.round(((sum.cost ?? 0) + cost_usd) * 1e9) / 1e9,
    };
  }, NOTHING_USED);

export const toldOf = (records: readonly DecodedRecord[]): Told => {
  const events = records.flatMap((record) => (record.type === "agent.event" ? [record.payload] : []));
  const data = (kind: string): readonly Loose[] =>
    events.filter((event) => event.kind === kind).map((event) => event.data);
  return {
    sessions: records.flatMap((record) =>
      record.type === "session_started" ? [record.payload.session_id] : [],
    ),
    answer: texts(records, "assistant"),
    reasoning: texts(records, "reasoning"),
    calls: sorted(data("ToolCall").map((one) => `${toolId(one)} ${one.tool.tool_name}`)),
    results: sorted(
      data("ToolResult").map((one) => `${toolId(one)} ${one.tool.status === "failed" ? "failed" : "ok"}`),
    ),
    asks: records.filter((record) => record.type === "approval_requested").length,
    turns: records.filter((record) => record.type === "turn_completed").length,
    used: usage(records),
    unknown: data("Unknown").length,
  };
};

/** The same of what was derived from the lines. */
export const toldAs = ({
  said,
  ending: _,
  code: __,
  final: ___,
  calls,
  results,
  ...rest
}: Expected): Told => ({
  ...rest,
  calls: sorted(calls),
  results: sorted(results),
  answer: textOf(said, "assistant"),
  reasoning: textOf(said, "reasoning"),
});

const MARK = "…(truncated)";

/** The final text, which is marked where its end is missing. */
export const isFinalText = (told: string | undefined, expected: string | null): boolean =>
  told?.endsWith(MARK) === true && expected !== null && told !== expected
    ? Buffer.byteLength(expected) > 40_000 && expected.startsWith(told.slice(0, -MARK.length))
    : (told ?? null) === expected;

export const sessionOf = ({ completion }: IncarnationOutcome): string | undefined =>
  (completion.data as Loose)?.session?.id;
