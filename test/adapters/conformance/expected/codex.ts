/** `codex exec --json`: whole items, and each turn's end. */
import { gathered, NOTHING_USED, type Reader } from "./expected.ts";
import { distinct, get, getCount, getText, ofType, sum, unlisted } from "./printed.ts";

const TYPES = new Set([
  ..."thread.started thread.resumed turn.started turn.completed turn.failed error".split(" "),
  ..."item.started item.updated item.completed item.plan.delta request_user_input".split(" "),
]);
const TOOLS = new Set("command_execution mcp_tool_call file_change collab_tool_call web_search".split(" "));
const ITEMS = new Set([...TOOLS, ..."agent_message reasoning plan todo_list error".split(" ")]);

const itemType = (line: unknown): string => getText(line, "item.type") ?? "";
const itemId = (line: unknown): string | undefined => getText(line, "item.id");

/** A command that failed, a call that was refused, an error of a server: all the same to who asked for it. */
const failed = (line: unknown): boolean =>
  ["failed", "declined"].includes(getText(line, "item.status") ?? "") ||
  getCount(line, "item.exit_code") > 0 ||
  (get(line, "item.error") ?? null) !== null;

export const codex: Reader = (lines) => {
  const items = ofType(lines, "item.started", "item.updated", "item.completed");
  const completed = ofType(lines, "item.completed");
  const tools = items.filter((line) => TOOLS.has(itemType(line)));
  const ends = ofType(lines, "turn.completed", "turn.failed");
  const begun = ofType(lines, "turn.started").length;
  const texts = completed.filter(
    (line) => itemType(line) === "agent_message" && getText(line, "item.text") !== undefined,
  );
  const settled = ends.length > 0 && ends.length >= begun;
  const well = settled && ends.at(-1)?.type === "turn.completed";
  const total = (name: string) =>
    sum(ends.map((end) => (end.type === "turn.completed" ? getCount(end, `usage.${name}`) : 0)));
  return {
    sessions: distinct(
      ofType(lines, "thread.started", "thread.resumed").map((line) => getText(line, "thread_id")),
    ),
    said: gathered(
      completed.flatMap((line) => {
        const whole = getText(line, "item.text");
        const type = itemType(line);
        if (whole === undefined || (type !== "agent_message" && type !== "reasoning")) return [];
        const channel = type === "reasoning" ? ("reasoning" as const) : ("assistant" as const);
        return [{ channel, message: itemId(line) ?? "", whole }];
      }),
    ),
    calls: [...new Map(tools.map((line) => [itemId(line), line])).values()].map(
      (line) => `${itemId(line)} ${getText(line, "item.tool") ?? null}`,
    ),
    results: completed
      .filter((line) => TOOLS.has(itemType(line)))
      .map((line) => `${itemId(line)} ${failed(line) ? "failed" : "ok"}`),
    asks: 0,
    turns: ends.length,
    used: {
      ...NOTHING_USED,
      input: total("input_tokens"),
      output: total("output_tokens"),
      cached: total("cached_input_tokens"),
      reasoning: total("reasoning_output_tokens"),
    },
    ending: !settled ? "open" : well ? "well" : "badly",
    final: well ? (getText(texts.at(-1), "item.text") ?? null) : null,
    unknown: unlisted(lines, TYPES).length + items.filter((line) => !ITEMS.has(itemType(line))).length,
  };
};
