/** The rows of a cluster in Postgres. TLS is as the URL says, and between machines it is on unless the URL takes it away. */
import pg from "pg";
import {
  CLUSTER_BROUGHT_RECORDS_MAX,
  CLUSTER_BROUGHT_SEARCHED_RECORDS,
  CLUSTER_FAILED_SHOWN_MAX,
  CLUSTER_FAILED_SHOWN_MS,
  CLUSTER_STREAM_PAGE_RECORDS,
  CLUSTER_WHY_MAX_CHARS,
} from "../../base/limits.ts";
import type { LeasedBudget } from "../budgets.ts";
import type { DrainedWorker } from "../drain.ts";
import type {
  ClusterOverview,
  ClusterView,
  HeldRight,
  Killer,
  NewNode,
  NewPlacement,
  NodeFence,
  NodeInView,
  RunFence,
} from "../rows.ts";
import type { ClusterStore, CopiedRecord, LogName, StreamPage } from "../store.ts";
import type { OwnedRow, TreeOwner } from "../tree.ts";
import type {
  BroughtRows,
  FailedRow,
  KilledRow,
  PlacedRow,
  PlaceQuestionRow,
  RequestedRow,
  SearchedPlaces,
  WaitingRow,
} from "./answers.ts";
import { isBrought } from "./brought.ts";
import { changeBudget, dropBudget, sharedRows } from "./budgets.ts";
import { callsBy } from "./calls.ts";
import { Connections } from "./connections.ts";
import { copiesBy } from "./copies.ts";
import { NodeLooks, type SeenView } from "./looks.ts";
import { hasNoDay, keepDays, makeDays, tendCopy } from "./retention.ts";
import { type RowToLaunch, RunStatements } from "./runs.ts";
import { holderOf, type SessionName, takeSession } from "./sessions.ts";
import * as statements from "./statements.ts";

interface RecordRow {
  readonly place: number;
  readonly seq: number;
  readonly worker: string;
  readonly term: number;
  readonly text: string;
}

/** By Postgres. */
const UNIQUE_VIOLATION = "23505";

export class PostgresStore implements ClusterStore {
  /** The copy, as people read it. */
  readonly copies = copiesBy((text, values) => this.rows(text, values));
  /** Requests to other nodes, and from them. */
  readonly calls = callsBy({
    rows: (text, values) => this.rows(text, values),
    changes: (text, values) => this.changes(text, values),
  });
  private readonly connections: Connections;
  private readonly runs = new RunStatements((text, values) => this.rows(text, values));
  private readonly looks = new NodeLooks(
    async (text, values) => (await this.connections.askUrgently<SeenView>(text, values)).rows,
  );

  private constructor(connections: Connections) {
    this.connections = connections;
  }

  /** Connects when it is first asked: then the tables must be those of this Holdfast. Throws where the URL is none. */
  static at(url: string): PostgresStore {
    return new PostgresStore(new Connections(url));
  }

