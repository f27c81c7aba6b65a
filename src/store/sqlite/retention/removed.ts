/** The seqs that retention has removed, as runs that never touch. Any other missing seq is damage. */
import type { Database } from "better-sqlite3";

export interface RemovedRanges {
  /** The first seq from `from` to `to` that retention has not removed; undefined if it has removed all. */
  firstNotRemoved(from: number, to: number): number | undefined;
  add(from: number, to: number): void;
}

/** False for the log of an earlier version that is read without changing it. */
export const hasRetention = (db: Database): boolean =>
  (db.pragma("user_version", { simple: true }) as number) >= 2;

export const makeRemoved = (db: Database): RemovedRanges => {
  const before = db.prepare<[number], { from_seq: number; to_seq: number }>(
    "SELECT from_seq, to_seq FROM removed WHERE from_seq <= ? ORDER BY from_seq DESC LIMIT 1",
  );
  const drop = db.prepare("DELETE FROM removed WHERE from_seq = ?");
  const put = db.prepare("INSERT OR REPLACE INTO removed VALUES (?, ?)");
  return {
    firstNotRemoved: (from, to) => {
      const run = before.get(from);
      if (run === undefined || run.to_seq < from) return from;
      return run.to_seq >= to ? undefined : run.to_seq + 1; // runs do not touch
    },
    add: (from, to) => {
      const left = before.get(from);
      const right = before.get(to + 1);
      const joinsLeft = left !== undefined && left.to_seq >= from - 1;
      const joinsRight = right !== undefined && right.from_seq === to + 1;
      if (joinsRight) drop.run(right.from_seq);
      put.run(joinsLeft ? left.from_seq : from, joinsRight ? right.to_seq : to);
    },
  };
};
