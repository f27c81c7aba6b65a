/** The days of the copy: they are made before they begin, and dropped as the rule of the cluster says. */
import type pg from "pg";
import {
  CLUSTER_BROUGHT_RECORDS_MAX,
  CLUSTER_CALL_SILENT_MS,
  CLUSTER_COPY_CLOCK_AHEAD_MAX_MS,
  CLUSTER_COPY_DAYS_AHEAD,
  CLUSTER_COPY_DROP_MAX_DAYS,
  CLUSTER_COPY_TEND_MAX_MS,
  CLUSTER_COPY_TEND_MS,
  CLUSTER_PRUNED_ROWS_MAX,
  CLUSTER_REQUESTS_KEPT_DAYS,
} from "../../base/limits.ts";
import { ClockAheadError } from "../errors.ts";
import { IS_OVER } from "./statements.ts";

/** Zero keeps every day. It is done at the next look. */
const KEEP_DAYS = `update copy_rule set keep_days = nullif($1::integer, 0), tended_at = '-infinity'`;

const KEPT_DAYS = `select coalesce(keep_days, 0) as keep_days from copy_rule`;

/** Null: another node does it, or has done it a short time ago. */
const TEND_COPY = `select tend_copy($1, $2, $3, $4) as dropped`;

const NOW = `select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`;

/** Sessions that nobody holds. One that is taken meanwhile has another worker, and stays. */
const PRUNE_SESSIONS = `
  delete from session s using (
    select kind, session_id, session.worker from session join placement on placement.worker = session.worker
    where ${IS_OVER} limit $1) old
  where s.kind = old.kind and s.session_id = old.session_id and s.worker = old.worker`;

/** The placement of a worker knows the key of its request as well. */
const PRUNE_REQUESTS = `
  delete from request where request in (
    select request from request where at < clock_timestamp() - $2 * interval '1 day' limit $1)`;

/** Requests to nodes that do not come back. */
const PRUNE_CALLS = `delete from call where heard_at < clock_timestamp() - $1 * interval '1 ms'`;

const MAKE_DAYS = `select make_days($1)`;

/** By Postgres: a row that fits no part of its table. */
const CHECK_VIOLATION = "23514";

/** The day of the database has no table: its clock was set, or nobody has made any for a week. */
export const hasNoDay = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === CHECK_VIOLATION;

export const makeDays = async (pool: pg.Pool): Promise<void> => {
  await pool.query(MAKE_DAYS, [CLUSTER_COPY_DAYS_AHEAD]);
};

/**
 * Drops days that are too old, and rows that nobody needs. Null where that is not due, or another node does it. `now_ms` is the clock
 * of this node: a database that was set wrong would drop all. It may take long, so its connection is its own.
 */
export const tendCopy = async (
  pool: pg.Pool,
  now_ms: number,
  every_ms = CLUSTER_COPY_TEND_MS,
): Promise<number | null> => {
  const clock = await pool.query<{ now: number }>(NOW);
  const ahead_ms = clock.rows[0]!.now - now_ms;
  if (ahead_ms > CLUSTER_COPY_CLOCK_AHEAD_MAX_MS) throw new ClockAheadError(ahead_ms);
  const client = await pool.connect();
  try {
    await client.query(`set statement_timeout = ${CLUSTER_COPY_TEND_MAX_MS}`);
    const values = [
      every_ms,
      CLUSTER_COPY_DAYS_AHEAD,
      CLUSTER_COPY_DROP_MAX_DAYS,
      CLUSTER_BROUGHT_RECORDS_MAX,
    ];
    const query = { text: TEND_COPY, values, query_timeout: CLUSTER_COPY_TEND_MAX_MS };
    const { rows } = await client.query<{ dropped: number | null }>(query as pg.QueryConfig);
    const dropped = rows[0]?.dropped ?? null;
    if (dropped === null) return null;
    await client.query(PRUNE_SESSIONS, [CLUSTER_PRUNED_ROWS_MAX]);
    await client.query(PRUNE_REQUESTS, [CLUSTER_PRUNED_ROWS_MAX, CLUSTER_REQUESTS_KEPT_DAYS]);
    await client.query(PRUNE_CALLS, [CLUSTER_CALL_SILENT_MS]);
    return dropped;
  } finally {
    client.release(true);
  }
};

/** How many days are kept, 0 for all of them; `asked` changes it. Answers what it was, and what it is. */
export const keepDays = async (
  pool: pg.Pool,
  asked: number | undefined,
): Promise<{ readonly before: number; readonly keep_days: number }> => {
  const { rows } = await pool.query<{ keep_days: number }>(KEPT_DAYS);
  const before = rows[0]?.keep_days ?? 0;
  if (asked === undefined || asked === before) return { before, keep_days: before };
  await pool.query(KEEP_DAYS, [asked]);
  return { before, keep_days: asked };
};
