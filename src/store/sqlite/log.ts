/**
 * The store on SQLite: opens the database and joins the writer, the readers and the projections into the three ports. One
 * connection writes, every transaction is one synchronous function, and no caller or watcher learns of a record before it
 * is committed.
 */
import { rmSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import { HELD_FREE_MIN_BYTES, RESERVE_FREE_MIN_BYTES } from "../../base/limits.ts";
import type { ErrorCode, HoldfastError } from "../../protocol/errors.ts";
import { newId as newUlid } from "../../protocol/ids.ts";
import { DAEMON_STREAM, isOutput, type LogRecord, treeStream, workerStream } from "../../protocol/records.ts";
import type { Commit, EventLog } from "../event-log.ts";
import type { History } from "../history.ts";
import type { SearchQuery } from "../search.ts";
import type { Store, Upkeep } from "../upkeep.ts";
import type { Views } from "../views.ts";
import type { AppendBatch } from "./append.ts";
import { type AttachedLog, attach } from "./attached.ts";
import { check } from "./check.ts";
import { makeJudge } from "./damage.ts";
import { type Continuity, makeContinuity } from "./epoch.ts";
import { guardedBy, isOfTheDisk, storeError } from "./failure.ts";
import { collectGarbage } from "./gc.ts";
import { GroupCommit } from "./group-commit.ts";
import { HeldDrafts } from "./held.ts";
import { Keeper } from "./keeper.ts";
import { mend } from "./mend.ts";
import { makeOffload, type Offload } from "./offload.ts";
import type { LogOptions } from "./open-options.ts";
import { rebuild } from "./rebuild.ts";
import { makeRecent } from "./recent.ts";
import { makeReserve, type Reserve } from "./reserve.ts";
import { Searches } from "./search/search.ts";
import { putBack } from "./write-back.ts";

/** Failures of the store itself, not of one caller's records. */
const OF_STORE: readonly ErrorCode[] = [
  "STORE_FAILED",
  "STORE_CORRUPT",
  "DISK_FULL",
  "LOCK_HELD",
  "PERMISSION_DENIED",
];

/** Free bytes of the file's disk; undefined if the system does not tell. */
const freeBytesOf = (file: string) => (): number | undefined => {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize;
  } catch {
    return undefined;
  }
};

/** Runs pieces of work one after another. Each fails with the store's errors. */
const oneByOne = (judged: (error: HoldfastError) => HoldfastError) => {
  let last: Promise<unknown> = Promise.resolve();
  return <A>(work: () => Promise<A>): Promise<A> => {
    const done = last.then(work, work).catch((cause): never => {
      throw judged(storeError(cause));
    });
    last = done;
    return done;
  };
};

/** An open log: its connection, its writer, the records that wait for room, and the listeners for commits. */
class OpenLog {
  readonly options: LogOptions;
  readonly newId: () => string;
  readonly history: History;
  readonly keeper: Keeper;
  readonly held: HeldDrafts;
  readonly group: GroupCommit;
  readonly listeners = new Set<(commit: Commit) => void>();
  readonly judged: (error: HoldfastError) => HoldfastError;
  private newest: number;
  private readonly recent = makeRecent();
  private readonly reserve: Reserve;
  private readonly continuity: Continuity;

  constructor(options: LogOptions) {
    const { file, inspect = false, now = Date.now } = options;
    this.options = options;
    this.newId = options.id ?? (() => newUlid(now()));
    this.judged = makeJudge(file, now);
    putBack(file);
    this.continuity = makeContinuity(file, inspect, this.newId, now);
    this.keeper = new Keeper(options, () => attach(options, now, this.newId, this.recent, this.continuity));
    const { at } = this.keeper;
    this.history = at().history;
    this.newest = at().writer.head();
    this.reserve = makeReserve(file, options.reserve_bytes);
    this.held = new HeldDrafts({
      reserve: this.reserve,
      store_id: this.history.store_id,
      writer: () => at().writer,
      hasRoom: () => this.isFree(HELD_FREE_MIN_BYTES),
      allow: () => this.keeper.allow(false),
      newId: this.newId,
      now,
      forgetRows: () => at().kept.forgetAll(),
    });
    if (!inspect) this.held.takeUp();
    if (this.held.count() > 0) this.record();
    this.group = new GroupCommit((callers) => this.write(callers));
  }

