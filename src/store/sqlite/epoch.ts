/**
 * The log's epoch is one history of the log. If the log turns out to be older than its witness has seen (a backup was put
 * back), a new epoch begins, because the next seqs will name other records. Earlier epochs are kept with the last seq that
 * they share with the current history: a cursor of one of them is valid up to that seq and refused after it.
 */
import type { Database } from "better-sqlite3";
import { EPOCHS_KEPT_MAX } from "../../base/limits.ts";
import { type Break, breakSentence } from "../../protocol/cursor.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { History } from "../history.ts";
import { headInMeta } from "./connection.ts";
import { hasRetention } from "./retention/removed.ts";
import { madeAt, readWitness, type Witness, writeWitness } from "./witness.ts";

interface StoredHistory extends History {
  readonly head: number;
  readonly made: string | null;
  readonly idAt: (seq: number) => string | undefined;
}

/** How the log differs from the one that its witness saw; undefined if it continues that one. */
export const judge = (witness: Witness | undefined, found: StoredHistory): Break | undefined => {
  if (witness === undefined) return undefined;
  const { head } = found;
  const missing = Math.max(0, witness.seq - head);
  if (witness.store_id !== found.store_id) return { why: "other", up_to: head, lost: witness.seq };
  if (witness.epoch !== found.epoch) {
    // The daemon began a new epoch and died before it wrote the witness.
    if (found.former.some(({ epoch }) => epoch === witness.epoch)) return undefined;
    return { why: "older", up_to: head, lost: missing || null };
  }
  if (missing > 0) return { why: "older", up_to: head, lost: missing };
  if (witness.seq > 0 && found.idAt(witness.seq) !== witness.id)
    return { why: "other", up_to: 0, lost: null };
  if (witness.made !== null && found.made !== null && witness.made !== found.made)
    return { why: "copied", up_to: head, lost: 0 };
  return undefined;
};

const metaOf = (db: Database, key: string): string | undefined =>
  db.prepare<[string], string>("SELECT value FROM meta WHERE key = ?").pluck().get(key);

const historyOf = (db: Database): History => ({
  store_id: metaOf(db, "store_id") ?? "",
  epoch: metaOf(db, "epoch") ?? "",
  former: JSON.parse(metaOf(db, "former_epochs") ?? "[]"),
});

const foundIn = (db: Database, file: string): StoredHistory => {
  const idAt = db.prepare<[number], string>("SELECT id FROM records WHERE seq = ?").pluck();
  return { ...historyOf(db), head: headInMeta(db), made: madeAt(file), idAt: (seq) => idAt.get(seq) };
};

/** One sentence for each break, including the one that the next daemon will find. Read the witness before the log. */
export const breaksOf = (db: Database, file: string, witness: Witness | undefined): readonly string[] => {
  if (!hasRetention(db)) return [];
  const found = foundIn(db, file);
  const pending = judge(witness, found);
  return [
    ...found.former.map((one) => `${new Date(one.ended_ms).toISOString()}: ${breakSentence(one)}`),
    ...(pending === undefined ? [] : [`${breakSentence(pending)} The next daemon begins a new epoch.`]),
  ];
};

export interface Continuity {
  /** Called with each opened connection. The first may begin a new epoch; a later one must be of the same log. */
  settle(db: Database): History;
  /** Called when a lifecycle record was committed durably. */
  durable(seq: number, id: string): void;
  /** Writes the witness if it is out of date. Called on the tick and at the end. */
  look(): void;
}

const begin = (db: Database, ended: History, broken: Break, epoch: string, ended_ms: number): void => {
  const former = [...ended.former, { ...broken, epoch: ended.epoch, ended_ms }].slice(-EPOCHS_KEPT_MAX);
  const set = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)");
  db.pragma("synchronous = FULL");
  db.transaction(() => {
    set.run("epoch", epoch);
    set.run("former_epochs", JSON.stringify(former));
  }).immediate();
};

/** Makes the continuity check of a log. For an inspected log it decides nothing and writes no file. */
export const makeContinuity = (
  file: string,
  isInspected: boolean,
  newId: () => string,
  now: () => number,
): Continuity => {
  let witness = isInspected ? undefined : readWitness(file);
  let isWritten = true;
  let isFirst = true;
  const look = (): void => {
    if (isWritten || witness === undefined) return;
    try {
      writeWitness(file, witness);
      isWritten = true;
    } catch {
      // A full disk: the old witness knows less, and the next call tries again.
    }
  };
  return {
    settle: (db) => {
      const found = foundIn(db, file);
      if (isInspected) return found;
      const broken = judge(isFirst || witness === undefined ? witness : { ...witness, made: null }, found);
      if (broken !== undefined) {
        if (!isFirst)
          throw new HoldfastError(
            "STORE_FAILED",
            `The daemon had another log open. ${breakSentence(broken)}`,
            {
              suggestion: "Restart the daemon to continue with the log that is there now.",
            },
          );
        begin(db, found, broken, newId(), now());
      }
      isFirst = false;
      const history = historyOf(db);
      const { store_id, epoch } = history;
      const [seq, id] = witness?.epoch === epoch ? [witness.seq, witness.id] : [0, null];
      isWritten = false;
      witness = { store_id, epoch, made: found.made, seq, id };
      look();
      return history;
    },
    durable: (seq, id) => {
      if (witness === undefined) return;
      witness = { ...witness, seq, id };
      isWritten = false;
    },
    look,
  };
};
