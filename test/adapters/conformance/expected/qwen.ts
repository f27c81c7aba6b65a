/** Qwen Code's stream-json: a block a line, whole texts, the results of tools, one result a run. */
import { type Bit, gathered, NOTHING_USED, type Reader } from "./expected.ts";
import { distinct, get, getCount, getList, getText, ofType, type Printed, sum, unlisted } from "./printed.ts";

const TYPES = new Set("system assistant user result stream_event".split(" "));
const SUBTYPES = new Set("init retry task_started task_notification model_fallback session_start".split(" "));
const BLOCKS = new Set(["text", "thinking", "tool_use", "tool_result"]);
const OWN_WORDS = /\[API Error: [\s\S]*\]$/;

export const qwen: Reader = (lines) => {
  const results = ofType(lines, "result");
  const last = results.at(-1);
  const well = last !== undefined && get(last, "is_error") === false && get(last, "subtype") === "success";
  const isSaid = (line: Printed) => ["assistant", "user"].includes(getText(line.value, "type") ?? "");
  const lastSaid = lines.findLastIndex(isSaid);
  const blocks = lines.flatMap(({ value }, at) =>
    getText(value, "type") === "assistant"
      ? getList(value, "message.content").map((block) => ({
          block,
          id: getText(value, "message.id") ?? "",
          isLast: at === lastSaid,
        }))
      : [],
  );
  const texts = blocks.filter(({ block }) => getText(block, "type") === "text");
  // The end of the last message before a failure may be the CLI's own words.
  const textOf = ({ block, isLast }: (typeof blocks)[number]): string => {
    const text = getText(block, "text") ?? "";
    return well || !isLast ? text : text.replace(OWN_WORDS, "");
  };
  const total = (name: string) => sum(results.map((line) => getCount(line, `usage.${name}`)));
  const outcomes = ofType(lines, "user").flatMap((line) => getList(line, "message.content"));
  return {
    sessions: distinct(
      ofType(lines, "system")
        .filter((line) => get(line, "subtype") === "init")
        .map((line) => getText(line, "session_id")),
    ),
    said: gathered(
      blocks.flatMap((one): readonly Bit[] => {
        const { block, id } = one;
        const type = getText(block, "type");
        const whole = type === "text" ? textOf(one) : getText(block, "thinking");
        if (whole === undefined || (type !== "text" && type !== "thinking")) return [];
        return [{ channel: type === "text" ? "assistant" : "reasoning", message: id, whole }];
      }),
    ),
    calls: blocks
      .filter(({ block }) => getText(block, "type") === "tool_use")
      .map(({ block }) => `${getText(block, "id")} ${getText(block, "name")}`),
    results: outcomes
      .filter((block) => getText(block, "type") === "tool_result")
      .map(
        (block) => `${getText(block, "tool_use_id")} ${get(block, "is_error") === true ? "failed" : "ok"}`,
      ),
    asks: 0,
    turns: results.length,
    used: {
      ...NOTHING_USED,
      input: total("input_tokens"),
      output: total("output_tokens"),
      cached: total("cache_read_input_tokens"),
    },
    ending: last === undefined ? "open" : well ? "well" : "badly",
    final: well ? (getText(texts.at(-1)?.block, "text") ?? null) : null,
    unknown:
      unlisted(lines, TYPES).length +
      ofType(lines, "system").filter((line) => !SUBTYPES.has(getText(line, "subtype") ?? "")).length +
      [...blocks.map(({ block }) => block), ...outcomes].filter(
        (block) => !BLOCKS.has(getText(block, "type") ?? ""),
      ).length,
  };
};