  /** Makes the tables, or brings them up to date. */
  static async open(url: string): Promise<PostgresStore> {
    const store = PostgresStore.at(url);
    try {
      await store.migrate();
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  /** The version before, 0 for none, and the one after. */
  migrate(): Promise<{ readonly from: number; readonly to: number }> {
    return this.connections.migrate();
  }

  close(): Promise<void> {
    return this.connections.close();
  }

  async join(
    { id, store_id, labels, capacity, endpoint }: NewNode,
    session: string,
  ): Promise<number | undefined> {
    const [row] = await this.rows<{ term: number }>(statements.JOIN, [
      id,
      store_id,
      labels,
      capacity,
      endpoint,
      session,
    ]);
    if (row !== undefined) return row.term;
    const [before] = await this.rows<{ term: number }>(statements.JOINED_BEFORE, [id, session]);
    return before?.term;
  }

  async renew({ node, node_term }: NodeFence): Promise<boolean> {
    return (await this.connections.askUrgently(statements.RENEW, [node, node_term])).rowCount === 1;
  }

  drain(node: string, isDraining: boolean): Promise<boolean> {
    return this.changes(statements.DRAIN, [node, isDraining]);
  }

  /** Running workers that are placed on a node, the oldest name first. */
  workersAt(node: string): Promise<readonly DrainedWorker[]> {
    return this.rows<DrainedWorker>(statements.WORKERS_AT, [node]);
  }

  leave({ node, node_term }: NodeFence): Promise<boolean> {
    return this.changes(statements.LEAVE, [node, node_term]);
  }

  bury(node: string, term: number, beat: number): Promise<boolean> {
    return this.changes(statements.BURY, [node, term, beat]);
  }

  declareGone(node: string): Promise<boolean> {
    return this.changes(statements.DECLARE_GONE, [node]);
  }

  view(node: string): Promise<ClusterView> {
    return this.looks.view(node);
  }

  /** Without their loads. */
  nodes(): Promise<readonly NodeInView[]> {
    return this.rows<NodeInView>(statements.NODES, []);
  }

  /** For people. */
  async overview(): Promise<ClusterOverview> {
    const [overview] = await this.rows<ClusterOverview>(statements.OVERVIEW, []);
    return overview as ClusterOverview;
  }

  /** The name of a worker that has ended may be used again. False also where another one has the `request`. */
  async place(
    { worker, spec_digest, on_partition, needs }: NewPlacement,
    spec = "",
    request: string | null = null,
    owner?: TreeOwner,
  ): Promise<boolean> {
    const { tree = null, file = null } = owner ?? {};
    const values = [worker, spec_digest, on_partition, needs, spec, request, tree, file];
    try {
      return await this.changes(statements.PLACE, values);
    } catch (error) {
      if (error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION) return false;
      throw error;
    }
  }

  /** The worker of an idempotency key, by its digest. */
  async placedBy(request: string): Promise<RequestedRow | undefined> {
    return (await this.rows<RequestedRow>(statements.PLACED_BY, [request]))[0];
  }

  /** The newest workers that a node ended with a reason. For people. */
  failed(): Promise<readonly FailedRow[]> {
    return this.rows<FailedRow>(statements.FAILED, [CLUSTER_FAILED_SHOWN_MS, CLUSTER_FAILED_SHOWN_MAX]);
  }

  ofTree(tree: string, names: readonly string[]): Promise<readonly OwnedRow[]> {
    return this.rows<OwnedRow>(statements.OF_TREE, [tree, names]);
  }

  /** Ends a worker whose file has another spec for it. Nobody has killed it for good. */
  retire(worker: string, tree: string, killer: Killer): Promise<boolean> {
    return this.changes(statements.RETIRE, [worker, killer, tree]);
  }

  /** The worker is its file's no longer. */
  disown(worker: string, tree: string): Promise<boolean> {
    return this.changes(statements.DISOWN, [worker, tree]);
  }

  /** By its name, or by its id in the log of its node. For people, and for the one who placed it. */
  async placed(worker: string): Promise<PlacedRow | undefined> {
    return (await this.rows<PlacedRow>(statements.PLACED, [worker]))[0];
  }

  /** The spec of a worker, and its id on the node on which it ran last. */
  toLaunch(worker: string): Promise<RowToLaunch | undefined> {
    return this.runs.toLaunch(worker);
  }

  /** `worker_id`: its id in the log of the node. */
  launched(run: RunFence, worker_id: string): Promise<boolean> {
    return this.runs.launched({ ...run, worker_id });
  }

  /** At most `max` workers that shall run, and that no living node holds. */
  waiting(max: number): Promise<readonly WaitingRow[]> {
    return this.rows<WaitingRow>(statements.WAITING, [max]);
  }

  /** False where it is asked already. */
  askForPlace(worker: string, term: number): Promise<boolean> {
    return this.changes(statements.ASK, [worker, term]);
  }

  /** True for the one node that shall tell of the question. */
  tellsOfPlace(worker: string, term: number): Promise<boolean> {
    return this.changes(statements.TELL, [worker, term]);
  }

  /** Rows whose question may have answered itself, by a node that has joined, are among them. */
  placeQuestions(max: number): Promise<readonly PlaceQuestionRow[]> {
    return this.rows<PlaceQuestionRow>(statements.QUESTIONS, [max]);
  }

  letWait(worker: string, term: number): Promise<boolean> {
    return this.changes(statements.LET_WAIT, [worker, term]);
  }

  placeAnywhere(worker: string, term: number): Promise<boolean> {
    return this.changes(statements.PLACE_ANYWHERE, [worker, term]);
  }

  claim(worker: string, seen_term: number, { node, node_term }: NodeFence): Promise<boolean> {
    return this.runs.claim({ worker, term: seen_term, node, node_term });
  }

  adopt(run: RunFence): Promise<boolean> {
    return this.changes(statements.ADOPT, valuesOf(run));
  }

  release(run: RunFence, seen_starts: number): Promise<boolean> {
    return this.changes(statements.RELEASE, [...valuesOf(run), seen_starts]);
  }

  begin(run: RunFence): Promise<boolean> {
    return this.runs.begin(run);
  }

  end(
    { worker, node, term }: RunFence,
    why: string | null = null,
    over: OwnedRow["over"] = null,
  ): Promise<boolean> {
    return this.changes(statements.END, [
      node,
      worker,
      term,
      why?.slice(0, CLUSTER_WHY_MAX_CHARS) ?? null,
      over,
    ]);
  }

  /** Killed workers of a node whose end it has not told. */
  killedAt(node: string): Promise<readonly KilledRow[]> {
    return this.rows(statements.KILLED_AT, [node]);
  }

  /** Nothing of a killed worker is left on its node, so its name is free again. */
  stopped({ worker, node, term }: RunFence, checked_by?: SearchedPlaces): Promise<boolean> {
    return this.changes(statements.STOPPED, [node, worker, term, checked_by ?? null]);
  }

  async kill(worker: string, killer: Killer | null = null): Promise<void> {
    await this.changes(statements.KILL, [worker, killer]);
  }

  /** Its node waits no longer for its end. */
  async killAgain(worker: string): Promise<void> {
    await this.changes(statements.KILL_AGAIN, [worker]);
  }

  /** The worker that holds the session; undefined where `placed` has it now. */
  async takeSession(name: SessionName, placed: Pick<RunFence, "worker" | "term" | "node">) {
    return takeSession(await this.connections.checkedPool(), name, placed);
  }

  async sessionHolder(name: SessionName) {
    return holderOf(await this.connections.checkedPool(), name);
  }

  async append(
    node: string,
    { store_id, epoch }: LogName,
    records: readonly CopiedRecord[],
  ): Promise<number> {
    const [first, last] = [records[0], records.at(-1)];
    if (first !== undefined && last !== undefined) {
      const values = [...[node, store_id, epoch, first.seq, last.seq], ...columnsOf(records)];
      const appending = () =>
        this.connections.askPrepared<{ copied_to: number }>("append", statements.APPEND, values);
      const { rows } = await appending().catch(async (error: unknown) => {
        if (!hasNoDay(error)) throw error;
        await makeDays(await this.connections.checkedPool());
        return appending();
      });
      if (rows[0] !== undefined) return rows[0].copied_to;
    }
    const [known] = await this.rows<{ copied_to: number }>(statements.COPIED_TO, [store_id, epoch]);
    if (known !== undefined) return known.copied_to;
    await this.changes(statements.OPEN_LOG, [store_id, epoch]);
    return this.append(node, { store_id, epoch }, records);
  }

  /** Zero for all days. `asked` changes it. */
  async keepDays(asked?: number): Promise<{ readonly before: number; readonly keep_days: number }> {
    return keepDays(await this.connections.checkedPool(), asked);
  }

  /**
   * Drops old days of the copy, and rows that nobody needs; null where that is not due, or another node does it. Rejects with
   * ClockAheadError where the database's clock is far ahead of `now_ms`.
   */
  async tendCopy(now_ms = Date.now()): Promise<number | null> {
    return tendCopy(await this.connections.checkedPool(), now_ms);
  }

  async stream(worker: string, after: number): Promise<StreamPage> {
    const rows = await this.rows<RecordRow>(statements.STREAM, [worker, after, CLUSTER_STREAM_PAGE_RECORDS]);
    const last = rows.length < CLUSTER_STREAM_PAGE_RECORDS ? undefined : rows.at(-1);
    return {
      records: rows.map(({ seq, term, text }) => ({ seq, run: { worker, term }, text })),
      next: last?.place ?? null,
    };
  }

  /** Records of the worker `worker_id`, as it is named in the log of the node on which it ran last. */
  async brought(worker: string, worker_id: string): Promise<BroughtRows> {
    const [rows] = await this.rows<BroughtRows>(statements.BROUGHT, [
      worker,
      worker_id,
      CLUSTER_BROUGHT_RECORDS_MAX,
      CLUSTER_BROUGHT_SEARCHED_RECORDS,
    ]);
    return rows as BroughtRows;
  }

  async withBudget<Result>(
    name: string,
    change: (before: LeasedBudget | undefined) => {
      readonly after?: LeasedBudget | undefined;
      readonly result: Result;
    },
    right?: HeldRight,
  ): Promise<Result> {
    return changeBudget(await this.connections.checkedPool(), name, change, right);
  }

  /** How the names of the rows of a file's budget begin; undefined where this cluster has none with that key. */
  async sharedRows(shared_id: string): Promise<string | undefined> {
    return sharedRows(await this.connections.checkedPool(), shared_id);
  }

  /** All bounds of a budget, by the beginning of their names. */
  async dropBudget(rows: string): Promise<void> {
    await dropBudget(await this.connections.checkedPool(), rows);
  }

  private async rows<Row extends object>(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return (await this.connections.ask<Row>(text, values)).rows;
  }

  private async changes(text: string, values: readonly unknown[]): Promise<boolean> {
    return (await this.connections.ask(text, values)).rowCount === 1;
  }
}

const valuesOf = ({ node, node_term, worker, term }: RunFence): readonly unknown[] => [
  node,
  node_term,
  worker,
  term,
];

/** Their workers, terms, texts and marks. The texts alone have values where no record is of a placed worker, as in most statements. */
const columnsOf = (
  records: readonly CopiedRecord[],
): readonly [(string | null)[], (number | null)[], string, string] => {
  const placed = records.some(({ run }) => run !== null) ? records : [];
  return [
    placed.map(({ run }) => run?.worker ?? null),
    placed.map(({ run }) => run?.term ?? null),
    records.map(({ text }) => text).join("\n"),
    // As one text: the client takes each value of an array for itself.
    `{${placed.map(({ text }) => isBrought(text)).join()}}`,
  ];
};
