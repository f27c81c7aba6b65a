/** The sessions of placed workers: each has one holder in the cluster, for as long as its placement is not over (decision 0087). */
import type pg from "pg";
import type { Placement } from "../rows.ts";
import { IS_OVER } from "./statements.ts";

export interface SessionName {
  readonly kind: string;
  readonly session_id: string;
}

export type SessionRow = Pick<Placement, "worker" | "node">;

/** The right by which a worker runs takes it, so one of a term that was claimed away takes none. A worker has one session. */
const TAKE = `
  with mine as (
    select worker, term from placement where worker = $3 and term = $4 and node = $5 and desired = 'running' for share
  ), left_one as (
    delete from session where worker in (select worker from mine) and (kind, session_id) <> ($1, $2)
  )
  insert into session as s (kind, session_id, worker, term)
  select $1, $2, worker, term from mine
  on conflict (kind, session_id) do update set worker = excluded.worker, term = excluded.term
  where s.worker = excluded.worker
    or not exists (select from placement where placement.worker = s.worker and not ${IS_OVER})`;

const HOLDER = `
  select placement.worker, placement.node from session s join placement on placement.worker = s.worker
  where s.kind = $1 and s.session_id = $2 and not ${IS_OVER}`;

export const holderOf = async (
  pool: pg.Pool,
  { kind, session_id }: SessionName,
): Promise<SessionRow | undefined> => (await pool.query<SessionRow>(HOLDER, [kind, session_id])).rows[0];

/** Undefined: the worker has it now, or its term is over. Else the one who has it. */
export const takeSession = async (
  pool: pg.Pool,
  { kind, session_id }: SessionName,
  { worker, term, node }: Pick<Placement, "worker" | "term" | "node">,
): Promise<SessionRow | undefined> => {
  const { rowCount } = await pool.query(TAKE, [kind, session_id, worker, term, node]);
  if (rowCount === 1) return undefined;
  const holder = await holderOf(pool, { kind, session_id });
  return holder?.worker === worker ? undefined : holder;
};
