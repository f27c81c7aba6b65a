/** The newest heartbeat of each worker, beside the log: heartbeats are not records, and a rebuild does not restore them. */
import type { Database } from "better-sqlite3";
import type { Heartbeat } from "../views.ts";

/** False for an inspected log of an early version, which has no such table. */
const hasHeartbeats = (db: Database): boolean => (db.pragma("user_version", { simple: true }) as number) >= 3;

export interface HeartbeatRows {
  of(workerId: string): Heartbeat | undefined;
  /** Writes all heartbeats in one transaction, over the earlier ones. */
  write(beats: readonly Heartbeat[]): void;
}

export const heartbeatRows = (db: Database): HeartbeatRows => {
  if (!hasHeartbeats(db)) return { of: () => undefined, write: () => undefined };
  const one = db.prepare<[string], Heartbeat>("SELECT * FROM heartbeats WHERE worker_id = ?");
  const put = db.prepare<[string, number, number]>("INSERT OR REPLACE INTO heartbeats VALUES (?, ?, ?)");
  return {
    of: (workerId: string): Heartbeat | undefined => one.get(workerId),
    write: db.transaction((beats: readonly Heartbeat[]) => {
      for (const { worker_id, incarnation, at_ms } of beats) put.run(worker_id, incarnation, at_ms);
    }),
  };
};

/** All heartbeats, ordered by worker, for a reader of the whole file. */
export const allHeartbeats = (db: Database): readonly Heartbeat[] =>
  hasHeartbeats(db) ? db.prepare<[], Heartbeat>("SELECT * FROM heartbeats ORDER BY worker_id").all() : [];
