/**
 * One row for each worker, folded from the records of its stream. The columns `supervisor` and `parent` make the tree. The spec
 * stays in the record that requested or changed the worker, because it may hold a megabyte of prompt and each batch of output
 * writes the row again.
 */
import type { Database } from "better-sqlite3";
import { addDenied, type DeniedCalls } from "../../../protocol/denied.ts";
import { HoldfastError } from "../../../protocol/errors.ts";
import { type LogRecord, type RecordType, type Usage, workerOf } from "../../../protocol/records.ts";
import { isUncounted, restartCause } from "../../../protocol/restart-cause.ts";
import { dollars } from "../../../protocol/usage.ts";
import { RUNTIME_DEFAULT, SUBPROCESS } from "../../../protocol/words.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import type { WorkerRow } from "../../views.ts";
import { type KeptRows, ROW_CHARS, type RowWithoutSpec } from "./kept-rows.ts";
import type { Projection } from "./projection.ts";
import { addTurn, type TurnSums, turnSums } from "./turn-sums.ts";
import { turnMs } from "./turn-times.ts";

export const LIVING = "state NOT IN ('completed', 'failed', 'cancelled', 'parked')";

export const WORKERS_SCHEMA = `
  CREATE TABLE p_workers (
    id TEXT PRIMARY KEY, name TEXT, kind TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, requested_seq INTEGER NOT NULL, spec_seq INTEGER NOT NULL,
    incarnation INTEGER NOT NULL DEFAULT 0, restarts INTEGER NOT NULL DEFAULT 0, pid INTEGER, pgid INTEGER, backend_kind TEXT,
    parent TEXT, supervisor TEXT NOT NULL, session_id TEXT, tombstone INTEGER NOT NULL DEFAULT 0,
    exit_code INTEGER, signal TEXT, error TEXT, completion TEXT, end_cause TEXT,
    turns INTEGER NOT NULL DEFAULT 0, input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0, reasoning_tokens INTEGER NOT NULL DEFAULT 0, cost_usd REAL,
    estimated_usd REAL, unpriced_turns INTEGER NOT NULL DEFAULT 0, tool_calls INTEGER NOT NULL DEFAULT 0, turn_ms REAL NOT NULL DEFAULT 0,
    denied TEXT, archived INTEGER NOT NULL DEFAULT 0, pruned INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL, started_at TEXT, ended_at TEXT,
    last_seq INTEGER NOT NULL DEFAULT 0, last_event_at TEXT, version INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX p_workers_name ON p_workers (name) WHERE name IS NOT NULL;
  CREATE INDEX p_workers_living ON p_workers (requested_seq) WHERE ${LIVING};
  CREATE INDEX p_workers_parent ON p_workers (parent) WHERE parent IS NOT NULL;
  CREATE INDEX p_workers_supervisor ON p_workers (supervisor, requested_seq) WHERE supervisor <> 'root';
`;

/** A transaction's changes of a worker's row by most of its records; they are written once. */
interface Touch {
  seq: number;
  version: number;
  eventAt: string | null;
  /** Set once a turn has ended in the transaction. */
  sums?: TurnSums | undefined;
}

/** The effect of a record on its worker's row. A gap has the effect of the records that it replaces. */
const touchOf = (record: LogRecord): Touch => {
  if (record.type === "log_gap") {
    const { to_seq, to_version, last_event_at } = record.payload;
    return { seq: to_seq, version: to_version, eventAt: last_event_at };
  }
  const { seq, version, type, recorded_at } = record;
  return { seq, version, eventAt: type === "agent.event" ? recorded_at : null };
};

