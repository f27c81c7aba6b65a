/** Everything built on one connection. It is dropped and rebuilt if the log opens its file again. */
import type { Database, Statement } from "better-sqlite3";
import { BOOT_LOOK } from "../../base/limits.ts";
import type { Checkpoint } from "../event-log.ts";
import type { History } from "../history.ts";
import type { WorkerStanding } from "../views.ts";
import { Writer } from "./append.ts";
import { connect } from "./connection.ts";
import { Cursor } from "./cursor.ts";
import { mendEdited } from "./edited.ts";
import type { Continuity } from "./epoch.ts";
import { type HeartbeatRows, heartbeatRows } from "./heartbeats.ts";
import type { LogOptions } from "./open-options.ts";
import { type Presence, presenceOf } from "./presence.ts";
import { approvalRows } from "./projections/approvals.ts";
import { itemRows } from "./projections/blackboard.ts";
import { cardRows } from "./projections/board.ts";
import { federationRows } from "./projections/federation.ts";
import { holdRows } from "./projections/holds.ts";
import { type KeptRows, keepRows } from "./projections/kept-rows.ts";
import { mailRows } from "./projections/mail.ts";
import { messageRows } from "./projections/messages.ts";
import { projections } from "./projections/projection.ts";
import { scheduleRows } from "./projections/schedules.ts";
import { tokenRows } from "./projections/tokens.ts";
import { treeRows } from "./projections/trees.ts";
import { turnRows } from "./projections/turns.ts";
import { workerRows } from "./projections/workers.ts";
import { projectionsAreSound, rebuild } from "./rebuild.ts";
import type { RecentLines } from "./recent.ts";
import { standings } from "./standing.ts";
import { subtreeSums } from "./usage.ts";

export interface AttachedLog {
  readonly db: Database;
  /** True if it was opened on a full disk: no thread can read the log meanwhile. */
  readonly isAlone: boolean;
  readonly history: History;
  readonly presence: () => Presence;
  readonly writer: Writer;
  readonly cursor: Cursor;
  readonly kept: KeptRows;
  readonly workers: ReturnType<typeof workerRows>;
  readonly standing: (workerId: string) => WorkerStanding | undefined;
  readonly turns: ReturnType<typeof turnRows>;
  readonly subtree: ReturnType<typeof subtreeSums>;
  readonly messages: ReturnType<typeof messageRows>;
  readonly heartbeats: HeartbeatRows;
  readonly holds: ReturnType<typeof holdRows>;
  readonly mail: ReturnType<typeof mailRows>;
  readonly approvals: ReturnType<typeof approvalRows>;
  readonly trees: ReturnType<typeof treeRows>;
  readonly items: ReturnType<typeof itemRows>;
  readonly schedules: ReturnType<typeof scheduleRows>;
  readonly cards: ReturnType<typeof cardRows>;
  readonly tokens: ReturnType<typeof tokenRows>;
  readonly federation: ReturnType<typeof federationRows>;
  readonly checkpoints: Statement<[string, number], Checkpoint>;
}

export const attach = (
  options: LogOptions,
  now: () => number,
  newId: () => string,
  recent: RecentLines,
  continuity: Continuity,
): AttachedLog => {
  const { db, isAlone } = connect(options, newId);
  try {
    const history = continuity.settle(db);
    const presence = presenceOf(options.file);
    if (!projectionsAreSound(db)) rebuild(db);
    else if (!isAlone && options.inspect !== true) mendEdited(db, BOOT_LOOK, options.report ?? (() => {}));
    const rows = keepRows();
    const projection = projections(db, rows.forget);
    const writer = new Writer({ db, projection, recent, now, newId, onDurable: continuity.durable });
    const cursor = new Cursor(db, writer.head, recent, rows.absent);
    return {
      db,
      isAlone,
      history,
      presence,
      writer,
      cursor,
      kept: rows,
      workers: workerRows(db, (seq) => cursor.lineAt(seq), rows),
      standing: standings(db),
      turns: turnRows(db, rows),
      subtree: subtreeSums(db),
      messages: messageRows(db),
      heartbeats: heartbeatRows(db),
      holds: holdRows(db),
      mail: mailRows(db),
      approvals: approvalRows(db),
      trees: treeRows(db),
      items: itemRows(db),
      schedules: scheduleRows(db),
      cards: cardRows(db),
      tokens: tokenRows(db),
      federation: federationRows(db),
      checkpoints: db.prepare<[string, number], Checkpoint>(
        "SELECT * FROM checkpoints WHERE worker_id = ? AND incarnation = ? ORDER BY stream",
      ),
    };
  } catch (cause) {
    db.close();
    throw cause;
  }
};
