/** The budgets of a cluster, a row for each bound (decision 0091). */
import type pg from "pg";
import { CLUSTER_BUDGET_TRIES_MAX } from "../../base/limits.ts";
import type { BudgetPortion, LeasedBudget } from "../budgets.ts";
import { RightOverError } from "../errors.ts";
import type { HeldRight } from "../rows.ts";

/** How a budget stands in its row. */
interface BudgetContent extends Omit<LeasedBudget, "portions"> {
  readonly portions: Readonly<Record<string, BudgetPortion>>;
}

interface ChangeOfBudget<Result> {
  readonly after?: LeasedBudget | undefined;
  readonly result: Result;
}

const BUDGET = `select version, content from budget where name = $1`;

const putBudget = (from: string): string => `
  insert into budget as b (name, version, content)
  select $1::text, $2::bigint + 1, $3::jsonb ${from}
  where $2::bigint = 0 or exists (select 1 from budget where name = $1::text)
  on conflict (name) do update set version = excluded.version, content = excluded.content
  where b.version = $2::bigint`;

/** $2: the version that was read, 0 for none. */
const PUT_BUDGET = putBudget("");

const IS_HELD = `select from placement where worker = $1 and node = $2 and term = $3`;

/** By the right of a worker: $4 to $6 are its name, its node and its term. */
const PUT_HELD_BUDGET = `
  with held as (select from placement where worker = $4 and node = $5 and term = $6 for share)
  ${putBudget("from held")}`;

/** $1 ends in a slash, and no bound has one. */
const DROP_BUDGET = `
  delete from budget where starts_with(name, $1::text) and position('/' in substr(name, length($1::text) + 1)) = 0`;

const budgetOf = ({ portions, ...content }: BudgetContent): LeasedBudget => ({
  ...content,
  portions: new Map(Object.entries(portions)),
});

/** Decided anew where somebody else was faster. */
export const changeBudget = async <Result>(
  pool: pg.Pool,
  name: string,
  change: (before: LeasedBudget | undefined) => ChangeOfBudget<Result>,
  right: HeldRight | undefined,
): Promise<Result> => {
  const held = right === undefined ? [] : [right.worker, right.node, right.term];
  const put = right === undefined ? PUT_BUDGET : PUT_HELD_BUDGET;
  for (let tries = 1; ; tries++) {
    const [row] = (await pool.query<{ version: number; content: BudgetContent }>(BUDGET, [name])).rows;
    const { after, result } = change(row === undefined ? undefined : budgetOf(row.content));
    if (after === undefined) return result;
    const content: BudgetContent = { ...after, portions: Object.fromEntries(after.portions) };
    if ((await pool.query(put, [name, row?.version ?? 0, content, ...held])).rowCount === 1) return result;
    if (right !== undefined && (await pool.query(IS_HELD, held)).rowCount !== 1)
      throw new RightOverError(right.worker);
    if (tries >= CLUSTER_BUDGET_TRIES_MAX)
      throw new Error(`The budget ${name} was changed by others ${tries} times.`);
  }
};

/** The rows of a budget, by the key of one of them. */
const SHARED_ROWS = `select regexp_replace(name, '[^/]*$', '') as rows from budget where content ->> 'key' = $1`;

export const sharedRows = async (pool: pg.Pool, shared_id: string): Promise<string | undefined> =>
  (await pool.query<{ rows: string }>(SHARED_ROWS, [shared_id])).rows[0]?.rows;

export const dropBudget = async (pool: pg.Pool, rows: string): Promise<void> => {
  await pool.query(DROP_BUDGET, [`${rows}/`]);
};
