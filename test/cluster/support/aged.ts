/** The copy of a cluster as if it had been made some days ago. */
import type pg from "pg";

/** Moves what is there from `first` on to the day that was `days` ago. */
export const ageCopy = async (client: pg.Client, days: number, first = 1): Promise<void> => {
  const { rows } = await client.query<{ day: string; name: string; next: string }>(
    `select to_char(day, 'YYYY-MM-DD') as day, 'record_' || to_char(day, 'YYYYMMDD') as name,
       to_char(day + 1, 'YYYY-MM-DD') as next
     from (select (now() at time zone 'utc')::date - $1::integer as day) d`,
    [days],
  );
  const { day, name, next } = rows[0]!;
  await client.query(
    `create table if not exists ${name} partition of record (primary key (store_id, epoch, seq))
     for values from ('${day}') to ('${next}')`,
  );
  await client.query("update record set day = $1 where seq >= $2", [day, first]);
};
