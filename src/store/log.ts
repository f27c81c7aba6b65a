/**
 * The event log on SQLite: opens the database and joins the writer, the readers and the projections into the port.
 * One connection writes, every transaction is one synchronous function, and nothing is told to a caller or a watcher
 * before it is committed.
 */
import { rmSync } from "node:fs";
import type { ErrorCode } from "../protocol/errors.ts";
import { newId as newUlid } from "../protocol/ids.ts";
import { DAEMON_STREAM, isOutput, type RecordType, treeStream, workerStream } from "../protocol/records.ts";
import type { Draft } from "./append.ts";
import { attach } from "./attached.ts";
import { check } from "./check.ts";
import { makeContinuity } from "./epoch.ts";
import { guarded, storeError } from "./failure.ts";
import { groupCommit } from "./group-commit.ts";
import { makeKeeper } from "./keeper.ts";
import { mend } from "./mend.ts";
import { makeOffload } from "./offload.ts";
import type { EventLog, OpenOptions } from "./port.ts";
import { rebuild } from "./rebuild.ts";
import { makeRecent } from "./recent.ts";
import { collectGarbage } from "./retention/gc.ts";
import { putBack } from "./write-back.ts";

/** What is wrong with the store itself, and not with what one caller handed over. */
const OF_STORE: readonly ErrorCode[] = [
  "STORE_FAILED",
  "STORE_CORRUPT",
  "DISK_FULL",
  "LOCK_HELD",
  "PERMISSION_DENIED",
];

const open = (options: OpenOptions): EventLog => {
  const now = options.now ?? Date.now;
  const newId = options.id ?? (() => newUlid(now()));
  const recent = makeRecent();
  putBack(options.file);
  const continuity = makeContinuity(options.file, options.inspect === true, newId, now);
  const keeper = makeKeeper(options, () => attach(options, now, newId, recent, continuity));
  const { at } = keeper;
  const { history } = at();
  let head = at().writer.head();
  const listeners = new Set<(head: number) => void>();

  /** A listener that throws must not make a committed transaction look failed; one that listens anew is told next time. */
  const tell = (): void => {
    for (const listener of [...listeners]) {
      try {
        listener(head);
      } catch (cause) {
        options.onDefect?.(cause);
      }
    }
  };

  const write = (callers: readonly Draft[]) => {
    try {
      keeper.allow(callers.every(({ drafts }) => drafts.every(({ type }) => isOutput(type))));
      const { writer } = at();
      const results = writer.write(callers);
      head = writer.head();
      keeper.wrote(undefined);
      tell();
      return results;
    } catch (cause) {
      const error = storeError(cause);
      if (OF_STORE.includes(error.code)) keeper.wrote(error);
      throw error;
    }
  };
  const group = groupCommit(write);
  const offload = makeOffload();
  /** Lent to who changes it at once, beside the writer. */
  const writable = () => {
    keeper.allow(false);
    at().kept.forgetAll();
    return at().db;
  };

  const refuse = (cause: unknown): never => {
    throw storeError(cause);
  };
  const oneByOne = () => {
    let last: Promise<unknown> = Promise.resolve();
    return <A>(work: () => Promise<A>): Promise<A> => {
      const done = last.then(work, work).catch(refuse);
      last = done;
      return done;
    };
  };
  /** What goes over the whole log goes over it one after the other. */
  const alone = oneByOne();
  /** What is only asked does not wait for that; many who ask wait for each other, and for no more than one thread. */
  const asking = oneByOne();

  return {
    store_id: history.store_id,
    epoch: history.epoch,
    former: history.former,
    head: () => head,
    append: (drafts, appendOptions) => {
      group.drain(); // records stay in the order in which they were handed over
      return write([{ drafts, options: appendOptions }])[0]!;
    },
    commit: (drafts, appendOptions) => group.commit({ drafts, options: appendOptions }),
    read: guarded((...asked: Parameters<EventLog["read"]>) => at().cursor.read(...asked)),
    readLines: guarded((...asked: Parameters<EventLog["readLines"]>) => at().cursor.readLines(...asked)),
    seqAt: guarded((epochMs: number) => at().cursor.seqAt(epochMs)),
    onCommit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    byId: guarded((id: string) => at().cursor.byId(id)),
    checkpoints: guarded((workerId: string, incarnation: number) =>
      at().checkpoints.all(workerId, incarnation),
    ),
    worker: guarded((id: string) => at().workers.one(id)),
    workers: guarded(() => at().workers.all()),
    living: guarded(() => at().workers.living()),
    workersUnder: guarded((supervisors: readonly string[]) => at().workers.under(supervisors)),
    spawnedBy: guarded((workerId: string) => at().workers.spawnedBy(workerId)),
    countWorkers: guarded(() => at().workers.count()),
    named: guarded((name: string) => at().workers.named(name)),
    withPrefix: guarded((prefix: string, limit: number) => at().workers.withPrefix(prefix, limit)),
    turns: guarded((...asked: Parameters<EventLog["turns"]>) => at().turns(...asked)),
    subtree: guarded((workerId: string, max: number) => at().subtree(workerId, max)),
    usageAside: (query) => asking(() => offload.run("usage", { file: options.file, query })),
    message: guarded((workerId: string, messageId: string) => at().messages.one(workerId, messageId)),
    messages: guarded((...asked: Parameters<EventLog["messages"]>) => at().messages.before(...asked)),
    messagesEnd: guarded((workerId: string, incarnation: number) =>
      at().messages.writtenTo(workerId, incarnation),
    ),
    openMessages: guarded((workerId?: string) => at().messages.open(workerId)),
    openApprovals: guarded((workerId: string) => at().approvals.open(workerId)),
    approval: guarded((id: string) => at().approvals.one(id)),
    approvalsWithPrefix: guarded((prefix: string, limit: number) => at().approvals.withPrefix(prefix, limit)),
    approvals: guarded((...asked: Parameters<EventLog["approvals"]>) => at().approvals.after(...asked)),
    daemonStream: guarded((types: readonly RecordType[]) => at().cursor.stream(DAEMON_STREAM, types)),
    stream: guarded((workerId: string, types?: readonly RecordType[]) =>
      at().cursor.stream(workerStream(workerId), types),
    ),
    treeStream: guarded((tree: string, types?: readonly RecordType[]) =>
      at().cursor.stream(treeStream(tree), types),
    ),
    trees: guarded(() => at().trees()),
    rebuild: guarded(() => {
      group.drain();
      at().kept.forgetAll();
      return { records: rebuild(at().db) };
    }),
    check: guarded(() => {
      group.drain();
      return check(at().db);
    }),
    checkAside: () => alone(() => offload.run("check", { file: options.file })),
    rebuildAside: () =>
      alone(async () => {
        const into = `${options.file}.folded`;
        try {
          const folded = await offload.run("fold", { file: options.file, into });
          await mend(writable, into, folded);
          return { records: folded.records };
        } finally {
          rmSync(into, { force: true });
        }
      }),
    gc: (how) => alone(() => collectGarbage({ file: options.file, newId, db: writable }, offload, how)),
    look: () => {
      keeper.look();
      continuity.look();
    },
    trouble: keeper.trouble,
    close: () => {
      group.drain();
      listeners.clear();
      offload.close();
      keeper.close();
      continuity.look();
    },
  };
};

/**
 * Opens the log, making it where there is none. Throws STORE_CORRUPT for a damaged tail or another program's file,
 * STORE_FAILED for a newer schema or a directory that cannot be used.
 */
export const openLog = guarded(open);
