/**
 * The blackboard: a row for each item that is not gone, as `foldItem` makes it, and the index of its words. Triggers keep
 * the index, so that a row corrected by a rebuild is found by its new words.
 */
import type { Database, Statement } from "better-sqlite3";
import { type BlackboardItem, foldItem } from "../../../protocol/blackboard.ts";
import type { LogRecord } from "../../../protocol/records.ts";
import type { ItemQuery } from "../../views.ts";
import type { Projection } from "./projection.ts";

export const BLACKBOARD_SCHEMA = `
  CREATE TABLE p_bb_items (
    ns TEXT NOT NULL, seq INTEGER PRIMARY KEY, item_id TEXT NOT NULL UNIQUE, title TEXT, body TEXT, data TEXT, tags TEXT NOT NULL,
    artifacts TEXT NOT NULL, "by" TEXT NOT NULL, posted_at TEXT NOT NULL, deadline TEXT NOT NULL, claims INTEGER NOT NULL, lease TEXT
  ) STRICT;
  CREATE INDEX p_bb_order ON p_bb_items (ns, seq);
  CREATE INDEX p_bb_free ON p_bb_items (ns, seq) WHERE lease IS NULL;
  CREATE VIRTUAL TABLE p_bb_words USING fts5(title, body, data, tags, content='p_bb_items', content_rowid='seq', tokenize='unicode61');
  CREATE TRIGGER p_bb_added AFTER INSERT ON p_bb_items BEGIN
    INSERT INTO p_bb_words (rowid, title, body, data, tags) VALUES (new.seq, new.title, new.body, new.data, new.tags);
  END;
  CREATE TRIGGER p_bb_removed AFTER DELETE ON p_bb_items BEGIN
    INSERT INTO p_bb_words (p_bb_words, rowid, title, body, data, tags)
    VALUES ('delete', old.seq, old.title, old.body, old.data, old.tags);
  END;
`;

type ItemColumns = Omit<BlackboardItem, "data" | "tags" | "artifacts" | "deadline" | "lease"> & {
  readonly data: string | null;
  readonly tags: string;
  readonly artifacts: string;
  readonly deadline: string;
  readonly lease: string | null;
};

const show = (row: ItemColumns): BlackboardItem => ({
  ...row,
  data: row.data === null ? null : JSON.parse(row.data),
  tags: JSON.parse(row.tags),
  artifacts: JSON.parse(row.artifacts),
  deadline: JSON.parse(row.deadline),
  lease: row.lease === null ? null : JSON.parse(row.lease),
});

const columnsOf = (item: BlackboardItem): ItemColumns => ({
  ...item,
  data: item.data === null ? null : JSON.stringify(item.data),
  tags: JSON.stringify(item.tags),
  artifacts: JSON.stringify(item.artifacts),
  deadline: JSON.stringify(item.deadline),
  lease: item.lease === null ? null : JSON.stringify(item.lease),
});

const rowById = (db: Database) =>
  db.prepare<[string], ItemColumns>("SELECT * FROM p_bb_items WHERE item_id = ?");

export const blackboard = (db: Database): Projection => {
  const one = rowById(db);
  const post = db.prepare(
    `INSERT INTO p_bb_items (ns, seq, item_id, title, body, data, tags, artifacts, "by", posted_at, deadline, claims, lease)
     VALUES (@ns, @seq, @item_id, @title, @body, @data, @tags, @artifacts, @by, @posted_at, @deadline, @claims, @lease)`,
  );
  const change = db.prepare(
    "UPDATE p_bb_items SET claims = @claims, lease = @lease WHERE item_id = @item_id",
  );
  const remove = db.prepare("DELETE FROM p_bb_items WHERE item_id = ?");

  const fold = (record: LogRecord): void => {
    if (!record.type.startsWith("bb_") || !("item_id" in record.payload)) return;
    const { item_id } = record.payload;
    const row = one.get(item_id);
    const before = row && show(row);
    const after = foldItem(before, record);
    if (after === before) return;
    if (after === undefined) remove.run(item_id);
    else if (before === undefined) post.run(columnsOf(after));
    else {
      const { claims, lease } = columnsOf(after);
      change.run({ item_id, claims, lease });
    }
  };
  return { fold, flush: () => {}, reset: () => {} };
};

