/**
 * Each change of a cluster's rows is one statement, so that a client that stands still holds no lock. A fence locks the row on which it
 * stands (`for share`): a claim of that row waits, and a claim that came first is seen. Locks are taken on nodes first.
 */

import { IS_BROUGHT } from "./brought.ts";

/** $1 node, $2 its term. */
const LIVING = `select id from node where id = $1 and term = $2 and state in ('active', 'draining')`;

/** A drain stays with the log of a node that was buried, and not with one that has left. */
const STAYS_DRAINED = `(node.drained and node.state = 'dead' and node.store_id = excluded.store_id)`;

/** A session that has left is over: its join that comes late takes no name. */
export const JOIN = `
  insert into node (id, store_id, labels, capacity, endpoint, term, beat, state, session, renewed_at)
  values ($1, $2, $3, $4, $5, 1, 0, 'active', $6, clock_timestamp())
  on conflict (id) do update set
    store_id = excluded.store_id, labels = excluded.labels, capacity = excluded.capacity, endpoint = excluded.endpoint,
    term = node.term + 1, beat = 0, session = excluded.session, renewed_at = clock_timestamp(),
    state = case when ${STAYS_DRAINED} then 'draining' else 'active' end, drained = ${STAYS_DRAINED}
  where node.state = 'dead' or node.state = 'left' and node.session <> excluded.session
  returning term`;

export const JOINED_BEFORE = `
  select term from node where id = $1 and session = $2 and state in ('active', 'draining')`;

export const RENEW = `
  update node set beat = beat + 1, renewed_at = clock_timestamp()
  where id = $1 and term = $2 and state in ('active', 'draining')`;

export const DRAIN = `
  update node set state = case when $2 then 'draining' else 'active' end, drained = $2
  where id = $1 and state in ('active', 'draining')`;

/** `is_once`: its policy starts it on no second node. */
export const WORKERS_AT = `
  select p.worker, p.needs,
    p.worker_id is not null and p.spec <> '' and p.spec::jsonb->>'restart' = 'temporary' as is_once
  from placement p join node n on n.id = p.node and n.term = p.node_term
  where p.node = $1 and p.desired = 'running' order by p.worker`;

export const LEAVE = `
  update node set state = 'left'
  where id = $1 and term = $2 and state in ('active', 'draining')
    and not exists (select 1 from placement where node = $1 and desired = 'running')`;

export const BURY = `
  update node set state = 'dead'
  where id = $1 and term = $2 and beat = $3 and state in ('active', 'draining')`;

/** No session has left it, so that its node may come back whatever its session is. */
export const DECLARE_GONE = `update node set state = 'left', session = '' where id = $1 and state = 'dead'`;

/**
 * The node terms that hold running workers, by jumps through the index `placement_running` from one to the next; and those of them
 * that do not live. A look costs by these and not by all placements. `offset 0` keeps the jumps from being planned as one scan of all.
 */
const HOLDERS = `
  holder as (
    (select node, node_term from placement where desired = 'running' and node is not null
      order by node, node_term limit 1)
    union all
    select following.* from holder cross join lateral (
      select node, node_term from placement
      where desired = 'running' and (node, node_term) > (holder.node, holder.node_term)
      order by node, node_term limit 1) following
  ), lost as (
    select h.node, h.node_term from holder h left join node n
      on n.id = h.node and n.term = h.node_term and n.state in ('active', 'draining')
    where n.id is null
  )`;

const COLUMNS = [
  "worker",
  "spec_digest",
  "desired",
  "on_partition",
  "needs",
  "node",
  "node_term",
  "term",
  "starts",
]
  .map((column) => `p.${column}`)
  .join(", ");

/**
 * Loads are counted while a worker waits for a node, since nobody asks for them otherwise. $2: the oldest transaction that was under
 * way at the last look of this node; null for none. The node's own placements are sent if they were written since then, with the number
 * of all, because a look at thousands is made four times a second.
 */
