/** Boards: a row for each card, as `foldCard` has it, with what it is chosen by; and the dispatcher of each board that has one. */
import type { Database, Statement } from "better-sqlite3";
import { type Card, foldCard } from "../../../protocol/board.ts";
import { boardOf } from "../../../protocol/board-records.ts";
import type { LogRecord } from "../../../protocol/records.ts";
import { SPEC_FIELDS } from "../../../protocol/spec-fields.ts";
import type { CardLane } from "../../../protocol/words.ts";
import type { BoardSetting, CardQuery } from "../../views.ts";
import type { Projection } from "./projection.ts";

export const BOARD_SCHEMA = `
  CREATE TABLE p_cards (
    board TEXT NOT NULL, seq INTEGER PRIMARY KEY, issue_id TEXT NOT NULL, lane TEXT NOT NULL, is_free INTEGER NOT NULL,
    rank INTEGER NOT NULL, due_ms INTEGER, card TEXT NOT NULL, UNIQUE (board, issue_id)
  ) STRICT;
  CREATE INDEX p_cards_lane ON p_cards (board, lane, seq);
  CREATE INDEX p_cards_free ON p_cards (board, rank, seq) WHERE is_free = 1;
  CREATE INDEX p_cards_due ON p_cards (board, due_ms) WHERE due_ms IS NOT NULL;
  CREATE TABLE p_boards (board TEXT PRIMARY KEY, seq INTEGER NOT NULL, setting TEXT NOT NULL) STRICT;
`;

interface CardColumns {
  readonly board: string;
  readonly seq: number;
  readonly issue_id: string;
  readonly lane: CardLane;
  readonly is_free: number;
  readonly rank: number;
  readonly due_ms: number | null;
  readonly card: string;
}

/** The time of the wall clock is for the order alone; the monotonic clock decides. */
const columnsOf = (card: Card): CardColumns => ({
  board: card.board,
  seq: card.seq,
  issue_id: card.issue_id,
  lane: card.lane,
  is_free: card.lane === "Todo" && card.eligibility === "eligible" ? 1 : 0,
  rank: SPEC_FIELDS.priority.values.indexOf(card.priority),
  due_ms: card.retry === null ? null : Date.parse(card.retry.at) + card.retry.after_ms,
  card: JSON.stringify(card),
});

const show = (card: string): Card => JSON.parse(card);

const cardOf = (db: Database): Statement<[string, string], string> =>
  db.prepare<[string, string], string>("SELECT card FROM p_cards WHERE board = ? AND issue_id = ?").pluck();

export const boards = (db: Database): Projection => {
  const one = cardOf(db);
  const put = db.prepare(
    `INSERT INTO p_cards (board, seq, issue_id, lane, is_free, rank, due_ms, card)
     VALUES (@board, @seq, @issue_id, @lane, @is_free, @rank, @due_ms, @card)
     ON CONFLICT (seq) DO UPDATE SET lane = @lane, is_free = @is_free, rank = @rank, due_ms = @due_ms, card = @card`,
  );
  const configure = db.prepare<[string, number, string]>(
    "INSERT OR REPLACE INTO p_boards (board, seq, setting) VALUES (?, ?, ?)",
  );

  const configured = (
    board: string,
    { seq, recorded_at: configured_at, payload }: Extract<LogRecord, { readonly type: "board_configured" }>,
  ): void => {
    const { clock: _, ...said } = payload;
    const setting: BoardSetting = { board, ...said, configured_at };
    configure.run(board, seq, JSON.stringify(setting));
  };
  const fold = (record: LogRecord): void => {
    const board = boardOf(record.stream);
    if (board === undefined) return;
    if (record.type === "board_configured") configured(board, record);
    if (!("issue_id" in record.payload)) return;
    const row = one.get(board, record.payload.issue_id);
    const before = row === undefined ? undefined : show(row);
    const after = foldCard(before, record);
    if (after !== undefined && after !== before) put.run(columnsOf(after));
  };
  return { fold, flush: () => {}, reset: () => {} };
};

export const cardRows = (db: Database) => {
  const one = cardOf(db);
  const all = db.prepare<[string, number, number], string>(
    "SELECT card FROM p_cards WHERE board = ? AND seq > ? ORDER BY seq LIMIT ?",
  );
  const inLanes = db.prepare<[string, number, string, number], string>(
    `SELECT card FROM p_cards WHERE board = ? AND seq > ? AND lane IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT ?`,
  );
  const free = db.prepare<[string, number], string>(
    "SELECT card FROM p_cards WHERE board = ? AND is_free = 1 ORDER BY rank, seq LIMIT ?",
  );
  const waiting = db.prepare<[string, number], string>(
    "SELECT card FROM p_cards WHERE board = ? AND due_ms IS NOT NULL ORDER BY due_ms LIMIT ?",
  );
  const lanes = db.prepare<[string], { readonly lane: CardLane; readonly cards: number }>(
    "SELECT lane, count(*) AS cards FROM p_cards WHERE board = ? GROUP BY lane",
  );
  // One search of the index for each board.
  const names = db
    .prepare<[number], string>(
      `WITH RECURSIVE known (board) AS (
         SELECT min(board) FROM p_cards
         UNION ALL SELECT (SELECT min(board) FROM p_cards WHERE board > known.board) FROM known WHERE known.board IS NOT NULL
       ) SELECT board FROM known WHERE board IS NOT NULL LIMIT ?`,
    )
    .pluck();
  const settings = db.prepare<[], string>("SELECT setting FROM p_boards ORDER BY board").pluck();
  for (const query of [all, inLanes, free, waiting]) query.pluck();
  return {
    one: (board: string, issueId: string): Card | undefined => {
      const row = one.get(board, issueId);
      return row === undefined ? undefined : show(row);
    },
    find: ({ board, lanes: wanted, after, limit }: CardQuery): readonly Card[] =>
      (wanted.length === 0
        ? all.all(board, after, limit)
        : inLanes.all(board, after, JSON.stringify(wanted), limit)
      ).map(show),
    free: (board: string, limit: number): readonly Card[] => free.all(board, limit).map(show),
    waiting: (board: string, limit: number): readonly Card[] => waiting.all(board, limit).map(show),
    lanes: (board: string): Readonly<Partial<Record<CardLane, number>>> =>
      Object.fromEntries(lanes.all(board).map((row) => [row.lane, row.cards])),
    boards: (limit: number): readonly string[] => names.all(limit),
    settings: (): readonly BoardSetting[] => settings.all().map((row): BoardSetting => JSON.parse(row)),
  };
};
