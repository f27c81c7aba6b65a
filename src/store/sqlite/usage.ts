/** Sums usage from its projection. Runs in a thread, because there may be millions of turns. */
import type { Database } from "better-sqlite3";
import { USAGE_ROWS_MAX, USAGE_UNPRICED_NAMED_MAX } from "../../base/limits.ts";
import type { Usage } from "../../protocol/records.ts";
import { dollars } from "../../protocol/usage.ts";
import type { SubtreeSum, UsageBy, UsageQuery, UsageReport, UsageRow, UsageSum } from "../usage-report.ts";
import { openDatabase } from "./database.ts";

/** `total` instead of `sum`, because agents report the counts and an integer could overflow. */
const SUMS = `count(DISTINCT u.worker_id) AS workers, total(turns) AS turns, total(tool_calls) AS tool_calls,
  total(input_tokens) AS input_tokens, total(cached_tokens) AS cached_tokens, total(cache_write_tokens) AS cache_write_tokens,
  total(output_tokens) AS output_tokens, total(reasoning_tokens) AS reasoning_tokens,
  sum(cost_usd) AS cost_usd, sum(estimated_usd) AS estimated_usd, total(unpriced) AS unpriced, total(duration_ms) AS duration_ms`;

const keyOf = (by: UsageBy): { readonly key: string; readonly join: string } => {
  if (typeof by === "object")
    return {
      key: "l.value",
      join: "LEFT JOIN p_labels l ON l.worker_id = u.worker_id AND l.key = @label",
    };
  const key = { day: "substr(ended_at, 1, 10)", kind: "kind", model: "model", worker: "u.worker_id" }[by];
  return { key, join: "" };
};

/** The highest cost first, and among equal costs the most tokens. */
const DEAREST =
  "coalesce(sum(cost_usd), 0) + coalesce(sum(estimated_usd), 0) DESC, total(output_tokens) DESC, key";

type UsageGroupRow = UsageSum & { readonly key: string | null; readonly groups: number };

const shown = <S extends UsageSum>(sums: S): S => ({
  ...sums,
  cost_usd: sums.cost_usd === null ? null : dollars(sums.cost_usd),
  estimated_usd: sums.estimated_usd === null ? null : dollars(sums.estimated_usd),
  duration_ms: Math.round(sums.duration_ms),
});

/** The wanted workers, each once: UNION drops duplicates. */
const AMONG = `
  WITH RECURSIVE whole(id) AS (
    SELECT w.id FROM json_each(@supervisors) s JOIN p_workers w
      ON w.supervisor <> 'root' AND w.supervisor = s.value ->> 'path' AND w.created_at >= s.value ->> 'since'
    UNION SELECT value FROM json_each(@workers) WHERE @descendants = 1
    UNION SELECT w.id FROM whole JOIN p_workers w ON w.parent = whole.id
  ), asked(id) AS (SELECT value FROM json_each(@workers) UNION SELECT id FROM whole)`;

const usageIn = (db: Database, { by, since = "", among }: UsageQuery): UsageReport => {
  const asked = {
    since,
    workers: JSON.stringify(among?.workers ?? []),
    supervisors: JSON.stringify(among?.supervisors ?? []),
    descendants: among?.descendants ? 1 : 0,
    label: typeof by === "object" ? by.label : "",
    most: USAGE_ROWS_MAX,
    named: USAGE_UNPRICED_NAMED_MAX,
  };
  const [of, only] = among === undefined ? ["", ""] : [AMONG, "AND u.worker_id IN (SELECT id FROM asked)"];
  const where = `WHERE ended_at >= @since ${only}`;
  const { key, join } = keyOf(by);
  const order = by === "day" ? "key DESC" : DEAREST;
  const rows = db
    .prepare<typeof asked, UsageGroupRow>(
      `${of} SELECT ${key} AS key, ${SUMS}, count(*) OVER () AS groups FROM p_usage u ${join} ${where}
       GROUP BY 1 ORDER BY ${order} LIMIT @most`,
    )
    .all(asked);
  const total = db
    .prepare<typeof asked, UsageSum>(`${of} SELECT ${SUMS} FROM p_usage u ${where}`)
    .get(asked)!;
  const unpriced_models = db
    .prepare<typeof asked, string | null>(
      `${of} SELECT DISTINCT model FROM p_usage u ${where} AND unpriced = 1 ORDER BY model LIMIT @named`,
    )
    .pluck()
    .all(asked);
  const nameOf = db.prepare<[string], string | null>("SELECT name FROM p_workers WHERE id = ?").pluck();
  const named = (id: string | null): { readonly name?: string } => {
    const name = by === "worker" && id !== null ? nameOf.get(id) : undefined;
    return name == null ? {} : { name };
  };
  const told = rows.map(({ groups: _, ...row }): UsageRow => ({ ...shown(row), ...named(row.key) }));
  return {
    rows: by === "day" ? told.reverse() : told,
    total: shown(total),
    omitted: (rows[0]?.groups ?? 0) - rows.length,
    unpriced_models,
  };
};

/** Runs in the thread, on one snapshot of the log. */
export const usageOfFile = (file: string, query: UsageQuery): UsageReport => {
  const db = openDatabase(file, { readonly: true });
  try {
    return db.transaction(() => usageIn(db, query))();
  } finally {
    db.close();
  }
};

type StoredSum = Omit<SubtreeSum, "usage"> &
  Required<Omit<Usage, "estimated_usd">> & {
    readonly estimated_usd: number | null;
  };

/** Sums a worker and everything below it in one turn of the event loop, so at most `max` workers; undefined for more. */
export const subtreeSums = (db: Database) => {
  const sum = db.prepare<[string, number], StoredSum>(
    `WITH RECURSIVE below(id) AS (
       VALUES (?) UNION SELECT w.id FROM below JOIN p_workers w ON w.parent = below.id LIMIT ?
     )
     SELECT count(*) AS workers, total(turns) AS turns, total(tool_calls) AS tool_calls, total(turn_ms) AS turn_ms,
       total(unpriced_turns) AS unpriced_turns, total(input_tokens) AS input_tokens, total(output_tokens) AS output_tokens,
       total(cached_tokens) AS cached_tokens, total(reasoning_tokens) AS reasoning_tokens, sum(cost_usd) AS cost_usd,
       sum(estimated_usd) AS estimated_usd
     FROM below JOIN p_workers USING (id)`,
  );
  return (workerId: string, max: number): SubtreeSum | undefined => {
    const { workers, turns, tool_calls, turn_ms, unpriced_turns, cost_usd, estimated_usd, ...tokens } =
      sum.get(workerId, max + 1)!;
    if (workers > max) return undefined;
    const usage = {
      ...tokens,
      cost_usd: cost_usd === null ? null : dollars(cost_usd),
      ...(estimated_usd === null ? {} : { estimated_usd: dollars(estimated_usd) }),
    };
    return { workers, turns, tool_calls, turn_ms, unpriced_turns, usage };
  };
};
