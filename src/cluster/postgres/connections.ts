/** The connections of a node to its cluster's database, which look at its tables first. */
import pg from "pg";
import {
  CLUSTER_ANSWER_MS,
  CLUSTER_CONNECTIONS_MAX,
  CLUSTER_STATEMENT_MAX_MS,
  CLUSTER_TABLES_CHECK_MS,
} from "../../base/limits.ts";
import { connectionUrl } from "./address.ts";
import { checkTables, migrate } from "./migrate.ts";
import { SCHEMA } from "./schema.ts";

/** Seqs, terms and beats are far below the numbers that JavaScript cannot hold. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
};

export class Connections {
  private readonly pool: pg.Pool;
  /** A connection that waits for no other statement of its node: the lease depends on it. */
  private readonly urgent: pg.Pool;
  /** The look at the tables, before the first call, and again after a while. One that failed is made again by the next call. */
  private checked: Promise<void> | undefined;
  private checkAgainAt = 0;

  /** Throws where the URL is none. */
  constructor(url: string) {
    const settings = {
      connectionString: connectionUrl(url, process.env.PGHOST),
      connectionTimeoutMillis: CLUSTER_ANSWER_MS,
      statement_timeout: CLUSTER_STATEMENT_MAX_MS,
      query_timeout: CLUSTER_STATEMENT_MAX_MS,
      options: `-c search_path=${SCHEMA}`,
      application_name: "holdfast",
      types,
    };
    const pools = [CLUSTER_CONNECTIONS_MAX - 1, 1].map((max) => new pg.Pool({ ...settings, max }));
    // A connection that was lost while nobody used it: the next call takes another one.
    for (const pool of pools) pool.on("error", () => {});
    [this.pool, this.urgent] = pools as [pg.Pool, pg.Pool];
  }

  /** Makes the tables, or brings them up to date. */
  async migrate(): Promise<{ readonly from: number; readonly to: number }> {
    const versions = await migrate(this.pool);
    this.checked = Promise.resolve();
    return versions;
  }

  async close(): Promise<void> {
    await Promise.all([this.pool.end(), this.urgent.end()]);
  }

  async checkedPool(): Promise<pg.Pool> {
    await this.check();
    return this.pool;
  }

  async ask<Row extends object>(text: string, values: readonly unknown[]): Promise<pg.QueryResult<Row>> {
    return (await this.checkedPool()).query<Row>({ text, values: [...values] });
  }

  /** Each connection plans the statement for its first calls alone. A plan for the values at hand would work through all texts. */
  async askPrepared<Row extends object>(
    name: string,
    text: string,
    values: readonly unknown[],
  ): Promise<pg.QueryResult<Row>> {
    return (await this.checkedPool()).query<Row>({ name, text, values: [...values] });
  }

  async askUrgently<Row extends object>(
    text: string,
    values: readonly unknown[],
  ): Promise<pg.QueryResult<Row>> {
    await this.check();
    return this.urgent.query<Row>({ text, values: [...values] });
  }

  private check(): Promise<void> {
    const now = performance.now();
    if (this.checked !== undefined && now < this.checkAgainAt) return this.checked;
    this.checkAgainAt = now + CLUSTER_TABLES_CHECK_MS;
    this.checked = checkTables(this.urgent).catch((error: unknown) => {
      this.checked = undefined;
      throw error;
    });
    return this.checked;
  }
}
