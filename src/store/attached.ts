/** All that is made over one connection: thrown away and made anew where the log opens its file again. */
import type { Database, Statement } from "better-sqlite3";
import { BOOT_LOOK } from "../base/limits.ts";
import { makeWriter, type Writer } from "./append.ts";
import { connect } from "./connection.ts";
import { makeCursor } from "./cursor.ts";
import { mendEdited } from "./edited.ts";
import type { Continuity } from "./epoch.ts";
import type { History } from "./history.ts";
import type { OpenOptions } from "./open-options.ts";
import type { Checkpoint, Standing } from "./port.ts";
import { type Presence, presenceOf } from "./presence.ts";
import { approvalRows } from "./projections/approvals.ts";
import { messageRows } from "./projections/messages.ts";
import { projections } from "./projections/projection.ts";
import { treeRows } from "./projections/trees.ts";
import { turnRows } from "./projections/turns.ts";
import { type KeptRows, keepRows, workerRows } from "./projections/workers.ts";
import { projectionsAreSound, rebuild } from "./rebuild.ts";
import type { Recent } from "./recent.ts";
import { standings } from "./standing.ts";
import { subtreeSums } from "./usage.ts";

export interface Attached {
  readonly db: Database;
  /** It was opened on a full disk: no thread can read the log beside it. */
  readonly isAlone: boolean;
  readonly history: History;
  readonly presence: () => Presence;
  readonly writer: Writer;
  readonly cursor: ReturnType<typeof makeCursor>;
  readonly kept: KeptRows;
  readonly workers: ReturnType<typeof workerRows>;
  readonly standing: (workerId: string) => Standing | undefined;
  readonly turns: ReturnType<typeof turnRows>;
  readonly subtree: ReturnType<typeof subtreeSums>;
  readonly messages: ReturnType<typeof messageRows>;
  readonly approvals: ReturnType<typeof approvalRows>;
  readonly trees: ReturnType<typeof treeRows>;
  readonly checkpoints: Statement<[string, number], Checkpoint>;
}

export const attach = (
  options: OpenOptions,
  now: () => number,
  newId: () => string,
  recent: Recent,
  continuity: Continuity,
): Attached => {
  const { db, isAlone } = connect(options, newId);
  try {
    const history = continuity.settle(db);
    const presence = presenceOf(options.file);
    if (!projectionsAreSound(db)) rebuild(db);
    else if (!isAlone && options.inspect !== true) mendEdited(db, BOOT_LOOK, options.report ?? (() => {}));
    const rows = keepRows();
    const writer = makeWriter(db, projections(db, rows.forget), recent, now, newId, continuity.durable);
    const cursor = makeCursor(db, writer.head, recent);
    return {
      db,
      isAlone,
      history,
      presence,
      writer,
      cursor,
      kept: rows,
      workers: workerRows(db, cursor.lineAt, rows),
      standing: standings(db),
      turns: turnRows(db, rows),
      subtree: subtreeSums(db),
      messages: messageRows(db),
      approvals: approvalRows(db),
      trees: treeRows(db),
      checkpoints: db.prepare<[string, number], Checkpoint>(
        "SELECT * FROM checkpoints WHERE worker_id = ? AND incarnation = ? ORDER BY stream",
      ),
    };
  } catch (cause) {
    db.close();
    throw cause;
  }
};
