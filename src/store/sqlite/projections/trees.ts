/** The trees and the files that own them. Their shape and state are folded from their streams. */
import type { Database } from "better-sqlite3";
import type { LogRecord } from "../../../protocol/records.ts";
import type { TreeRow } from "../../views.ts";
import type { Projection } from "./projection.ts";

export const TREES_SCHEMA = `
  CREATE TABLE p_trees (name TEXT PRIMARY KEY, file TEXT NOT NULL, applied_seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

export const trees = (db: Database): Projection => {
  const applied = db.prepare(
    "INSERT INTO p_trees VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET file = excluded.file",
  );
  const removed = db.prepare("DELETE FROM p_trees WHERE name = ?");
  return {
    fold: (record: LogRecord) => {
      if (record.type === "tree_applied") applied.run(record.payload.tree, record.payload.file, record.seq);
      if (record.type === "tree_removed") removed.run(record.payload.tree);
    },
    flush: () => {},
    reset: () => {},
  };
};

export const treeRows = (db: Database) => {
  const all = db.prepare<[], TreeRow>("SELECT name, file FROM p_trees ORDER BY applied_seq");
  return (): readonly TreeRow[] => all.all();
};
