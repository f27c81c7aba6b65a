/** Claude Code's stream-json, read without the decoder's code. */
import { type Bit, dollars, type Expected, gathered, type Reader, type Used } from "./expected.ts";
import { distinct, get, getCount, getList, getText, ofType, type Printed, sum, unlisted } from "./printed.ts";

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

const TYPES =
  words(`system assistant user stream_event result control_request control_response control_cancel_request
 rate_limit_event tool_progress tool_use_summary auth_status prompt_suggestion conversation_reset active_goal keep_alive
 command_lifecycle`);
const SUBTYPES =
  words(`init api_retry permission_denied status thinking_tokens task_started task_progress task_updated
 task_notification background_tasks_changed hook_started hook_response informational model_refusal_no_fallback ui_invalidate
 compact_boundary hook_progress notification session_state_changed commands_changed plugin_install files_persisted
 memory_recall local_command_output elicitation_complete mirror_error worker_shutting_down control_request_progress
 model_refusal_fallback`);
const SAID_BLOCKS = words("text thinking redacted_thinking");
const GIVEN_BLOCKS = words("text image document");
const CALLS = words("tool_use server_tool_use mcp_tool_use");
const STREAMED =
  words(`message_start content_block_start content_block_delta content_block_stop message_delta message_stop
 ping error`);
const DELTAS = words("text_delta thinking_delta input_json_delta signature_delta citations_delta");

type Line = NonNullable<Printed["value"]>;

/** The provider's errors are put into the mouth of a model that there is not. */
const isMadeUp = (line: Line): boolean =>
  line.is_api_error_message === true || typeof line.error === "string";

const spoken = (lines: readonly Printed[]): readonly Line[] =>
  ofType(lines, "assistant").filter((line) => !isMadeUp(line));
const blocks = (line: Line): readonly unknown[] => getList(line, "message.content");
const kindOf = (block: unknown): string => getText(block, "type") ?? "";
const isResult = (block: unknown): boolean => kindOf(block).endsWith("tool_result");

/** A result that no turn precedes tells of a session that could not be resumed. */
const isTurn = (result: Line): boolean => !(result.is_error === true && get(result, "num_turns") === 0);

/** A delta does not say what it is a delta of: it is the message that its speaker began last. */
const pieces = (line: Line, message: string): readonly Bit[] => {
  if (get(line, "event.type") !== "content_block_delta") return [];
  const delta = get(line, "event.delta.type");
  const text = getText(line, "event.delta.text");
  const thought = getText(line, "event.delta.thinking");
  if (delta === "text_delta" && text !== undefined) return [{ channel: "assistant", message, piece: text }];
  return delta === "thinking_delta" && thought !== undefined
    ? [{ channel: "reasoning", message, piece: thought }]
    : [];
};

const wholes = (line: Line): readonly Bit[] => {
  const message = getText(line, "message.id") ?? "";
  return blocks(line).flatMap((block): readonly Bit[] => {
    const text = getText(block, "text");
    const thought = getText(block, "thinking");
    if (kindOf(block) === "text" && text !== undefined)
      return [{ channel: "assistant", message, whole: text }];
    return kindOf(block) === "thinking" && thought !== undefined
      ? [{ channel: "reasoning", message, whole: thought }]
      : [];
  });
};

const said = (lines: readonly Printed[]): Expected["said"] => {
  const begun = new Map<string, string>();
  return gathered(
    ofType(lines, "assistant", "stream_event").flatMap((line) => {
      if (line.type === "assistant") return isMadeUp(line) ? [] : wholes(line);
      const speaker = getText(line, "parent_tool_use_id") ?? "";
      const id = getText(line, "event.message.id");
      if (get(line, "event.type") === "message_start" && id !== undefined) begun.set(speaker, id);
      const message = begun.get(speaker);
      return message === undefined ? [] : pieces(line, message);
    }),
  );
};

const MODEL_COUNTS = ["inputTokens", "outputTokens", "cacheReadInputTokens", "thinkingTokens"] as const;
const OWN_COUNTS = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "output_tokens_details.thinking_tokens",
] as const;

/**
 * Newer versions say in each result what its models were used for since the last one. Older ones sum up by model what the
 * run has used so far: the last result has it all. If neither is told, each turn tells its own.
 */
