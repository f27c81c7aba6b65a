/** Brings the tables of a cluster up to date: one node does it, and others that start at the same time wait. */
import type pg from "pg";
import { CLUSTER_MIGRATE_MAX_MS } from "../../base/limits.ts";
import { ClusterError } from "../errors.ts";
import { MIGRATION_LOCK, MIGRATIONS, OLDEST_READER, SCHEMA } from "./schema.ts";

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

/** `oldest` is missing in tables of an early Holdfast. */
const VERSION = `select version, (to_jsonb(m)->>'oldest')::integer as oldest from migration m order by version desc limit 1`;

interface Tables {
  readonly version: number;
  /** OLDEST_READER of the Holdfast that made them. */
  readonly oldest: number | null;
}

const NO_TABLES: Tables = { version: 0, oldest: null };

const isNewer = ({ version, oldest }: Tables, known: number): boolean =>
  version > known && (oldest ?? version) <= known;

/** Rejects with ClusterTablesError unless this Holdfast can use the tables. Changes nothing. */
export const checkTables = async (pool: pg.Pool): Promise<void> => {
  const { rows: found } = await pool.query<{ name: string | null }>("select to_regclass($1) as name", [
    `${SCHEMA}.migration`,
  ]);
  const isThere = found[0]?.name != null;
  const { rows } = isThere ? await pool.query<Tables>(VERSION) : { rows: [] };
  const tables = rows[0] ?? NO_TABLES;
  if (tables.version !== MIGRATIONS.length && !isNewer(tables, MIGRATIONS.length))
    throw new ClusterTablesError(tables.version);
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
    await client.query("alter table migration add column if not exists oldest integer");
    const { rows } = await client.query<Tables>(VERSION);
    const tables = rows[0] ?? NO_TABLES;
    const { version } = tables;
    if (version > migrations.length && !isNewer(tables, migrations.length))
      throw new ClusterTablesError(version);
    for (const [at, statements] of migrations.entries()) {
      if (at < version) continue;
      await unhurried(statements);
      await client.query("insert into migration values ($1, clock_timestamp(), $2)", [at + 1, OLDEST_READER]);
    }
    await client.query("commit");
    client.release();
    return { from: version, to: Math.max(version, migrations.length) };
  } catch (error) {
    // Its transaction ends with the connection.
    client.release(true);
    throw error;
  }
};
