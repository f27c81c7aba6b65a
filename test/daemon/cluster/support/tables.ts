/** The tables of a cluster, as a test reads them. */
import pg from "pg";
import { SCHEMA } from "../../../../src/cluster/postgres/schema.ts";

export const rowsIn = async <Row extends object>(url: string, question: string): Promise<readonly Row[]> => {
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${SCHEMA}` });
  await client.connect();
  const { rows } = await client.query<Row>(question);
  await client.end();
  return rows;
};

/** A copy is dense if it has as many records as the seq up to which it is told. */
export interface Copy {
  readonly copied_to: number;
  readonly records: number;
}

export const copiesIn = (url: string): Promise<readonly Copy[]> =>
  rowsIn(
    url,
    `select l.copied_to::integer,
       (select count(*)::integer from record r where r.store_id = l.store_id and r.epoch = l.epoch) as records
     from log l`,
  );

/** The number of renewals of each node's lease. */
export const beatsIn = async (url: string): Promise<Readonly<Record<string, number>>> => {
  const rows = await rowsIn<{ id: string; beat: number }>(url, "select id, beat::integer from node");
  return Object.fromEntries(rows.map(({ id, beat }) => [id, beat]));
};