export const VIEW = `
  with recursive ${HOLDERS}, seen as (
    select ${COLUMNS} from placement p
    where p.desired = 'running' and p.node = $1 and ($2::text is null or age(p.xmin) <= age($2::text::xid))
    union all
    select ${COLUMNS} from placement p where p.desired = 'running' and p.node is null
    union all
    select of_lost.* from lost cross join lateral (
      select ${COLUMNS} from placement p
      where p.desired = 'running' and p.node = lost.node and p.node_term = lost.node_term offset 0) of_lost
    where lost.node <> $1
  ), load as (
    select node, node_term, count(*) as load from placement
    where desired = 'running' and (exists (select from lost) or exists (select from seen where node is null))
    group by node, node_term
  )
  select
    (select coalesce(json_agg(each), '[]') from (
      select n.id, n.store_id, n.labels, n.capacity, n.endpoint, n.term, n.beat, n.state, coalesce(l.load, 0) as load
      from node n left join load l on l.node = n.id and l.node_term = n.term) each) as nodes,
    (select coalesce(json_agg(seen), '[]') from seen) as placements,
    (select count(*) from placement where desired = 'running' and node = $1) as own,
    (pg_snapshot_xmin(pg_current_snapshot())::text::bigint & 4294967295)::text as since`;

/** The nodes alone. No load is counted. */
export const NODES = `
  select id, store_id, labels, capacity, endpoint, term, beat, state, 0 as load from node`;

/** The age of a beat is by the database's clock, for people. */
export const OVERVIEW = `
  with load as (
    select node, node_term, count(*) as load from placement where desired = 'running' group by node, node_term
  )
  select
    (select coalesce(json_agg(each order by each.id), '[]') from (
      select n.id, n.store_id, n.labels, n.capacity, n.endpoint, n.state,
        greatest(0, extract(epoch from clock_timestamp() - n.renewed_at) * 1000)::bigint as beat_age_ms,
        coalesce(d.load, 0) as placed,
        (select l.copied_to from log l where l.store_id = n.store_id order by l.epoch desc limit 1) as copied_to
      from node n left join load d on d.node = n.id and d.node_term = n.term) each) as nodes,
    (select coalesce(sum(d.load), 0) from load d left join node n
      on n.id = d.node and n.term = d.node_term and n.state in ('active', 'draining')
      where n.id is null)::bigint as unplaced,
    (select coalesce(keep_days, 0) from copy_rule) as keep_days`;

/** Nothing of the worker runs any more, or its node may not run it. */
export const IS_OVER = `(
    placement.desired = 'ended'
    or placement.desired = 'killed' and (placement.node is null or exists (
      select from node o where o.id = placement.node and (
        o.state = 'left' or placement.on_partition = 'stop' and (o.state = 'dead' or o.term <> placement.node_term)))))`;

/** A worker that is placed anew has its budget anew. The name of another one may begin with its name and a slash; no bound has a slash. */
export const PLACE = `
  with of_before as (
    update request r set worker_id = placement.worker_id, node = placement.node, over = placement.over
    from placement where placement.worker = $1 and r.request = placement.request and ${IS_OVER}
  ), placed as (
    insert into placement (worker, spec_digest, desired, on_partition, needs, term, starts, spec, request, tree, file)
    values ($1, $2, 'running', $3, $4, 0, 0, $5, $6, $7, $8)
    on conflict (worker) do update set
      spec_digest = excluded.spec_digest, desired = 'running', on_partition = excluded.on_partition, needs = excluded.needs,
      node = null, node_term = null, starts = 0, spec = excluded.spec, worker_id = null, why = null,
      request = excluded.request, ended_at = null,
      tree = excluded.tree, file = excluded.file, over = null, killer = null, checked_by = null,
      asked_term = null, told_term = null, waits_term = null
    where placement.spec <> '' and ${IS_OVER}
    returning worker
  ), spent as (
    delete from budget using placed where starts_with(budget.name, placed.worker || '/')
      and position('/' in substr(budget.name, length(placed.worker) + 2)) = 0
  ), forgotten as (
    delete from session using placed where session.worker = placed.worker
  ), noted as (
    insert into request (request, worker, spec_digest) select $6::text, $1, $2 from placed where $6::text is not null
  )
  select worker from placed`;

/** An older node that places the name anew leaves the killer of an earlier term there. */
const KILLER = `case when killer->>'term' = term::text then killer end`;

const PLACED_ROW = `
  select worker, desired, node, worker_id, why, spec_digest, over, ${KILLER} as killer,
    case when killer->>'term' = term::text then checked_by end as checked_by
  from placement`;

/** By the name first, which has an index. */
export const PLACED = `
  (${PLACED_ROW} where worker = $1) union all
  (${PLACED_ROW} where worker_id = $1 and not exists (select from placement where worker = $1)) limit 1`;

