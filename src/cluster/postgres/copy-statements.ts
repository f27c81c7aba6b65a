/** How people read the copy: the records of a placed worker, and the workers of other nodes. */
import { IS_BROUGHT } from "./brought.ts";

/** By its name, or by its id in the log of its node; and how far the copy of that log is. */
export const COPY_OF = `
  select p.worker as name, p.worker_id, p.node, n.state as node_state,
    greatest(0, extract(epoch from clock_timestamp() - n.renewed_at) * 1000)::bigint as beat_age_ms,
    (select l.copied_to from log l where l.store_id = n.store_id order by l.epoch desc limit 1) as through
  from placement p left join node n on n.id = p.node
  where p.worker = $1 or p.worker_id = $1 limit 1`;

const IS_STATE = `left(text, 512) ~ '"type":"(worker_spawn_requested|worker_state_changed|worker_restart_scheduled|worker_ended)"'`;

/**
 * $1: one worker by its name or id; else the workers that the node $2 does not hold, after the name $3: also ended ones with $4, only of
 * the labels $5, the kinds $6 and the tree $7, at most $8. The last state is that of a worker's newest $9 records.
 */
export const ELSEWHERE = `
  with chosen as (
    select worker, worker_id, spec, desired, over, why, tree, node from placement
    where spec <> '' and ($1::text is null or worker = $1 or worker_id = $1)
      and ($1::text is not null or (node is distinct from $2::text and worker > $3 and ($4 or desired = 'running')))
      and ($5::jsonb is null or nullif(spec, '')::jsonb -> 'labels' @> $5)
      and ($6::text[] is null or nullif(spec, '')::jsonb ->> 'kind' = any ($6))
      and ($7::text is null or tree = $7)
    order by worker limit $8
  )
  select c.worker as name, c.worker_id, c.spec, c.desired, c.over, c.why, c.tree, c.node, n.state as node_state,
    greatest(0, extract(epoch from clock_timestamp() - n.renewed_at) * 1000)::bigint as beat_age_ms,
    (select l.copied_to from log l where l.store_id = n.store_id order by l.epoch desc limit 1) as through,
    (select text from (
        select place, text from record where worker = c.worker and not is_late order by place desc limit $9) newest
      where ${IS_STATE} and position('"stream":"worker:' || c.worker_id || '"' in left(text, 512)) > 0
      order by place desc limit 1) as last
  from chosen c left join node n on n.id = c.node order by c.worker`;

/** The records of the worker $2 alone: those that it spawned are in the stream as well. */
const COPIED_OF = `
  select place, text from record
  where worker = $1 and not is_late and position('"stream":"worker:' || $2 || '"' in left(text, 512)) > 0`;

export const COPIED = `${COPIED_OF} and place > $3 order by place limit $4`;

/** The place of the newest record of the worker $2. */
export const COPIED_UP_TO = `${COPIED_OF} order by place desc limit 1`;

const idOfStream = (text: string): string =>
  `substring(left(${text}, 512) from '"stream":"worker:([0-9A-Z]{26})"')`;

/**
 * Records of all runs of the worker $1, which runs as $2 now, but for those of the run $3 and of all that its agents spawned. With $6,
 * also of the workers that the agents of the other runs spawned.
 */
export const COPIED_RUNS = `
  with recursive spawned as materialized (
    select ${idOfStream("text")} as id, text::jsonb #>> '{payload,spec,name}' as name,
      text::jsonb #>> '{payload,spec,parent}' as parent
    from record where ${IS_BROUGHT} and worker = $1 and left(text, 192) ~ '"type":"worker_spawn_requested"'
  ), past as (
    select $3::text as id union select s.id from spawned s join past on s.parent = past.id
  ), wanted as materialized (
    select id from (select id from spawned where $6 or name = $1 union select $2::text) own
    where id not in (select id from past where id is not null)
  )
  select place, text from record
  where worker = $1 and not is_late and place > $4 and ${idOfStream("text")} in (select id from wanted)
  order by place limit $5`;

/**
 * Records of placed workers that have something like all words $4, newest first, at most $5 of them and $6 characters: among the newest
 * $3 of all logs but that of the node $1, or among the newest $3 of the workers $2. Each source has an equal part of these, so that
 * nothing reads a whole log.
 */
export const FOUND = `
  with own as (select store_id from node where id = $1),
  logs as (select distinct on (store_id) store_id, epoch from log order by store_id, epoch desc),
  newest as (
    select r.* from logs l cross join lateral (
      select place, store_id, worker, text, is_late from record r
      where r.store_id = l.store_id and r.epoch = l.epoch order by r.seq desc
      limit greatest(1, $3::integer / (select count(*) from logs))) r
    where $2::text[] is null and l.store_id not in (select store_id from own)
    union all
    select r.* from placement p cross join lateral (
      select place, store_id, worker, text, is_late from record r where r.worker = p.worker and not r.is_late
      order by r.place desc limit greatest(1, $3::integer / cardinality($2::text[]))) r
    where (p.worker = any ($2) or p.worker_id = any ($2)) and r.store_id not in (select store_id from own)
  ), chosen as (
    select place, store_id, worker, text from newest
    where worker is not null and not is_late and text ~* all ($4::text[]) order by place desc limit $5
  ), sized as (select *, sum(length(text)) over (order by place desc) as chars from chosen)
  select c.place, c.text, n.id as node, n.state as node_state,
    (select s.text::jsonb #>> '{payload,spec,name}' from record s
      where s.worker = c.worker and ${IS_BROUGHT} and left(s.text, 192) ~ '"type":"worker_spawn_requested"'
        and ${idOfStream("s.text")} = ${idOfStream("c.text")} limit 1) as worker_name
  from sized c left join node n on n.store_id = c.store_id
  where chars - length(c.text) <= $6 order by c.place desc`;

export const COPIED_NEWEST = `select * from (${COPIED_OF} order by place desc limit $3) newest order by place`;