  readonly head = (): number => this.newest;

  /** Makes a read that fails with the store's errors. */
  readonly ask = <A extends unknown[], R>(read: (at: AttachedLog, ...args: A) => R): ((...args: A) => R) =>
    guardedBy(this.judged)((...args: A) => read(this.keeper.at(), ...args));

  write(callers: readonly AppendBatch[]): readonly (readonly LogRecord[])[] {
    const { held, keeper } = this;
    try {
      // Held records come first, in their order.
      if (held.count() > 0) {
        if (mayHold(callers)) return callers.map(held.hold);
        held.flush();
        this.publish();
      }
      keeper.allow(callers.every(({ drafts }) => drafts.every(({ type }) => isOutput(type))));
      const results = keeper.at().writer.write(callers);
      this.publish();
      return results;
    } catch (cause) {
      const error = this.judged(storeError(cause));
      if (OF_STORE.includes(error.code)) keeper.wrote(error);
      if (isOfTheDisk(error) && mayHold(callers)) return callers.map(held.hold);
      throw error;
    }
  }

  readonly append: EventLog["append"] = (drafts, options) => {
    this.group.drain(); // keep the order in which records were handed over
    return this.write([{ drafts, options }])[0]!;
  };

  look(): void {
    const { held, keeper, reserve, options } = this;
    if (held.count() > 0) this.record();
    // Held records are not in the files that the keeper checks.
    if (held.count() > 0 && keeper.isMisplaced()) {
      held.hide();
      keeper.look();
      held.show();
    } else if (held.count() === 0) {
      if (keeper.isAlone() && this.isFree(HELD_FREE_MIN_BYTES)) keeper.reopen();
      else keeper.look();
      if (!reserve.isMade() && options.inspect !== true && this.isFree(RESERVE_FREE_MIN_BYTES))
        reserve.make();
    }
    this.continuity.look();
  }

  /** The record of a seq with its checksum verified; undefined if retention has removed it. */
  readonly recordAt = (seq: number): LogRecord | undefined => {
    const [record] = this.keeper.at().cursor.read(seq - 1, 1).records;
    return record?.seq === seq ? record : undefined;
  };

  /** Lends the connection to code that changes the log synchronously, beside the writer. */
  readonly writable = (): Database => {
    this.held.flush();
    this.keeper.allow(false);
    const { kept, db } = this.keeper.at();
    kept.forgetAll();
    return db;
  };

  close(): void {
    const { held, keeper } = this;
    this.group.drain();
    this.listeners.clear();
    if (held.count() > 0) this.record();
    // The next open takes over the records in the reserve.
    if (held.count() > 0) held.hide();
    keeper.close();
    this.continuity.look();
  }

  /** Tries to record the held records. */
  private record(): void {
    try {
      this.held.flush();
      this.publish();
    } catch (cause) {
      this.keeper.wrote(this.judged(storeError(cause)));
    }
  }

  private publish(): void {
    const before = this.newest;
    this.newest = this.keeper.at().writer.head();
    this.keeper.wrote(undefined);
    if (this.listeners.size === 0) return;
    const commit = { head: this.newest, streams: this.recent.streams(before, this.newest) };
    // A listener that throws must not make a committed transaction look failed. Copy the set: a listener added now is
    // called next time.
    for (const listener of [...this.listeners]) {
      try {
        listener(commit);
      } catch (cause) {
        this.options.onDefect?.(cause);
      }
    }
  }