/** True if the item has all tags of @tags, a JSON array. */
const TAGGED = `NOT EXISTS (
  SELECT 1 FROM json_each(@tags) wanted WHERE wanted.value NOT IN (SELECT value FROM json_each(p_bb_items.tags)))`;

/** The words of a text as a query of the index; a final star marks a prefix. Undefined if the text has no words. */
export const wordsOf = (text: string): string | undefined => {
  const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  if (words.length === 0) return undefined;
  return words
    .map((word) => {
      const isBeginning = word.endsWith("*");
      return `"${word.replaceAll('"', " ").replace(/\*+$/, "")}"${isBeginning ? "*" : ""}`;
    })
    .join(" ");
};

const STATES: Readonly<Record<NonNullable<ItemQuery["state"]>, string>> = {
  free: "lease IS NULL",
  claimed: "lease IS NOT NULL",
};

/** The conditions of a query. Each is present only if it is needed, so that SQLite can use the index of the order. */
const conditionOf = ({ text, tags, state }: ItemQuery): string =>
  [
    "ns = @ns",
    ...(tags.length > 0 ? [TAGGED] : []),
    ...(state === undefined ? [] : [STATES[state]]),
    text === undefined ? "seq > @after" : "p_bb_words MATCH @words AND p_bb_words.rowid > @after",
  ].join(" AND ");

/** A search reads the index of words, in its own order: its cost does not depend on the number of items, and nothing is sorted. */
const sourceOf = ({ text }: ItemQuery): { readonly from: string; readonly order: string } =>
  text === undefined
    ? { from: "p_bb_items", order: "seq" }
    : { from: "p_bb_words CROSS JOIN p_bb_items ON seq = p_bb_words.rowid", order: "p_bb_words.rowid" };

export const itemRows = (db: Database) => {
  const byId = rowById(db);
  const withPrefix = db
    .prepare<[string, string, number], string>(
      "SELECT item_id FROM p_bb_items WHERE item_id >= ? AND item_id < ? || '~' ORDER BY item_id DESC LIMIT ?",
    )
    .pluck();
  const count = db
    .prepare<[string, number], number>("SELECT count(*) FROM (SELECT 1 FROM p_bb_items WHERE ns = ? LIMIT ?)")
    .pluck();
  // One index search for each namespace.
  const namespaces = db
    .prepare<[number], string>(
      `WITH RECURSIVE known (ns) AS (
         SELECT min(ns) FROM p_bb_items
         UNION ALL SELECT (SELECT min(ns) FROM p_bb_items WHERE ns > known.ns) FROM known WHERE known.ns IS NOT NULL
       ) SELECT ns FROM known WHERE ns IS NOT NULL LIMIT ?`,
    )
    .pluck();
  const afterSeq = db.prepare<[number, number], ItemColumns>(
    "SELECT * FROM p_bb_items WHERE seq > ? ORDER BY seq LIMIT ?",
  );
  /** Statements by their condition. There are few. */
  const queries = new Map<string, Statement<object[], ItemColumns>>();
  const statementFor = (query: ItemQuery): Statement<object[], ItemColumns> => {
    const where = conditionOf(query);
    const known = queries.get(where);
    if (known !== undefined) return known;
    const { from, order } = sourceOf(query);
    const made = db.prepare<object[], ItemColumns>(
      `SELECT p_bb_items.* FROM ${from} WHERE ${where} ORDER BY ${order} LIMIT @limit`,
    );
    queries.set(where, made);
    return made;
  };
  return {
    one: (id: string): BlackboardItem | undefined => {
      const row = byId.get(id);
      return row && show(row);
    },
    withPrefix: (prefix: string, limit: number): readonly string[] => withPrefix.all(prefix, prefix, limit),
    count: (ns: string, limit: number): number => count.get(ns, limit) as number,
    namespaces: (limit: number): readonly string[] => namespaces.all(limit),
    page: (after: number, limit: number): readonly BlackboardItem[] => afterSeq.all(after, limit).map(show),
    find: (query: ItemQuery): readonly BlackboardItem[] => {
      const words = query.text === undefined ? undefined : wordsOf(query.text);
      if (query.text !== undefined && words === undefined) return [];
      const { ns, after, limit } = query;
      return statementFor(query)
        .all({
          ns,
          after,
          limit,
          ...(query.tags.length > 0 && { tags: JSON.stringify(query.tags) }),
          ...(words !== undefined && { words }),
        })
        .map(show);
    },
  };
};
