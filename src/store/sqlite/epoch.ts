/**
 * The log's epoch: one history of it. A log that is found to be an older one than its witness has seen (a backup was put back)
 * begins a new epoch, because the seqs that follow name other records than they did before. The epochs before are kept with
 * the seq up to which they are the same history, so that a cursor of one of them is good as far as that, and refused after it.
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

/** How the log that is found differs from the one that its witness saw; undefined where it goes on from there. */
export const judge = (witness: Witness | undefined, found: StoredHistory): Break | undefined => {
  if (witness === undefined) return undefined;
  const { head } = found;
  const missing = Math.max(0, witness.seq - head);
  if (witness.store_id !== found.store_id) return { why: "other", up_to: head, lost: witness.seq };
  if (witness.epoch !== found.epoch) {
    // A new epoch was begun, and the daemon died before its witness was written.
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

/** One sentence for each break, the one that the next daemon will find too. The witness is read before the log. */
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
  /** Called with each connection that is opened: the first may begin a new epoch; a later one must be of the same log. */
  settle(db: Database): History;
  /** A lifecycle record was committed durably. */
  durable(seq: number, id: string): void;
  /** On the tick, and at the end: the witness is brought up to date where it is behind. */
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

/** Nothing is judged of a log that is only inspected, and nothing is written beside it. */
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
      // A full disk: the one that is there says less, and the next look tries again.
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
