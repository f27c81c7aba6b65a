/** Brings the tables of a cluster up to date: one node does it, and others that start at the same time wait. */
import type pg from "pg";
import { MIGRATION_LOCK, MIGRATIONS, SCHEMA } from "./schema.ts";

/** A newer Holdfast has changed the tables, so this one leaves them alone. */
export class NewerClusterError extends Error {
  constructor(version: number) {
    super(`The cluster has tables of version ${version}, and this Holdfast knows ${MIGRATIONS.length}.`);
  }
}

export const migrate = async (pool: pg.Pool, migrations = MIGRATIONS): Promise<void> => {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    await client.query(`create schema if not exists ${SCHEMA}`);
    await client.query(
      "create table if not exists migration (version integer primary key, at timestamptz not null)",
    );
    const { rows } = await client.query<{ version: number }>(
      "select coalesce(max(version), 0)::integer as version from migration",
    );
    const version = rows[0]?.version ?? 0;
    if (version > migrations.length) throw new NewerClusterError(version);
    for (const [at, statements] of migrations.entries()) {
      if (at < version) continue;
      await client.query(statements);
      await client.query("insert into migration values ($1, clock_timestamp())", [at + 1]);
    }
    await client.query("commit");
    client.release();
  } catch (error) {
    // Its transaction ends with the connection.
    client.release(true);
    throw error;
  }
};
