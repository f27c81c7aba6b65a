/**
 * The event log on SQLite: opens the database and joins the writer, the readers and the projections into the port.
 * One connection writes, every transaction is one synchronous function, and nothing is told to a caller or a watcher
 * before it is committed.
 */
import { rmSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { HELD_FREE_MIN_BYTES, RESERVE_BYTES, RESERVE_FREE_MIN_BYTES } from "../base/limits.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import { newId as newUlid } from "../protocol/ids.ts";
import { DAEMON_STREAM, isOutput, type RecordType, treeStream, workerStream } from "../protocol/records.ts";
import type { Draft } from "./append.ts";
import { attach } from "./attached.ts";
import { check } from "./check.ts";
import { makeJudge } from "./damage.ts";
import { makeContinuity } from "./epoch.ts";
import { guardedBy, isOfTheDisk, storeError } from "./failure.ts";
import { collectGarbage } from "./gc.ts";
import { groupCommit } from "./group-commit.ts";
import { makeHeld } from "./held.ts";
import { makeKeeper } from "./keeper.ts";
import { mend } from "./mend.ts";
import { makeOffload } from "./offload.ts";
import type { OpenOptions } from "./open-options.ts";
import type { EventLog } from "./port.ts";
import { rebuild } from "./rebuild.ts";
import { makeRecent } from "./recent.ts";
import { makeReserve } from "./reserve.ts";
import { putBack } from "./write-back.ts";

/** A failure of the store itself, and not with what one caller handed over. */
const OF_STORE: readonly ErrorCode[] = [
  "STORE_FAILED",
  "STORE_CORRUPT",
  "DISK_FULL",
  "LOCK_HELD",
  "PERMISSION_DENIED",
];

/** undefined where the system does not tell. */
const freeBytesOf = (file: string) => (): number | undefined => {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize;
  } catch {
    return undefined;
  }
};

const open = (options: OpenOptions): EventLog => {
  const now = options.now ?? Date.now;
  const newId = options.id ?? (() => newUlid(now()));
  const recent = makeRecent();
  const judged = makeJudge(options.file, now);
  const guarded = guardedBy(judged);
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

  const freeBytes = options.freeBytes ?? freeBytesOf(options.file);
  const isFree = (bytes: number): boolean => (freeBytes() ?? bytes) >= bytes;
  const { reserve_bytes = RESERVE_BYTES, inspect: isInspected = false } = options;
  const reserve = makeReserve(options.file, reserve_bytes);
  const held = makeHeld({
    reserve,
    store_id: history.store_id,
    writer: () => at().writer,
    hasRoom: () => isFree(HELD_FREE_MIN_BYTES),
    allow: () => keeper.allow(false),
    newId,
    now,
    forgetRows: () => at().kept.forgetAll(),
  });

  const publish = (): void => {
    head = at().writer.head();
    keeper.wrote(undefined);
    tell();
  };

  const mayHold = (callers: readonly Draft[]): boolean =>
    callers.every(({ options: how }) => how?.holds === true);

  const write = (callers: readonly Draft[]) => {
    try {
      // A held record comes first, in the order in which it was decided.
      if (held.count() > 0) {
        if (mayHold(callers)) return callers.map(held.hold);
        held.flush();
        publish();
      }
      keeper.allow(callers.every(({ drafts }) => drafts.every(({ type }) => isOutput(type))));
      const results = at().writer.write(callers);
      publish();
      return results;
    } catch (cause) {
      const error = judged(storeError(cause));
      if (OF_STORE.includes(error.code)) keeper.wrote(error);
      if (isOfTheDisk(error) && mayHold(callers)) return callers.map(held.hold);
      throw error;
    }
  };

  /** On the tick: is there room again? */
  const record = (): void => {
    try {
      held.flush();
      publish();
    } catch (cause) {
      keeper.wrote(judged(storeError(cause)));
    }
  };

  const look = (): void => {
    if (held.count() > 0) record();
    // A log that is only shown is not in the files that the keeper looks at.
    if (held.count() > 0 && keeper.isMisplaced()) {
      held.hide();
      keeper.look();
      held.show();
    } else if (held.count() === 0) {
      if (keeper.isAlone() && isFree(HELD_FREE_MIN_BYTES)) keeper.reopen();
      else keeper.look();
      if (!reserve.isMade() && !isInspected && isFree(RESERVE_FREE_MIN_BYTES)) reserve.make();
    }
    continuity.look();
  };

  if (!isInspected) held.takeUp();
  if (held.count() > 0) record();
  const group = groupCommit(write);
  const offload = makeOffload();
  /** Lent to who changes it at once, beside the writer. */
  const writable = () => {
    held.flush();
    keeper.allow(false);
    at().kept.forgetAll();
    return at().db;
  };

  const refuse = (cause: unknown): never => {
    throw judged(storeError(cause));
  };
  const oneByOne = () => {
    let last: Promise<unknown> = Promise.resolve();
    return <A>(work: () => Promise<A>): Promise<A> => {
      const done = last.then(work, work).catch(refuse);
      last = done;
      return done;
    };
  };
  /** Tasks that go over the whole log go over it one after the other. */
  const alone = oneByOne();
  /** A mere question does not wait for that; many who ask wait for each other, and for no more than one thread. */
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
    standing: guarded((id: string) => at().standing(id)),
    workers: guarded(() => at().workers.all()),
    living: guarded(() => at().workers.living()),
    workersUnder: guarded((supervisors: readonly string[]) => at().workers.under(supervisors)),
    spawnedBy: guarded((workerId: string) => at().workers.spawnedBy(workerId)),
    countWorkers: guarded(() => at().workers.count()),
    named: guarded((name: string) => at().workers.named(name)),
    newestNames: guarded((workers: number) => at().workers.newestNames(workers)),
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
      held.flush();
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
    look,
    trouble: keeper.trouble,
    held: held.count,
    close: () => {
      group.drain();
      listeners.clear();
      offload.close();
      if (held.count() > 0) record();
      // The next open takes up what is in the reserve.
      if (held.count() > 0) held.hide();
      keeper.close();
      continuity.look();
    },
  };
};

/**
 * Opens the log, making it where there is none. Throws STORE_CORRUPT for a damaged tail or another program's file,
 * STORE_FAILED for a newer schema or a directory that cannot be used.
 */
export const openLog = (options: OpenOptions): EventLog =>
  guardedBy(makeJudge(options.file, options.now ?? Date.now))(open)(options);
