/**
 * The copy as one table a day (decision 0088): a day is dropped as a whole, and what a placed worker needs of it is kept beside. Two
 * functions of the database do it, because the names of the days are not known before, and because one call is one transaction.
 */

const TODAY = "(now() at time zone 'utc')::date";

/** A migration, so never changed. Functions run by the right of who made the tables: a node needs none to make any. */
export const copyByDays = (schema: string, is_brought: string, ahead: number): string => `
  alter table record rename to record_before;
  alter index record_pkey rename to record_before_pkey;
  alter index record_stream rename to record_before_stream;
  alter index record_brought rename to record_before_brought;
  create sequence record_at;
  select setval('record_at', (select last_value + 1 from record_place_seq));
  alter table record_before
    alter column place drop identity,
    add column day date not null default ${TODAY};
  create table record (
    store_id text not null,
    epoch text not null,
    seq bigint not null,
    place bigint not null default nextval('record_at'),
    worker text,
    term bigint,
    is_late boolean not null,
    text text not null,
    -- On which it was copied, by the database's clock in UTC.
    day date not null default ${TODAY}
  ) partition by range (day);
  create index record_stream on record (worker, place) where worker is not null and not is_late;
  create index record_brought on record (worker, place) where ${is_brought};
  do $$ begin
    if exists (select from record_before) then
      execute format('alter table record attach partition record_before for values from (minvalue) to (%L)', ${TODAY} + 1);
    else
      drop table record_before;
    end if;
  end $$;

  -- One row. Null: every day is kept.
  create table copy_rule (
    keep_days integer check (keep_days > 0),
    tended_at timestamptz not null
  );
  insert into copy_rule values (null, '-infinity');

  -- A running worker: the log of its last record in a dropped day, its newest record, and what a next node is to know.
  create table brought_before (
    worker text primary key,
    worker_id text not null,
    store_id text not null,
    epoch text not null,
    newest text,
    records text[] not null
  );

  create function make_days(ahead integer) returns void
  language plpgsql security definer set search_path = ${schema}, pg_temp set datestyle = 'ISO, YMD' as $$
  declare
    first date; name text;
  begin
    perform pg_advisory_xact_lock(hashtext('${schema}.make_days'));
    for at in 0 .. ahead loop
      first := ${TODAY} + at;
      name := 'record_' || to_char(first, 'YYYYMMDD');
      continue when to_regclass(name) is not null;
      begin
        execute format('create table %I (like record including defaults, primary key (store_id, epoch, seq))', name);
        execute format('alter table record attach partition %I for values from (%L) to (%L)', name, first, first + 1);
      exception when invalid_object_definition then
        null; -- Another part has this day already.
      end;
    end loop;
  end $$;
  select make_days(${ahead});

  create ${tendCopyBy(schema, is_brought)}`;

/** A migration makes it anew where other records are brought. */
export const tendCopyBy = (
  schema: string,
  is_brought: string,
): string => `function tend_copy(every_ms bigint, ahead integer, days_max integer, records_max integer) returns integer
  language plpgsql security definer set search_path = ${schema}, pg_temp set datestyle = 'ISO, YMD' set lock_timeout = '1s' as $$
  declare
    keep integer; part text; dropped integer := 0;
  begin
    update copy_rule set tended_at = clock_timestamp() where ctid = (
      select ctid from copy_rule
      where tended_at not between clock_timestamp() - every_ms * interval '1 ms' and clock_timestamp()
      for update skip locked)
    returning keep_days into keep;
    if not found then
      return null;
    end if;
    perform make_days(ahead);
    delete from brought_before b where not exists (
      select from placement p where p.worker = b.worker and p.worker_id = b.worker_id and p.desired = 'running');
    for part in
      select c.relname from (
        select p.relname, substring(pg_get_expr(p.relpartbound, p.oid) from 'TO \\(''([^'']+)''\\)')::date as until
        from pg_inherits i join pg_class p on p.oid = i.inhrelid where i.inhparent = 'record'::regclass) c
      where c.until <= ${TODAY} - keep order by c.until
    loop
      if dropped = days_max then
        update copy_rule set tended_at = '-infinity';
        exit;
      end if;
      execute format($part$
        insert into brought_before as b (worker, worker_id, store_id, epoch, newest, records)
        select p.worker, p.worker_id, l.store_id, l.epoch,
          (select text from %1$I r where r.store_id = l.store_id and r.epoch = l.epoch and r.text <> 'null'
            order by r.seq desc limit 1),
          array(select text from %1$I
            where ${is_brought}
              and worker = p.worker and position('"stream":"worker:' || p.worker_id || '"' in left(text, 512)) > 0
            order by place desc limit $1)
        from placement p cross join lateral (
          select store_id, epoch from %1$I r where r.worker = p.worker and not r.is_late order by r.place desc limit 1) l
        where p.desired = 'running' and p.worker_id is not null
        on conflict (worker) do update set
          worker_id = excluded.worker_id, store_id = excluded.store_id, epoch = excluded.epoch, newest = excluded.newest,
          records = (case when b.worker_id = excluded.worker_id then excluded.records || b.records else excluded.records end)[1:$1]
        $part$, part) using records_max;
      execute format('drop table %I', part);
      dropped := dropped + 1;
    end loop;
    return dropped;
  end $$;`;
