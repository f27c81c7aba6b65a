/**
 * The event log on SQLite: opens the database and joins the writer, the readers and the projections into the port.
 * One connection writes, every transaction is one synchronous function, and nothing is told to a caller or a watcher
 * before it is committed.
 */
import { HoldfastError } from "../protocol/errors.ts";
import { newId as newUlid } from "../protocol/ids.ts";
import { DAEMON_STREAM, type RecordType, treeStream, workerStream } from "../protocol/records.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import { type Draft, makeWriter } from "./append.ts";
import { check } from "./check.ts";
import { connect } from "./connection.ts";
import { makeCursor } from "./cursor.ts";
import { guarded } from "./failure.ts";
import { groupCommit } from "./group-commit.ts";
import type { Checkpoint, EventLog, OpenOptions } from "./port.ts";
import { projections } from "./projections/projection.ts";
import { treeRows } from "./projections/trees.ts";
import { turnRows } from "./projections/turns.ts";
import { workerRows } from "./projections/workers.ts";
import { projectionsAreCurrent, rebuild } from "./rebuild.ts";
import { makeRecent } from "./recent.ts";

const open = (options: OpenOptions): EventLog => {
  const now = options.now ?? Date.now;
  const newId = options.id ?? (() => newUlid(now()));
  const { db, store_id, epoch } = connect(options.file, newId, options.inspect ?? false);
  if (!projectionsAreCurrent(db)) rebuild(db);

  const recent = makeRecent();
  const writer = makeWriter(db, projections(db), recent, now, newId);
  const { head } = writer;
  const cursor = makeCursor(db, head, recent);
  const specAt = (seq: number): WorkerSpec => {
    const record = cursor.recordAt(seq);
    if (record.type === "worker_spawn_requested" || record.type === "worker_spec_changed")
      return record.payload.spec;
    throw new HoldfastError(
      "STORE_CORRUPT",
      `Record ${seq} of the event log is not the request for a worker that a projection says it is.`,
    );
  };
  const workers = workerRows(db, specAt);
  const turns = turnRows(db);
  const checkpoints = db.prepare<[string, number], Checkpoint>(
    "SELECT * FROM checkpoints WHERE worker_id = ? AND incarnation = ? ORDER BY stream",
  );
  const listeners = new Set<(head: number) => void>();

  /** A listener that throws must not make a committed transaction look failed; one that listens anew is told next time. */
  const tell = (): void => {
    for (const listener of [...listeners]) {
      try {
        listener(head());
      } catch (cause) {
        process.emitWarning(`A listener of the event log failed: ${String(cause)}`);
      }
    }
  };

  const write = guarded((callers: readonly Draft[]) => {
    const results = writer.write(callers);
    tell();
    return results;
  });
  const group = groupCommit(write);

  return {
    store_id,
    epoch,
    head,
    append: (drafts, appendOptions) => {
      group.drain(); // records stay in the order in which they were handed over
      return write([{ drafts, options: appendOptions }])[0]!;
    },
    commit: (drafts, appendOptions) => group.commit({ drafts, options: appendOptions }),
    read: guarded(cursor.read),
    readLines: guarded(cursor.readLines),
    seqAt: guarded(cursor.seqAt),
    onCommit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    byId: guarded(cursor.byId),
    checkpoints: guarded((workerId: string, incarnation: number) => checkpoints.all(workerId, incarnation)),
    worker: guarded(workers.one),
    workers: guarded(workers.all),
    named: guarded(workers.named),
    turns: guarded(turns),
    stream: guarded((workerId: string, types?: readonly RecordType[]) =>
      cursor.stream(workerStream(workerId), types),
    ),
    daemonStream: guarded((types?: readonly RecordType[]) => cursor.stream(DAEMON_STREAM, types)),
    treeStream: guarded((tree: string, types?: readonly RecordType[]) =>
      cursor.stream(treeStream(tree), types),
    ),
    trees: guarded(treeRows(db)),
    rebuild: guarded(() => {
      group.drain();
      return { records: rebuild(db) };
    }),
    check: guarded(() => {
      group.drain();
      return check(db);
    }),
    close: () => {
      if (!db.open) return;
      group.drain();
      listeners.clear();
      db.close();
    },
  };
};

/**
 * Opens the log, making it where there is none. Throws STORE_CORRUPT for a damaged tail or another program's file,
 * STORE_FAILED for a newer schema or a directory that cannot be used.
 */
export const openLog = guarded(open);
