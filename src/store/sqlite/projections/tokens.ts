/** The tokens that are there, one row each. */
import type { Database } from "better-sqlite3";
import type { LogRecord } from "../../../protocol/records.ts";
import { foldToken, isOfToken, type Token } from "../../../protocol/token.ts";
import { tokenNameOf } from "../../../protocol/token-records.ts";
import type { Projection } from "./projection.ts";

export const TOKENS_SCHEMA = `
  CREATE TABLE p_tokens (
    name TEXT NOT NULL PRIMARY KEY, token_id TEXT NOT NULL, token TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

export const tokens = (db: Database): Projection => {
  const put = db.prepare(
    "INSERT INTO p_tokens VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET token_id = excluded.token_id, token = excluded.token",
  );
  const remove = db.prepare("DELETE FROM p_tokens WHERE name = ?");
  const fold = (record: LogRecord): void => {
    if (!isOfToken(record)) return;
    const token = foldToken(record);
    if (token === undefined) remove.run(tokenNameOf(record.stream) ?? "");
    else put.run(token.name, token.token_id, JSON.stringify(token));
  };
  return { fold, flush: () => {}, reset: () => {} };
};

export const tokenRows = (db: Database): (() => readonly Token[]) => {
  const all = db.prepare<[], string>("SELECT token FROM p_tokens ORDER BY name").pluck();
  return () => all.all().map((text) => JSON.parse(text) as Token);
};