/** Statements that change a row. Their last parameter is the id of the worker. */
const rowChanges = (db: Database) => {
  const update = (assignments: string) => db.prepare(`UPDATE p_workers SET ${assignments} WHERE id = ?`);
  return {
    create: db.prepare(
      "INSERT INTO p_workers (id, name, kind, state, reason, requested_seq, spec_seq, parent, supervisor, backend_kind, session_id, created_at) VALUES (?, ?, ?, 'pending', 'spawn_requested', ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    ),
    changed: update("state = ?, reason = ?"),
    begun: update(
      `incarnation = ?, pid = NULL, pgid = NULL, exit_code = NULL, signal = NULL, error = NULL, completion = NULL, end_cause = NULL,
       started_at = NULL, ended_at = NULL, tombstone = 0, archived = 0`,
    ),
    renamed: update("name = ?"),
    archived: update("archived = ?"),
    pruned: update("archived = 1, pruned = 1"),
    respecified: update("spec_seq = ?, kind = ?"),
    spawned: update("pid = ?, pgid = ?, backend_kind = ?"),
    started: update("started_at = ?"),
    exited: update("exit_code = ?, signal = ?, pid = NULL"),
    outcome: update("error = ?, completion = ?"),
    scheduled: update("restarts = restarts + ?, state = 'backing_off', reason = ?"),
    ended: update("state = ?, reason = ?, end_cause = ?, ended_at = ?"),
    cancelled: update("tombstone = ?"),
    session: update("session_id = ?"),
    refused: update("denied = ?"),
    touched: update("last_seq = ?, version = ?, last_event_at = coalesce(?, last_event_at)"),
  };
};

/** Statements by which a fold reads existing rows. */
const rowLooks = (db: Database) => ({
  denied: db.prepare<[string], string | null>("SELECT denied FROM p_workers WHERE id = ?").pluck(),
  toolAsked: db
    .prepare<[string, string], string | null>(
      "SELECT tool FROM p_approvals WHERE worker_id = ? AND approval_id = ?",
    )
    .pluck(),
  turnMs: turnMs(db),
});

type RecordOfType<T extends RecordType> = Extract<LogRecord, { type: T }>;

class WorkersTable implements Projection {
  private readonly row: ReturnType<typeof rowChanges>;
  private readonly look: ReturnType<typeof rowLooks>;
  private readonly sums: ReturnType<typeof turnSums>;
  private readonly onWorker: (id: string) => void;
  /**
   * The newest record of each worker's stream in this transaction: output costs one UPDATE per worker instead of one per
   * record.
   */
  private readonly touches = new Map<string, Touch>();

  constructor(db: Database, onWorker: (id: string) => void) {
    this.row = rowChanges(db);
    this.look = rowLooks(db);
    this.sums = turnSums(db);
    this.onWorker = onWorker;
  }

  fold(record: LogRecord): void {
    this.touch(record);
    if (record.type === "agent.event") return;
    const id = workerOf(record.stream);
    if (id !== undefined) this.foldLifecycle(id, record);
  }

  flush(): void {
    for (const [stream, { seq, version, eventAt, sums }] of this.touches) {
      const id = workerOf(stream);
      if (id === undefined) continue;
      this.row.touched.run(seq, version, eventAt, id);
      if (sums !== undefined) this.sums.write(id, sums);
    }
    this.touches.clear();
  }

  reset(): void {
    this.touches.clear();
  }

  private touch(record: LogRecord): void {
    const known = this.touches.get(record.stream);
    const { seq, version, eventAt } = touchOf(record);
    if (known === undefined) {
      const id = workerOf(record.stream);
      if (id === undefined) return;
      this.touches.set(record.stream, { seq, version, eventAt });
      this.onWorker(id);
      return;
    }
    known.seq = seq;
    known.version = version;
    if (eventAt !== null) known.eventAt = eventAt;
  }

  private foldLifecycle(id: string, record: LogRecord): void {
    const { row } = this;
    switch (record.type) {
      case "worker_spawn_requested":
        this.create(id, record);
        return;
      case "worker_state_changed":
        row.changed.run(record.payload.to, record.payload.reason, id);
        if (record.payload.to === "starting") row.begun.run(record.incarnation ?? 0, id);
        return;
      case "worker_spec_changed":
        row.respecified.run(record.seq, record.payload.spec.kind, id);
        return;
      case "worker_spawned":
        this.spawned(id, record.payload);
        return;
      case "worker_started":
        row.started.run(record.recorded_at, id);
        return;
      case "worker_exited":
        row.exited.run(record.payload.exit_code, record.payload.signal, id);
        return;
      case "worker_completed":
        row.outcome.run(null, JSON.stringify(record.payload.completion), id);
        return;
      case "worker_failed":
      case "worker_cancelled": {
        const { error, completion } = record.payload;
        row.outcome.run(JSON.stringify(error), completion ? JSON.stringify(completion) : null, id);
        return;
      }
      case "worker_restart_scheduled":
        row.scheduled.run(isUncounted(restartCause(record.payload)) ? 0 : 1, record.payload.reason, id);
        return;
      case "worker_ended": {
        const { state, reason, cause = null } = record.payload;
        row.ended.run(state, reason, cause, record.recorded_at, id);
        return;
      }
      case "worker_cancel_requested":
        row.cancelled.run(record.payload.tombstone ? 1 : 0, id);
        return;
      default:
        this.foldCare(id, record);
        this.foldTalk(id, record);
    }
  }

  /** Folds the name of a worker, and whether it is archived. */
  private foldCare(id: string, record: LogRecord): void {
    switch (record.type) {
      case "worker_renamed":
        this.row.renamed.run(record.payload.name, id);
        return;
      case "worker_archived":
        this.row.archived.run(record.payload.undone ? 0 : 1, id);
        return;
      case "worker_pruned":
        this.row.pruned.run(id);
    }
  }

  /** Folds sessions, turns and refused calls. */
  private foldTalk(id: string, record: LogRecord): void {
    switch (record.type) {
      case "session_started":
        this.row.session.run(record.payload.session_id, id);
        return;
      case "session_abandoned":
        this.row.session.run(null, id);
        return;
      case "turn_completed":
        this.addTurn(id, record);
        return;
      case "approval_answered": {
        const { approval_id, decision } = record.payload;
        if (decision === "deny")
          this.deny(id, [{ tool: this.look.toolAsked.get(id, approval_id) ?? null, calls: 1 }]);
      }
    }
  }

  private spawned(id: string, payload: RecordOfType<"worker_spawned">["payload"]): void {
    const { pid = null, pgid = null, backend_kind = SUBPROCESS } = payload;
    this.row.spawned.run(pid, pgid, backend_kind, id);
  }

  private create(
    id: string,
    { seq, stream, recorded_at, payload }: RecordOfType<"worker_spawn_requested">,
  ): void {
    const { name = null, kind, parent = null, supervisor, runtime = RUNTIME_DEFAULT, placed } = payload.spec;
    // Another runtime tells its kind with the first start.
    const backend = runtime === RUNTIME_DEFAULT ? SUBPROCESS : null;
    const { changes } = this.row.create.run(
      id,
      name,
      kind,
      seq,
      seq,
      parent,
      supervisor,
      backend,
      placed?.brought?.session_id ?? null,
      recorded_at,
    );
    if (changes > 0) this.touches.get(stream)!.eventAt = null; // records before the row do not count in it
    if (parent !== null) this.onWorker(parent); // its parent has a new child
  }

  private addTurn(id: string, { stream, payload, incarnation = 0 }: RecordOfType<"turn_completed">): void {
    const touch = this.touches.get(stream);
    if (touch === undefined) return;
    touch.sums ??= this.sums.of(id);
    if (touch.sums === undefined) return; // the worker has no row
    addTurn(touch.sums, payload, this.look.turnMs(id, incarnation, payload));
    if (payload.denied !== undefined) this.deny(id, payload.denied);
  }

  private deny(id: string, calls: readonly DeniedCalls[]): void {
    const before = parsedDenied(this.look.denied.get(id) ?? null);
    const after = calls.reduce((sum, one) => addDenied(sum, one.tool, one.calls), before);
    this.row.refused.run(JSON.stringify(after), id);
  }
}

/** `onWorker` is called with the id of each worker whose row or children are about to change. */
export const workers = (db: Database, onWorker: (id: string) => void = () => undefined): Projection =>
  new WorkersTable(db, onWorker);

const parsedDenied = (denied: string | null): readonly DeniedCalls[] =>
  denied === null ? [] : JSON.parse(denied);

type WorkerColumns = Omit<
  WorkerRow,
  "spec" | "tombstone" | "archived" | "pruned" | "error" | "completion" | "usage" | "denied"
> & {
  readonly archived: number;
  readonly pruned: number;
  readonly denied: string | null;
  readonly requested_seq: number;
  readonly spec_seq: number;
  readonly tombstone: number;
  readonly error: string | null;
  readonly completion: string | null;
  readonly estimated_usd: number | null;
} & Omit<Usage, "estimated_usd">;

/** The spec in a record. Throws STORE_CORRUPT for a record without one. */
const specIn = (record: LogRecord): WorkerSpec => {
  if (record.type === "worker_spawn_requested" || record.type === "worker_spec_changed")
    return record.payload.spec;
  throw new HoldfastError(
    "STORE_CORRUPT",
    `Record ${record.seq} of the event log is not the request for a worker that a projection says it is.`,
  );
};

const rowReads = (db: Database) => ({
  one: db.prepare<[string], WorkerColumns>("SELECT * FROM p_workers WHERE id = ?"),
  named: db.prepare<[string], WorkerColumns>(
    "SELECT * FROM p_workers WHERE name = ? ORDER BY requested_seq DESC",
  ),
  // Ids consist of letters and digits, which are all below "~".
  withPrefix: db.prepare<[string, string, number], WorkerColumns>(
    "SELECT * FROM p_workers WHERE id >= ? AND id < ? || '~' ORDER BY id DESC LIMIT ?",
  ),
  newestNames: db
    .prepare<[number], string>(
      "SELECT DISTINCT name FROM (SELECT name FROM p_workers ORDER BY id DESC LIMIT ?) WHERE name IS NOT NULL",
    )
    .pluck(),
  all: db.prepare<[], WorkerColumns>("SELECT * FROM p_workers ORDER BY requested_seq"),
  living: db.prepare<[], WorkerColumns>(`SELECT * FROM p_workers WHERE ${LIVING} ORDER BY requested_seq`),
  under: db.prepare<[string], WorkerColumns>(
    "SELECT * FROM p_workers WHERE supervisor <> 'root' AND supervisor = ? ORDER BY requested_seq",
  ),
  spawnedBy: db
    .prepare<[string], string>("SELECT id FROM p_workers WHERE parent = ? ORDER BY requested_seq")
    .pluck(),
  count: db.prepare<[], number>("SELECT count(*) FROM p_workers").pluck(),
});

const bareOf = (row: WorkerColumns): RowWithoutSpec => {
  const {
    requested_seq: _,
    input_tokens,
    output_tokens,
    cached_tokens,
    reasoning_tokens,
    cost_usd,
    estimated_usd,
    ...rest
  } = row;
  const estimate = estimated_usd === null ? {} : { estimated_usd: dollars(estimated_usd) };
  return {
    ...rest,
    tombstone: row.tombstone !== 0,
    archived: row.archived !== 0,
    pruned: row.pruned !== 0,
    error: row.error === null ? null : JSON.parse(row.error),
    completion: row.completion === null ? null : JSON.parse(row.completion),
    denied: parsedDenied(row.denied),
    usage: { input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd, ...estimate },
  };
};

/** Reads rows for the port. `lineAt` reads the record that has the spec. */
export const workerRows = (db: Database, lineAt: (seq: number) => string, kept: KeptRows) => {
  const read = rowReads(db);
  const specAt = (seq: number): WorkerSpec => {
    const known = kept.specs.get(seq);
    if (known !== undefined) return known;
    const line = lineAt(seq);
    const spec = specIn(JSON.parse(line));
    kept.specs.set(seq, spec, line.length);
    return spec;
  };
  /** Whole rows by their specs, so that none outlives its spec in the cache. A kept row is asked for again and again. */
  const wholes = new WeakMap<WorkerSpec, { readonly bare: RowWithoutSpec; readonly row: WorkerRow }>();
  const whole = (bare: RowWithoutSpec): WorkerRow => {
    const spec = specAt(bare.spec_seq);
    const known = wholes.get(spec);
    if (known?.bare === bare) return known.row;
    const { spec_seq: _, name, ...rest } = bare;
    // The name of a worker may have changed since its request.
    const row = { ...rest, name, spec: name === null || spec.name === name ? spec : { ...spec, name } };
    wholes.set(spec, { bare, row });
    return row;
  };
  const show = (row: WorkerColumns): WorkerRow => whole(bareOf(row));
  return {
    one: (id: string): WorkerRow | undefined => {
      const known = kept.rows.get(id);
      if (known !== undefined) return whole(known);
      const stored = read.one.get(id);
      if (stored === undefined) return undefined;
      const row = bareOf(stored);
      const { error, completion } = stored;
      kept.rows.set(id, row, ROW_CHARS + (error?.length ?? 0) + (completion?.length ?? 0));
      return whole(row);
    },
    named: (name: string): readonly WorkerRow[] => read.named.all(name).map(show),
    withPrefix: (prefix: string, limit: number): readonly WorkerRow[] =>
      read.withPrefix.all(prefix, prefix, limit).map(show),
    newestNames: (workers: number): readonly string[] => read.newestNames.all(workers),
    all: (): readonly WorkerRow[] => read.all.all().map(show),
    living: (): readonly WorkerRow[] => read.living.all().map(show),
    under: (supervisors: readonly string[]): readonly WorkerRow[] =>
      supervisors.flatMap((path) => read.under.all(path).map(show)),
    spawnedBy: (id: string): readonly string[] => {
      if (kept.absent.has(id, "spawned")) return [];
      const ids = read.spawnedBy.all(id);
      if (ids.length === 0) kept.absent.note(id, "spawned");
      return ids;
    },
    count: (): number => read.count.get() as number,
  };
};
