/** Budgets as text: a limit, its use, and how to answer the question. */
import type { RecordPayloads } from "../../protocol/records.ts";
import type { Budget } from "../../protocol/worker.ts";
import type { BudgetView, QuestionView } from "../../runtime/replies.ts";
import { oneLine } from "./terminal.ts";
import { bytes, count, duration } from "./units.ts";

type ReachedLimit = RecordPayloads["worker_limit_reached"]["limit"];

/** An amount with its unit, unless the name of the limit says the unit. */
export const amount = (limit: ReachedLimit, value: number): string => {
  switch (limit) {
    case "usd":
      return `$${value}`;
    case "output":
    case "output_bytes":
      return bytes(value);
    case "turns":
    case "tokens":
    case "restarts":
      return String(value);
    case "deadline":
      return new Date(value).toISOString();
    default:
      return duration(value);
  }
};

export const budgetWords = (budget: Budget): readonly string[] => [
  ...(budget.usd === undefined ? [] : [`$${budget.usd}`]),
  ...(budget.tokens === undefined ? [] : [count(budget.tokens, "token")]),
  ...(budget.turns === undefined ? [] : [count(budget.turns, "turn")]),
  ...(budget.wall_ms === undefined ? [] : [`wall ${duration(budget.wall_ms)}`]),
  ...(budget.restarts === undefined ? [] : [count(budget.restarts, "restart")]),
  ...(budget.output_bytes === undefined ? [] : [`${bytes(budget.output_bytes)} of output`]),
];

const FIELDS: readonly (readonly [keyof Budget, ReachedLimit, string])[] = [
  ["usd", "usd", ""],
  ["tokens", "tokens", " tokens"],
  ["turns", "turns", " turns"],
  ["wall_ms", "wall", ""],
  ["restarts", "restarts", " restarts"],
  ["output_bytes", "output_bytes", " of output"],
];

/** `$3.2 of $5, 4 of 40 turns`. */
export const spentWords = ({ spent, bounds, state, unpriced, estimated }: BudgetView): string => {
  const parts = FIELDS.flatMap(([field, limit, unit]) => {
    const bound = bounds[field];
    return bound === undefined ? [] : [`${amount(limit, spent[field])} of ${amount(limit, bound)}${unit}`];
  });
  const doubts = [
    ...(estimated ? ["some of it is estimated"] : []),
    ...(unpriced ? ["some of it has no price"] : []),
  ];
  const priceless = doubts.length > 0 && bounds.usd !== undefined ? ` (${doubts.join(", ")})` : "";
  return `${parts.join(", ")}${priceless}${state === "open" ? "" : state === "asked" ? ": spent, all workers in it are paused" : ": spent, all workers in it are stopped"}`;
};

export const questionWords = ({ about }: QuestionView, ref: string): string =>
  about === "budget"
    ? `is there more? agent answer ${oneLine(ref)} continue|stop`
    : about === "interrupted"
      ? `should it go on? agent answer ${oneLine(ref)} continue|fresh|stop`
      : `is it stuck? agent answer ${oneLine(ref)} wait|restart|kill`;