  private isFree(bytes: number): boolean {
    const { freeBytes = freeBytesOf(this.options.file) } = this.options;
    return (freeBytes() ?? bytes) >= bytes;
  }
}

const mayHold = (callers: readonly AppendBatch[]): boolean =>
  callers.every(({ options: how }) => how?.holds === true);

const eventsOf = (log: OpenLog): EventLog => {
  const { ask, group, held, keeper, listeners } = log;
  const { store_id, epoch, former } = log.history;
  return {
    store_id,
    epoch,
    former,
    head: log.head,
    append: log.append,
    commit: (drafts, options) => group.commit({ drafts, options }),
    read: ask(({ cursor }, ...asked) => cursor.read(...asked)),
    readLines: ask(({ cursor }, ...asked) => cursor.readLines(...asked)),
    seqAt: ask(({ cursor }, epochMs) => cursor.seqAt(epochMs)),
    onCommit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    byId: ask(({ cursor }, id) => cursor.byId(id)),
    checkpoints: ask(({ checkpoints }, ...run) => checkpoints.all(...run)),
    stream: ask(({ cursor }, id, types) => cursor.stream(workerStream(id), types)),
    daemonStream: ask(({ cursor }, types) => cursor.stream(DAEMON_STREAM, types)),
    treeStream: ask(({ cursor }, tree, types) => cursor.stream(treeStream(tree), types)),
    trouble: keeper.trouble,
    held: held.count,
  };
};

const viewsOf = (
  { ask, options: { file }, judged }: OpenLog,
  offload: Offload,
  search: Views["search"],
): Views => {
  /** Queries of usage wait for each other, so that there is at most one thread. */
  const aside = oneByOne(judged);
  return {
    worker: ask(({ workers }, id) => workers.one(id)),
    standing: ask(({ standing }, id) => standing(id)),
    workers: ask(({ workers }) => workers.all()),
    living: ask(({ workers }) => workers.living()),
    workersUnder: ask(({ workers }, supervisors) => workers.under(supervisors)),
    spawnedBy: ask(({ workers }, id) => workers.spawnedBy(id)),
    countWorkers: ask(({ workers }) => workers.count()),
    named: ask(({ workers }, name) => workers.named(name)),
    newestNames: ask(({ workers }, count) => workers.newestNames(count)),
    withPrefix: ask(({ workers }, ...asked) => workers.withPrefix(...asked)),
    turns: ask(({ turns }, ...asked) => turns(...asked)),
    subtree: ask(({ subtree }, ...asked) => subtree(...asked)),
    usageAside: (query) => aside(() => offload.run("usage", { file, query })),
    search,
    message: ask(({ messages }, ...asked) => messages.one(...asked)),
    messages: ask(({ messages }, ...asked) => messages.before(...asked)),
    messagesEnd: ask(({ messages }, ...run) => messages.writtenTo(...run)),
    openMessages: ask(({ messages }, id) => messages.open(id)),
    heartbeat: ask(({ heartbeats }, id) => heartbeats.of(id)),
    holdsOf: ask(({ holds }, stream) => holds.of(stream)),
    holds: ask(({ holds }, ...asked) => holds.after(...asked)),
    mail: ask(({ mail }, ...asked) => mail.withPrefix(...asked)),
    mailIn: ask(({ mail }, ...asked) => mail.page(...asked)),
    allMail: ask(({ mail }) => mail.all()),
    isMailReader: ask(({ mail }, box) => mail.isReader(box)),
    openApprovals: ask(({ approvals }, id) => approvals.open(id)),
    approval: ask(({ approvals }, id) => approvals.one(id)),
    approvalsWithPrefix: ask(({ approvals }, ...asked) => approvals.withPrefix(...asked)),
    approvals: ask(({ approvals }, ...asked) => approvals.after(...asked)),
    trees: ask(({ trees }) => trees()),
    item: ask(({ items }, id) => items.one(id)),
    items: ask(({ items }, query) => items.find(query)),
    itemsWithPrefix: ask(({ items }, ...asked) => items.withPrefix(...asked)),
    itemsAfter: ask(({ items }, ...asked) => items.page(...asked)),
    countItems: ask(({ items }, ...asked) => items.count(...asked)),
    namespaces: ask(({ items }, limit) => items.namespaces(limit)),
    schedule: ask(({ schedules }, name) => schedules.one(name)),
    schedulesAfter: ask(({ schedules }, ...asked) => schedules.after(...asked)),
    card: ask(({ cards }, ...asked) => cards.one(...asked)),
    cards: ask(({ cards }, query) => cards.find(query)),
    freeCards: ask(({ cards }, ...asked) => cards.free(...asked)),
    waitingCards: ask(({ cards }, ...asked) => cards.waiting(...asked)),
    lanesOf: ask(({ cards }, board) => cards.lanes(board)),
    boards: ask(({ cards }, limit) => cards.boards(limit)),
    boardSettings: ask(({ cards }) => cards.settings()),
    tokens: ask(({ tokens }) => tokens()),
    peers: ask(({ federation }) => federation.peers()),
    auditHead: ask(({ federation }) => federation.auditHead()),
  };
};