const used = (turns: readonly Line[]): Used => {
  const since = turns.map((turn) => get(turn, "model_usage_since_last_result"));
  const newer = since.some((models) => models !== undefined && models !== null);
  const models = (newer ? since : [get(turns.at(-1), "modelUsage")]).flatMap((one) =>
    Object.values(one ?? {}),
  );
  const own = OWN_COUNTS.map((name) => sum(turns.map((turn) => getCount(turn, `usage.${name}`))));
  const told = MODEL_COUNTS.map((name) => sum(models.map((model) => getCount(model, name))));
  const tokens = newer || models.length > 0 ? told : own;
  const dollarsOf = (list: readonly unknown[], name: string): readonly number[] =>
    list.map((one) => get(one, name)).filter((one) => typeof one === "number");
  const total = dollarsOf(turns, "total_cost_usd").at(-1);
  const usd = newer ? sum(dollarsOf(models, "costUSD")) : total;
  return {
    input: tokens[0] ?? 0,
    output: tokens[1] ?? 0,
    cached: tokens[2] ?? 0,
    reasoning: Math.max(tokens[3] ?? 0, newer ? 0 : (own[3] ?? 0)),
    cost: usd === undefined ? null : dollars(usd),
  };
};

/** A good end is said, never guessed: some versions name an error in the subtype alone. */
const isGood = (result: Line | undefined): boolean =>
  result?.is_error === false && !(getText(result, "subtype") ?? "").startsWith("error");

/** Each turn begins with an `init` and ends with a `result`: a later turn that is open, the last result says nothing of. */
const ending = (lines: readonly Printed[]): Expected["ending"] => {
  const results = ofType(lines, "result");
  const begun = ofType(lines, "system").filter((line) => line.subtype === "init").length;
  if (results.length === 0 || results.filter(isTurn).length < begun) return "open";
  return isGood(results.at(-1)) ? "well" : "badly";
};

const unknown = (lines: readonly Printed[]): number => {
  const assistant = spoken(lines).filter((line) => typeof get(line, "message") === "object");
  const ofAssistant = assistant
    .flatMap(blocks)
    .filter(
      (block) => !SAID_BLOCKS.has(kindOf(block)) && !CALLS.has(kindOf(block)) && !isResult(block),
    ).length;
  const ofUser = ofType(lines, "user")
    .flatMap(blocks)
    .filter((block) => !GIVEN_BLOCKS.has(kindOf(block)) && !isResult(block)).length;
  const ofSystem = ofType(lines, "system").filter(
    (line) => !SUBTYPES.has(getText(line, "subtype") ?? ""),
  ).length;
  const ofStream = ofType(lines, "stream_event").filter((line) => {
    const type = getText(line, "event.type") ?? "";
    return (
      !STREAMED.has(type) ||
      (type === "content_block_delta" && !DELTAS.has(getText(line, "event.delta.type") ?? ""))
    );
  }).length;
  return unlisted(lines, TYPES).length + ofAssistant + ofUser + ofSystem + ofStream;
};

export const claude: Reader = (lines) => {
  const results = ofType(lines, "result");
  const turns = results.filter(isTurn);
  const last = results.at(-1);
  const sessions = lines.flatMap(({ value }) =>
    value === undefined || (value.type === "result" && !isTurn(value)) ? [] : [getText(value, "session_id")],
  );
  return {
    sessions: distinct(sessions),
    said: said(lines),
    calls: spoken(lines)
      .flatMap(blocks)
      .filter((block) => CALLS.has(kindOf(block)))
      .map((block) => `${getText(block, "id")} ${getText(block, "name")}`),
    results: [...spoken(lines), ...ofType(lines, "user")]
      .flatMap(blocks)
      .filter(isResult)
      .map(
        (block) => `${getText(block, "tool_use_id")} ${get(block, "is_error") === true ? "failed" : "ok"}`,
      ),
    // None of these runs is spoken with: what it asks nobody can answer.
    asks: 0,
    turns: turns.length,
    used: used(turns),
    ending: ending(lines),
    final: isGood(last) ? (getText(last, "result") ?? null) : null,
    unknown: unknown(lines),
  };
};
