/** Gemini CLI's stream-json: six types, deltas only, one result a run. */
import { gathered, NOTHING_USED, type Reader } from "./expected.ts";
import { distinct, get, getCount, getText, ofType, sum, unlisted } from "./printed.ts";

const TYPES = new Set("init message tool_use tool_result error result".split(" "));
const ROLES = new Set(["assistant", "user"]);

export const gemini: Reader = (lines) => {
  const messages = ofType(lines, "message");
  const spoken = messages.filter((line) => get(line, "role") === "assistant");
  const results = ofType(lines, "result");
  const last = results.at(-1);
  const well = last !== undefined && get(last, "status") === "success";
  const lastTool = lines.findLastIndex(({ value }) =>
    ["tool_use", "tool_result"].includes(getText(value, "type") ?? ""),
  );
  const answer = ofType(lines.slice(lastTool + 1), "message").filter(
    (line) => get(line, "role") === "assistant",
  );
  const total = (name: string) => sum(results.map((line) => getCount(line, `stats.${name}`)));
  return {
    sessions: distinct(ofType(lines, "init").map((line) => getText(line, "session_id"))),
    // It says nothing of messages: a try that is given up and the next one are one text.
    said: gathered(
      spoken.flatMap((line) => {
        const piece = getText(line, "content");
        return piece === undefined ? [] : [{ channel: "assistant" as const, message: "", piece }];
      }),
    ),
    calls: ofType(lines, "tool_use").map(
      (line) => `${getText(line, "tool_id")} ${getText(line, "tool_name")}`,
    ),
    results: ofType(lines, "tool_result").map(
      (line) => `${getText(line, "tool_id")} ${get(line, "status") === "success" ? "ok" : "failed"}`,
    ),
    asks: 0,
    turns: results.length,
    used: {
      ...NOTHING_USED,
      input: total("input_tokens"),
      output: total("output_tokens"),
      cached: total("cached"),
    },
    ending: last === undefined ? "open" : well ? "well" : "badly",
    final: well ? answer.map((line) => getText(line, "content") ?? "").join("") : null,
    unknown:
      unlisted(lines, TYPES).length +
      messages.filter((line) => !ROLES.has(getText(line, "role") ?? "")).length,
  };
};