const upkeepOf = (log: OpenLog, offload: Offload, tidied: () => Promise<void>): Upkeep => {
  const { ask, group, held, keeper, newId, writable } = log;
  const { file } = log.options;
  /** Tasks over the whole log run one after another. */
  const alone = oneByOne(log.judged);
  return {
    beat: ask(({ heartbeats }, beats) => heartbeats.write(beats)),
    rebuild: ask(() => {
      group.drain();
      held.flush();
      keeper.at().kept.forgetAll();
      return { records: rebuild(keeper.at().db) };
    }),
    check: ask(() => {
      group.drain();
      return check(keeper.at().db);
    }),
    checkAside: () => alone(() => offload.run("check", { file })),
    rebuildAside: () =>
      alone(async () => {
        const into = `${file}.folded`;
        try {
          const folded = await offload.run("fold", { file, into });
          await mend(writable, into, folded);
          return { records: folded.records };
        } finally {
          rmSync(into, { force: true });
        }
      }),
    gc: (how) =>
      alone(async () => {
        const report = await collectGarbage({ file, newId, db: writable, append: log.append }, offload, how);
        if (!how.dry_run) await tidied();
        return report;
      }),
    look: () => log.look(),
  };
};

/** Searches, and the upkeep of their index, one at a time. */
const searchesOf = (log: OpenLog, offload: Offload) => {
  const { file, now = Date.now, report = () => {} } = log.options;
  const { history, keeper, head, recordAt: at } = log;
  const searches = new Searches({ file, history, head, db: () => keeper.at().db, at }, offload, now);
  const inTurn = oneByOne(log.judged);
  return {
    search: (query: SearchQuery) => inTurn(() => searches.search(query)),
    tidied: () =>
      inTurn(() => searches.tidy()).catch((error: HoldfastError) =>
        report(`words of removed records stay in the index: ${error.message}`),
      ),
  };
};

const open = (options: LogOptions): Store => {
  const log = new OpenLog(options);
  const offload = makeOffload();
  const { search, tidied } = searchesOf(log, offload);
  return {
    ...eventsOf(log),
    ...viewsOf(log, offload, search),
    ...upkeepOf(log, offload, tidied),
    close: () => {
      offload.close();
      log.close();
    },
  };
};

/**
 * Opens the log, and creates it if there is none. Throws STORE_CORRUPT for a damaged tail or another program's file, and
 * STORE_FAILED for a newer schema or a directory that cannot be used.
 */
export const openLog = (options: LogOptions): Store =>
  guardedBy(makeJudge(options.file, options.now ?? Date.now))(open)(options);
