/** The sums over all turns of a worker: many turns of one transaction cost one read and one UPDATE of the worker's row. */
import type { Database } from "better-sqlite3";
import type { RecordPayloads } from "../../../protocol/records.ts";
import { isUnpriced, modelsOf } from "../../../protocol/usage.ts";

/** Columns of a worker's row. */
export interface TurnSums {
  turns: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  cost_usd: number | null;
  estimated_usd: number | null;
  unpriced_turns: number;
  tool_calls: number;
  turn_ms: number;
}

const NAMES = [
  "turns",
  "input_tokens",
  "output_tokens",
  "cached_tokens",
  "reasoning_tokens",
  "cost_usd",
  "estimated_usd",
  "unpriced_turns",
  "tool_calls",
  "turn_ms",
] as const satisfies readonly (keyof TurnSums)[];

/** The sum of known amounts; null as long as none is known. */
const plus = (sum: number | null, amount: number | null | undefined): number | null =>
  amount == null ? sum : (sum ?? 0) + amount;

/** Adds a turn that took `ms`. */
export const addTurn = (sums: TurnSums, payload: RecordPayloads["turn_completed"], ms: number): void => {
  const { usage, tool_calls = 0 } = payload;
  sums.turns += 1;
  sums.input_tokens += usage.input_tokens;
  sums.output_tokens += usage.output_tokens;
  sums.cached_tokens += usage.cached_tokens;
  sums.reasoning_tokens += usage.reasoning_tokens;
  sums.cost_usd = plus(sums.cost_usd, usage.cost_usd);
  sums.estimated_usd = plus(sums.estimated_usd, usage.estimated_usd);
  // The kind only decides how tokens are counted, which does not matter here.
  sums.unpriced_turns += modelsOf("", payload).some(isUnpriced) ? 1 : 0;
  sums.tool_calls += tool_calls;
  sums.turn_ms += ms;
};

export const turnSums = (db: Database) => {
  const select = db.prepare<[string], TurnSums>(`SELECT ${NAMES.join()} FROM p_workers WHERE id = ?`);
  const update = db.prepare(`UPDATE p_workers SET ${NAMES.map((name) => `${name} = ?`).join()} WHERE id = ?`);
  return {
    /** Undefined if the worker has no row. */
    of: (id: string): TurnSums | undefined => select.get(id),
    write: (id: string, sums: TurnSums): void => {
      update.run(...NAMES.map((name) => sums[name]), id);
    },
  };
};
