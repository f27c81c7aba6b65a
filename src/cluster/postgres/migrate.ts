/** Brings the tables of a cluster up to date: one node does it, and others that start at the same time wait. */
import type pg from "pg";
import { CLUSTER_MIGRATE_MAX_MS } from "../../base/limits.ts";
import { ClusterError } from "../errors.ts";
import { MIGRATION_LOCK, MIGRATIONS, SCHEMA } from "./schema.ts";

/** The tables are not those of this Holdfast, so it leaves them alone. 0: there are none. */
export class ClusterTablesError extends ClusterError {
  constructor(version: number) {
    super(
      version === 0
        ? "The database has no tables of a cluster."
        : `The cluster has tables of version ${version}, and this Holdfast knows ${MIGRATIONS.length}.`,
      version > MIGRATIONS.length
        ? "Upgrade Holdfast on this machine: the cluster has nodes of a newer one."
        : "Make them, or bring them up to date, once for all nodes: agent cluster init URL",
    );
  }
}

const VERSION = "select coalesce(max(version), 0)::integer as version from migration";

/** Rejects with ClusterTablesError unless the tables are those of this Holdfast. Changes nothing. */
export const checkTables = async (pool: pg.Pool): Promise<void> => {
  const { rows: found } = await pool.query<{ name: string | null }>("select to_regclass($1) as name", [
    `${SCHEMA}.migration`,
  ]);
  const isThere = found[0]?.name != null;
  const { rows } = isThere ? await pool.query<{ version: number }>(VERSION) : { rows: [] };
  const version = rows[0]?.version ?? 0;
  if (version !== MIGRATIONS.length) throw new ClusterTablesError(version);
};

/** The version before, 0 for none, and the one after. */
export const migrate = async (
  pool: pg.Pool,
  migrations = MIGRATIONS,
): Promise<{ readonly from: number; readonly to: number }> => {
  const client = await pool.connect();
  const unhurried = (text: string, values?: readonly unknown[]) =>
    client.query({ text, values, query_timeout: CLUSTER_MIGRATE_MAX_MS } as pg.QueryConfig);
  try {
    await client.query("begin");
    await client.query(`set local statement_timeout = ${CLUSTER_MIGRATE_MAX_MS}`);
    await unhurried("select pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    await client.query(`create schema if not exists ${SCHEMA}`);
    await client.query(
      "create table if not exists migration (version integer primary key, at timestamptz not null)",
    );
    const { rows } = await client.query<{ version: number }>(VERSION);
    const version = rows[0]?.version ?? 0;
    if (version > migrations.length) throw new ClusterTablesError(version);
    for (const [at, statements] of migrations.entries()) {
      if (at < version) continue;
      await unhurried(statements);
      await client.query("insert into migration values ($1, clock_timestamp())", [at + 1]);
    }
    await client.query("commit");
    client.release();
    return { from: version, to: migrations.length };
  } catch (error) {
    // Its transaction ends with the connection.
    client.release(true);
    throw error;
  }
};
