/** Databases of a real Postgres for the tests of one file. A test's stores and connections are closed after it. */
import pg from "pg";
import { afterAll, afterEach, beforeAll } from "vitest";
import { SCHEMA } from "../../../src/cluster/postgres/schema.ts";
import { PostgresStore } from "../../../src/cluster/postgres/store.ts";
import { TestPostgres } from "../../support/postgres.ts";

/** Called at the top of a file. `name` begins the names of its databases. */
export const databasesOf = (name: string) => {
  let postgres: TestPostgres;
  let count = 0;
  const closing: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    postgres = await TestPostgres.start();
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  afterAll(async () => {
    await postgres?.remove();
  });
  return {
    fresh: (): Promise<string> => postgres.database(`${name}_${count++}`),
    opened: async (url: string): Promise<PostgresStore> => {
      const store = await PostgresStore.open(url);
      closing.push(() => store.close());
      return store;
    },
    connected: async (url: string): Promise<pg.Client> => {
      const client = new pg.Client({ connectionString: url, options: `-c search_path=${SCHEMA}` });
      await client.connect();
      closing.push(() => client.end());
      return client;
    },
  };
};