/** `is_reused`: another worker has its name by now. An older node notes a request in the placement alone. */
export const PLACED_BY = `
  select r.worker, coalesce(p.desired, 'ended') as desired, coalesce(p.node, r.node) as node, p.why, r.spec_digest,
    coalesce(p.worker_id, r.worker_id) as worker_id, coalesce(p.over, r.over) as over, p.worker is null as is_reused
  from request r left join placement p on p.worker = r.worker and p.request = r.request where r.request = $1
  union all
  select worker, desired, node, why, spec_digest, worker_id, over, false from placement
  where request = $1 and not exists (select from request where request = $1)`;

/** The newest workers that a node ended with a reason. */
export const FAILED = `
  select worker as name, node, why,
    greatest(0, extract(epoch from clock_timestamp() - ended_at) * 1000)::bigint as ended_ms_ago
  from placement where why is not null and desired = 'ended' and ended_at > clock_timestamp() - $1 * interval '1 ms'
  order by ended_at desc limit $2`;

/** Workers that shall run and have no node, oldest name first. */
export const WAITING = `
  select p.worker, p.needs, p.on_partition, p.node, p.node_term from placement p left join node n
    on n.id = p.node and n.term = p.node_term and n.state in ('active', 'draining')
  where p.desired = 'running' and n.id is null order by p.worker limit $1`;

/** A question about the place of a worker begins. */
export const ASK = `
  update placement set asked_term = term, asked_at = clock_timestamp()
  where worker = $1 and term = $2 and desired = 'running' and asked_term is distinct from term`;

/** One node tells of a question by its notifications. */
export const TELL = `
  update placement set told_term = term
  where worker = $1 and term = $2 and desired = 'running' and asked_term = term and told_term is distinct from term`;

/** Open questions about a place, but for those whose labels a node has: these answer themselves. */
export const QUESTIONS = `
  select p.worker, p.needs, p.on_partition, p.node, p.node_term, p.term,
    greatest(0, extract(epoch from clock_timestamp() - p.asked_at) * 1000)::bigint as asked_ms_ago,
    md5(concat_ws(' ', p.worker, p.term, extract(epoch from p.asked_at))) as shared_id
  from placement p left join node n on n.id = p.node and n.term = p.node_term and n.state in ('active', 'draining')
  where p.desired = 'running' and p.asked_term is not null and p.asked_term = p.term and p.waits_term is distinct from p.term
    and n.id is null order by p.worker limit $1`;

/** $2: the term of the question. Nobody asks for its place again before it has run. */
export const LET_WAIT = `
  update placement set waits_term = term
  where worker = $1 and term = $2 and desired = 'running' and asked_term = term and waits_term is distinct from term`;

/** Any node may take it from now on. The digest stays: its file still says the same. */
export const PLACE_ANYWHERE = `
  update placement set needs = '{}' where worker = $1 and term = $2 and desired = 'running' and asked_term = term`;

export const ADOPT = `
  with living as (${LIVING} for share)
  update placement p set node_term = $2 from living
  where p.worker = $3 and p.node = living.id and p.term = $4 and p.desired = 'running' and p.on_partition = 'continue'`;

export const RELEASE = `
  update placement set node = null, node_term = null
  where worker = $3 and node = $1 and node_term = $2 and term = $4 and desired = 'running' and starts = $5`;

export const END = `
  update placement set desired = 'ended', why = $4, over = $5, ended_at = clock_timestamp() where worker = $2 and node = $1 and term = $3 and desired = 'running'`;

/** Workers of a node that have a tombstone, and of which it has not said that nothing is left. */
export const KILLED_AT = `
  select worker, term::bigint, ${KILLER} as killer from placement where node = $1 and desired = 'killed'`;

/** Nothing of a worker with a tombstone is left on its node. */
export const STOPPED = `
  update placement set desired = 'ended', checked_by = coalesce($4, checked_by)
  where worker = $2 and node = $1 and term = $3 and desired = 'killed'`;

const KILLED_BY = `$2::jsonb || jsonb_build_object('term', placement.term)`;

/** The first one who kills it stands. */
export const KILL = `
  insert into placement (worker, spec_digest, desired, on_partition, term, starts, over, killer)
  values ($1, '', 'killed', 'stop', 0, 0, 'killed', $2::jsonb || '{"term":0}')
  on conflict (worker) do update set desired = 'killed', over = 'killed',
    killer = case when placement.desired = 'killed' then placement.killer else ${KILLED_BY} end`;

/** A second kill ends the grace of the first, whose words stay. */
export const KILL_AGAIN = `
  update placement set killer = coalesce(killer, jsonb_build_object('term', term)) || '{"again":true}'
  where worker = $1 and desired = 'killed'`;

