/** The tables of a cluster, as migrations: each is applied once, in order, and never changed after it was published. */
import { CLUSTER_COPY_DAYS_AHEAD } from "../../base/limits.ts";
import { IS_BROUGHT, WAS_BROUGHT } from "./brought.ts";
import { copyByDays, tendCopyBy } from "./days.ts";

export const SCHEMA = "holdfast_cluster";

/**
 * The key of the lock under which one node migrates while others wait. Another lock of a session is never taken: it would end with the
 * session.
 */
export const MIGRATION_LOCK = 7_040_074;

const COPY_BY_DAYS = copyByDays(SCHEMA, WAS_BROUGHT, CLUSTER_COPY_DAYS_AHEAD);

/**
 * A Holdfast that knows this many migrations can use these tables, too. Raise it with a migration that takes or renames what an
 * older one needs: its nodes then lose their lease until they are upgraded.
 */
export const OLDEST_READER = 5;

export const MIGRATIONS: readonly string[] = [
  `create table node (
    id text primary key,
    store_id text not null,
    labels jsonb not null,
    capacity integer not null check (capacity > 0),
    endpoint text not null,
    term bigint not null,
    beat bigint not null,
    state text not null check (state in ('active', 'draining', 'dead', 'left')),
    session text not null,
    -- By the database's clock, for people. No decision reads it.
    renewed_at timestamptz not null
  );
  create table placement (
    worker text primary key,
    spec_digest text not null,
    desired text not null check (desired in ('running', 'ended', 'killed')),
    on_partition text not null check (on_partition in ('stop', 'continue')),
    needs jsonb,
    node text,
    node_term bigint,
    term bigint not null,
    starts bigint not null,
    check ((node is null) = (node_term is null))
  );
  create index placement_running on placement (node, node_term) where desired = 'running';
  create table log (
    store_id text not null,
    epoch text not null,
    copied_to bigint not null,
    primary key (store_id, epoch)
  );
  create table record (
    store_id text not null,
    epoch text not null,
    seq bigint not null,
    place bigint generated always as identity,
    worker text,
    term bigint,
    is_late boolean not null,
    text text not null,
    primary key (store_id, epoch, seq)
  );
  create index record_stream on record (worker, place) where worker is not null and not is_late;
  create table budget (
    name text primary key,
    version bigint not null,
    content jsonb not null
  );`,
  `alter table placement
    add column spec text not null default '',
    add column worker_id text,
    add column why text;`,
  // The records of a worker's stream that its start on another node is to know.
  `create index record_brought on record (worker, place) where ${WAS_BROUGHT};`,
  // The digest of its caller's idempotency key; and by the database's clock, for people, when it ended.
  `alter table placement
    add column request text,
    add column ended_at timestamptz;
  create unique index placement_request on placement (request);
  create index placement_failed on placement (ended_at) where why is not null;`,
  // A worker of a file belongs to its tree. `over`: a person killed it, or it has completed.
  `alter table placement
    add column tree text,
    add column file text,
    add column over text check (over in ('completed', 'killed'));
  create index placement_tree on placement (tree) where tree is not null;`,
  // The one who ended the worker, with the term that it had then; and how its node searched for what was left of it.
  `alter table placement
    add column killer jsonb,
    add column checked_by text[];`,
  COPY_BY_DAYS,
  // The terms of which a person was asked for a place, was told by a notification, and said to wait. A claim ends all three by its term.
  `alter table placement
    add column asked_term bigint,
    add column asked_at timestamptz,
    add column told_term bigint,
    add column waits_term bigint;
  create index placement_asked on placement (worker) where asked_term is not null and desired = 'running';`,
  // The sessions of agents. Each is held by the worker that took it last, until its placement is over.
  `create table session (
    kind text not null,
    session_id text not null,
    worker text not null,
    term bigint not null,
    primary key (kind, session_id)
  );
  create index session_worker on session (worker);`,
  // A drain outlasts the daemon of its node. The keys of requests, also of those whose name another worker has by now.
  `alter table node add column drained boolean not null default false;
  update node set drained = true where state = 'draining';
  create table request (
    request text primary key,
    worker text not null,
    spec_digest text not null,
    worker_id text,
    node text,
    over text
  );
  insert into request (request, worker, spec_digest)
    select request, worker, spec_digest from placement where request is not null;`,
  // By the database's clock: keys of requests end, too.
  "alter table request add column at timestamptz not null default now()",
  // Records of before are marked by their index, so that the new one reads no text of them.
  `alter table record add column is_brought boolean default false;
  alter table record alter column is_brought drop default;
  update record set is_brought = true where ${WAS_BROUGHT};
  drop index record_brought;
  create index record_is_brought on record (worker, place) where ${IS_BROUGHT};
  create or replace ${tendCopyBy(SCHEMA, IS_BROUGHT)}`,
  // Requests of one node to another. `life`: that of the daemon which carries it out. Nothing is kept: a row ends with its answer.
  `create table call (
    id text primary key,
    node text not null,
    name text not null,
    data text not null,
    caller jsonb not null,
    heard_at timestamptz not null,
    life text,
    answer text
  );
  create index call_node on call (node);`,
];
