/**
 * `opencode run --format json`: whole parts, and steps. There is no end event: a run went well
 * when its last step finished with `stop`, and the exit was 0.
 */
import { dollars, gathered, NOTHING_USED, type Reader } from "./expected.ts";
import { distinct, get, getCount, getText, ofType, sum, unlisted } from "./printed.ts";

const TYPES = new Set("step_start step_finish text reasoning tool_use error".split(" "));
/** Tools of OpenCode stand under their own name; `invalid` stands for one that there is not. */
const failed = (line: unknown): boolean =>
  get(line, "part.state.status") !== "completed" || get(line, "part.tool") === "invalid";

export const opencode: Reader = (lines) => {
  const steps = ofType(lines, "step_start", "step_finish", "error");
  const finished = ofType(lines, "step_finish");
  const last = steps.at(-1);
  const reason = last?.type === "step_finish" ? getText(last, "part.reason") : undefined;
  const well = reason === "stop";
  const tools = ofType(lines, "tool_use");
  const total = (name: string) => sum(finished.map((line) => getCount(line, `part.tokens.${name}`)));
  const costs = finished.map((line) => get(line, "part.cost")).filter((cost) => typeof cost === "number");
  // A prompt has one end: its last step, or the error in its place or behind it.
  const hasEnded =
    ofType(lines, "error").length > 0 ||
    finished.some((line) => getText(line, "part.reason") !== "tool-calls");
  const message = getText(last, "part.messageID");
  const answer = ofType(lines, "text").filter((line) => getText(line, "part.messageID") === message);
  return {
    sessions: distinct(lines.map(({ value }) => getText(value, "sessionID"))),
    said: gathered(
      ofType(lines, "text", "reasoning").flatMap((line) => {
        const whole = getText(line, "part.text");
        if (whole === undefined) return [];
        const channel = line.type === "text" ? ("assistant" as const) : ("reasoning" as const);
        return [{ channel, message: getText(line, "part.messageID") ?? "", whole }];
      }),
    ),
    calls: tools.map((line) => `${getText(line, "part.callID")} ${getText(line, "part.tool")}`),
    results: tools.map((line) => `${getText(line, "part.callID")} ${failed(line) ? "failed" : "ok"}`),
    asks: 0,
    turns: hasEnded ? 1 : 0,
    // The cost of the steps of a turn that never ended is told with no turn.
    used: !hasEnded
      ? NOTHING_USED
      : {
          ...NOTHING_USED,
          input: total("input"),
          output: total("output"),
          cached: total("cache.read"),
          reasoning: total("reasoning"),
          cost: costs.length === 0 ? null : dollars(sum(costs)),
        },
    ending: well ? "well" : ofType(lines, "error").length > 0 || reason !== undefined ? "badly" : "open",
    final: well && answer.length > 0 ? answer.map((line) => getText(line, "part.text") ?? "").join("") : null,
    unknown: unlisted(lines, TYPES).length,
  };
};