/** Those of a tree, and those of the names $2. */
export const OF_TREE = `
  select worker, desired, spec_digest, node, worker_id, why, tree, file, over, ${IS_OVER} as is_over from placement
  where tree = $1 or worker = any ($2::text[]) order by worker`;

/** It ends, since its file has another spec for it. */
export const RETIRE = `
  update placement set desired = 'killed', killer = ${KILLED_BY}
  where worker = $1 and tree = $3 and desired = 'running'`;

/** Another `agent up` may have placed it again: then it is its file's. */
export const DISOWN = `
  update placement set tree = null, file = null where worker = $1 and tree = $2 and desired <> 'running'`;

/**
 * $1 node, $2 store, $3 epoch, $4 first seq, $5 last seq, $6 workers, $7 terms, $8 texts, one a line, $9 which of them a worker brings
 * to its next node. One long text costs a client far less than an array of many: each text of an array is escaped. Arrays that are
 * shorter than the lines count as null. The lock on the row of the log makes each record one: no index could, over several days.
 */
export const APPEND = `
  with before as (
    select copied_to from log where store_id = $2::text and epoch = $3::text for update
  ), place as (
    update log l set copied_to = greatest(l.copied_to, $5::bigint) from before
    where l.store_id = $2::text and l.epoch = $3::text and before.copied_to >= $4::bigint - 1
    returning l.copied_to
  ), held as (
    select worker, term from placement where node = $1 and worker = any ($6::text[]) order by worker for share
  ), right_of as (
    select jsonb_object_agg(worker, term) as term from held
  ), copied as (
    insert into record (store_id, epoch, seq, worker, term, is_late, text, is_brought)
    select $2::text, $3::text, $4::bigint - 1 + b.nth, b.worker, b.term,
      b.worker is not null and (right_of.term ->> b.worker)::bigint is distinct from b.term, b.text, b.is_brought
    from rows from (unnest($6::text[]), unnest($7::bigint[]), unnest($9::boolean[]), string_to_table($8::text, E'\\n'))
      with ordinality as b (worker, term, is_brought, text, nth)
    cross join before cross join place cross join right_of
    where $4::bigint - 1 + b.nth > before.copied_to
    order by b.nth
  )
  select copied_to from place`;

/** A log whose row is gone goes on after the newest record that the copy has of it. */
export const OPEN_LOG = `
  insert into log (store_id, epoch, copied_to)
  select $1::text, $2::text, coalesce((select max(seq) from record where store_id = $1::text and epoch = $2::text), 0)
  on conflict do nothing`;

export const COPIED_TO = `select copied_to from log where store_id = $1 and epoch = $2`;

export const STREAM = `
  select place, seq, worker, term, text from record
  where worker = $1 and not is_late and place > $2
  order by place limit $3`;

const IS_OF_WORKER = `position('"stream":"worker:' || $2 || '"' in left(text, 512)) > 0`;

/** The records that say in which turn a worker ended. */
const IS_OF_TURN = `(
    left(text, 512) ~ '"type":"(worker_spawn_requested|worker_state_changed|worker_restart_scheduled|worker_question|turn_started|turn_completed)"'
    or left(text, 512) ~ '"kind":"Tool(Call|Result)"')`;

/**
 * Newest first, those of the worker $2 in the log of its last node, and the newest record of that log: its clock at the end. Those
 * of its turn are among its newest $4 records. Records of days that are dropped are older than all that is there.
 */
export const BROUGHT = `
  with last as (
    select store_id, epoch from record where worker = $1 and not is_late order by place desc limit 1
  ), dropped as (
    select * from brought_before where worker = $1 and worker_id = $2
  ), log_of as (
    select store_id, epoch from last
    union all
    select store_id, epoch from dropped where not exists (select from last)
  )
  select
    coalesce(
      -- For the one log: a join reads and sorts all records of it.
      (select (
          select r.text from record r
          where r.store_id = l.store_id and r.epoch = l.epoch and r.text <> 'null'
          order by r.seq desc limit 1)
        from log_of l),
      (select newest from dropped)) as newest,
    (array(select text from record
        where ${IS_BROUGHT} and worker = $1 and ${IS_OF_WORKER}
        order by place desc limit $3)
      || coalesce((select records from dropped), '{}'))[1:$3] as records,
    (array(select text from (
          select text, place from record where worker = $1 and not is_late order by place desc limit $4) newest
        where ${IS_OF_TURN} and ${IS_OF_WORKER}
        order by place desc limit $3)
      || array(select text from dropped d cross join unnest(d.records) with ordinality as kept (text, at)
        where ${IS_OF_TURN} order by at))[1:$3] as turn`;
