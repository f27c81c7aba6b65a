/**
 * One row a worker: what its records say of it. A worker's records are those of its stream. The tree is the columns
 * `supervisor` and `parent`; the spec stays in the record that asked for the worker or changed it, because it may hold a megabyte
 * of prompt and the row is written again with every batch of output.
 */
import type { Database } from "better-sqlite3";
import { SPECS_KEPT_MAX_CHARS, WORKER_ROWS_KEPT_MAX_CHARS } from "../../base/limits.ts";
import { addDenied, type DeniedCalls } from "../../protocol/denied.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { LogRecord, Usage } from "../../protocol/records.ts";
import { isUncounted, restartCause } from "../../protocol/restart-cause.ts";
import { dollars, isUnpriced, modelsOf } from "../../protocol/usage.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import { type Kept, makeKept } from "../kept.ts";
import type { WorkerRow } from "../port.ts";
import type { Projection } from "./projection.ts";
import { turnMs } from "./turn-times.ts";

export const LIVING = "state NOT IN ('completed', 'failed', 'cancelled', 'parked')";

export const WORKERS_SCHEMA = `
  CREATE TABLE p_workers (
    id TEXT PRIMARY KEY, name TEXT, kind TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, requested_seq INTEGER NOT NULL, spec_seq INTEGER NOT NULL,
    incarnation INTEGER NOT NULL DEFAULT 0, restarts INTEGER NOT NULL DEFAULT 0, pid INTEGER, pgid INTEGER,
    parent TEXT, supervisor TEXT NOT NULL, session_id TEXT, tombstone INTEGER NOT NULL DEFAULT 0,
    exit_code INTEGER, signal TEXT, error TEXT, completion TEXT, end_cause TEXT,
    turns INTEGER NOT NULL DEFAULT 0, input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0, reasoning_tokens INTEGER NOT NULL DEFAULT 0, cost_usd REAL,
    estimated_usd REAL, unpriced_turns INTEGER NOT NULL DEFAULT 0, tool_calls INTEGER NOT NULL DEFAULT 0, turn_ms REAL NOT NULL DEFAULT 0,
    denied TEXT,
    created_at TEXT NOT NULL, started_at TEXT, ended_at TEXT,
    last_seq INTEGER NOT NULL DEFAULT 0, last_event_at TEXT, version INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX p_workers_name ON p_workers (name) WHERE name IS NOT NULL;
  CREATE INDEX p_workers_living ON p_workers (requested_seq) WHERE ${LIVING};
  CREATE INDEX p_workers_parent ON p_workers (parent) WHERE parent IS NOT NULL;
  CREATE INDEX p_workers_supervisor ON p_workers (supervisor, requested_seq) WHERE supervisor <> 'root';
`;

const PREFIX = "worker:";
/** The inverse of `workerStream`. */
export const workerOf = (stream: string): string | undefined =>
  stream.startsWith(PREFIX) ? stream.slice(PREFIX.length) : undefined;

interface Touch {
  seq: number;
  version: number;
  eventAt: string | null;
}

/** A gap says what the records in whose place it stands have said. */
const touchOf = (record: LogRecord): Touch => {
  if (record.type === "log_gap") {
    const { to_seq, to_version, last_event_at } = record.payload;
    return { seq: to_seq, version: to_version, eventAt: last_event_at };
  }
  const { seq, version, type, recorded_at } = record;
  return { seq, version, eventAt: type === "agent.event" ? recorded_at : null };
};

export const workers = (db: Database, onWorker: (id: string) => void = () => undefined): Projection => {
  const update = (assignments: string) => db.prepare(`UPDATE p_workers SET ${assignments} WHERE id = ?`);
  const create = db.prepare(
    "INSERT INTO p_workers (id, name, kind, state, reason, requested_seq, spec_seq, parent, supervisor, created_at) VALUES (?, ?, ?, 'pending', 'spawn_requested', ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const changed = update("state = ?, reason = ?");
  const begun = update(
    `incarnation = ?, pid = NULL, pgid = NULL, exit_code = NULL, signal = NULL, error = NULL, completion = NULL, end_cause = NULL,
     started_at = NULL, ended_at = NULL, tombstone = 0`,
  );
  const respecified = update("spec_seq = ?, kind = ?");
  const spawned = update("pid = ?, pgid = ?");
  const started = update("started_at = ?");
  const exited = update("exit_code = ?, signal = ?, pid = NULL");
  const outcome = update("error = ?, completion = ?");
  const scheduled = update("restarts = restarts + ?, state = 'backing_off', reason = ?");
  const ended = update("state = ?, reason = ?, end_cause = ?, ended_at = ?");
  const cancelled = update("tombstone = ?");
  const session = update("session_id = ?");
  const turn = update(
    `turns = turns + 1, input_tokens = input_tokens + ?, output_tokens = output_tokens + ?, cached_tokens = cached_tokens + ?,
     reasoning_tokens = reasoning_tokens + ?, cost_usd = coalesce(cost_usd + @cost, cost_usd, @cost),
     estimated_usd = coalesce(estimated_usd + @estimate, estimated_usd, @estimate), unpriced_turns = unpriced_turns + ?,
     tool_calls = tool_calls + ?, turn_ms = turn_ms + ?`,
  );
  const deniedOf = db.prepare<[string], string | null>("SELECT denied FROM p_workers WHERE id = ?").pluck();
  const toolAsked = db
    .prepare<[string, string], string | null>(
      "SELECT tool FROM p_approvals WHERE worker_id = ? AND approval_id = ?",
    )
    .pluck();
  const refused = update("denied = ?");
  const took = turnMs(db);
  const touched = update("last_seq = ?, version = ?, last_event_at = coalesce(?, last_event_at)");

  /** Worker stream → its newest record in this transaction: output costs one UPDATE a worker, not one a record. */
  const touches = new Map<string, Touch>();

  const touch = (record: LogRecord): void => {
    const known = touches.get(record.stream);
    const { seq, version, eventAt } = touchOf(record);
    if (known === undefined) {
      const id = workerOf(record.stream);
      if (id === undefined) return;
      touches.set(record.stream, { seq, version, eventAt });
      onWorker(id);
      return;
    }
    known.seq = seq;
    known.version = version;
    if (eventAt !== null) known.eventAt = eventAt;
  };

  const deny = (id: string, calls: readonly DeniedCalls[]): void => {
    const before = parsedDenied(deniedOf.get(id) ?? null);
    const after = calls.reduce((sum, one) => addDenied(sum, one.tool, one.calls), before);
    refused.run(JSON.stringify(after), id);
  };

  const foldLifecycle = (id: string, record: LogRecord): void => {
    switch (record.type) {
      case "worker_spawn_requested": {
        const { spec } = record.payload;
        const { changes } = create.run(
          id,
          spec.name ?? null,
          spec.kind,
          record.seq,
          record.seq,
          spec.parent ?? null,
          spec.supervisor,
          record.recorded_at,
        );
        if (changes > 0) touches.get(record.stream)!.eventAt = null; // what came before the row, batched or not, is not in it
        return;
      }
      case "worker_state_changed":
        changed.run(record.payload.to, record.payload.reason, id);
        if (record.payload.to === "starting") begun.run(record.incarnation ?? 0, id);
        return;
      case "worker_spec_changed":
        respecified.run(record.seq, record.payload.spec.kind, id);
        return;
      case "worker_spawned":
        spawned.run(record.payload.pid, record.payload.pgid, id);
        return;
      case "worker_started":
        started.run(record.recorded_at, id);
        return;
      case "worker_exited":
        exited.run(record.payload.exit_code, record.payload.signal, id);
        return;
      case "worker_completed":
        outcome.run(null, JSON.stringify(record.payload.completion), id);
        return;
      case "worker_failed":
      case "worker_cancelled": {
        const { error, completion } = record.payload;
        outcome.run(JSON.stringify(error), completion ? JSON.stringify(completion) : null, id);
        return;
      }
      case "worker_restart_scheduled":
        scheduled.run(isUncounted(restartCause(record.payload)) ? 0 : 1, record.payload.reason, id);
        return;
      case "worker_ended": {
        const { state, reason, cause = null } = record.payload;
        ended.run(state, reason, cause, record.recorded_at, id);
        return;
      }
      case "worker_cancel_requested":
        cancelled.run(record.payload.tombstone ? 1 : 0, id);
        return;
      case "session_started":
        session.run(record.payload.session_id, id);
        return;
      case "session_abandoned":
        session.run(null, id);
        return;
      case "turn_completed": {
        const { payload, incarnation = 0 } = record;
        const { usage } = payload;
        turn.run(
          usage.input_tokens,
          usage.output_tokens,
          usage.cached_tokens,
          usage.reasoning_tokens,
          // Whatever its kind: it took something, or nothing.
          modelsOf("", payload).some(isUnpriced) ? 1 : 0,
          payload.tool_calls ?? 0,
          took(id, incarnation, payload.turn),
          id,
          { cost: usage.cost_usd, estimate: usage.estimated_usd ?? null },
        );
        if (payload.denied !== undefined) deny(id, payload.denied);
        return;
      }
      case "approval_answered": {
        const { approval_id, decision } = record.payload;
        if (decision === "deny") deny(id, [{ tool: toolAsked.get(id, approval_id) ?? null, calls: 1 }]);
        return;
      }
    }
  };

  return {
    fold: (record) => {
      touch(record);
      if (record.type === "agent.event") return;
      const id = workerOf(record.stream);
      if (id !== undefined) foldLifecycle(id, record);
    },
    flush: () => {
      for (const [stream, { seq, version, eventAt }] of touches)
        touched.run(seq, version, eventAt, workerOf(stream));
      touches.clear();
    },
    reset: () => touches.clear(),
  };
};

const parsedDenied = (denied: string | null): readonly DeniedCalls[] =>
  denied === null ? [] : JSON.parse(denied);

type Stored = Omit<WorkerRow, "spec" | "tombstone" | "error" | "completion" | "usage" | "denied"> & {
  readonly denied: string | null;
  readonly requested_seq: number;
  readonly spec_seq: number;
  readonly tombstone: number;
  readonly error: string | null;
  readonly completion: string | null;
  readonly estimated_usd: number | null;
} & Omit<Usage, "estimated_usd">;

/** The memory that a row takes but for its texts, roughly. */
export const ROW_CHARS = 1_000;

/** A row without what was asked for, which may be a megabyte, and where that is. */
type Bare = Omit<WorkerRow, "spec"> & { readonly spec_seq: number };

/** Rows as they were read last, and specs; each weighs its characters. */
export interface KeptRows {
  readonly rows: Kept<string, Bare>;
  readonly specs: Kept<number, WorkerSpec>;
  /** Workers that have no turn yet. */
  readonly withoutTurns: Kept<string, true>;
  /** Its records go on. */
  forget(id: string): void;
  /** All rows were made anew. */
  forgetAll(): void;
}

export const keepRows = (): KeptRows => {
  const rows = makeKept<string, Bare>(WORKER_ROWS_KEPT_MAX_CHARS);
  const withoutTurns = makeKept<string, true>(WORKER_ROWS_KEPT_MAX_CHARS);
  return {
    rows,
    specs: makeKept(SPECS_KEPT_MAX_CHARS),
    withoutTurns,
    forget: (id) => {
      rows.forget(id);
      withoutTurns.forget(id);
    },
    forgetAll: () => {
      rows.clear();
      withoutTurns.clear();
    },
  };
};

/** The spec, by the newest record that has it. */
const specIn = (record: LogRecord): WorkerSpec => {
  if (record.type === "worker_spawn_requested" || record.type === "worker_spec_changed")
    return record.payload.spec;
  throw new HoldfastError(
    "STORE_CORRUPT",
    `Record ${record.seq} of the event log is not the request for a worker that a projection says it is.`,
  );
};

/** The rows as the port shows them; `lineAt` reads the record that has the spec. */
export const workerRows = (db: Database, lineAt: (seq: number) => string, kept: KeptRows) => {
  const one = db.prepare<[string], Stored>("SELECT * FROM p_workers WHERE id = ?");
  const named = db.prepare<[string], Stored>(
    "SELECT * FROM p_workers WHERE name = ? ORDER BY requested_seq DESC",
  );
  // Ids are letters and digits, all of them below "~".
  const withPrefix = db.prepare<[string, string, number], Stored>(
    "SELECT * FROM p_workers WHERE id >= ? AND id < ? || '~' ORDER BY id DESC LIMIT ?",
  );
  const newestNames = db
    .prepare<[number], string>(
      "SELECT DISTINCT name FROM (SELECT name FROM p_workers ORDER BY id DESC LIMIT ?) WHERE name IS NOT NULL",
    )
    .pluck();
  const all = db.prepare<[], Stored>("SELECT * FROM p_workers ORDER BY requested_seq");
  const living = db.prepare<[], Stored>(`SELECT * FROM p_workers WHERE ${LIVING} ORDER BY requested_seq`);
  const under = db.prepare<[string], Stored>(
    "SELECT * FROM p_workers WHERE supervisor <> 'root' AND supervisor = ? ORDER BY requested_seq",
  );
  const spawnedBy = db
    .prepare<[string], string>("SELECT id FROM p_workers WHERE parent = ? ORDER BY requested_seq")
    .pluck();
  const count = db.prepare<[], number>("SELECT count(*) FROM p_workers").pluck();
  const specAt = (seq: number): WorkerSpec => {
    const known = kept.specs.get(seq);
    if (known !== undefined) return known;
    const line = lineAt(seq);
    const spec = specIn(JSON.parse(line));
    kept.specs.set(seq, spec, line.length);
    return spec;
  };
  const bare = (row: Stored): Bare => {
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
      error: row.error === null ? null : JSON.parse(row.error),
      completion: row.completion === null ? null : JSON.parse(row.completion),
      denied: parsedDenied(row.denied),
      usage: { input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd, ...estimate },
    };
  };
  const whole = ({ spec_seq, ...row }: Bare): WorkerRow => ({ ...row, spec: specAt(spec_seq) });
  const show = (row: Stored): WorkerRow => whole(bare(row));
  return {
    one: (id: string): WorkerRow | undefined => {
      const known = kept.rows.get(id);
      if (known !== undefined) return whole(known);
      const stored = one.get(id);
      if (stored === undefined) return undefined;
      const row = bare(stored);
      const { error, completion } = stored;
      kept.rows.set(id, row, ROW_CHARS + (error?.length ?? 0) + (completion?.length ?? 0));
      return whole(row);
    },
    named: (name: string): readonly WorkerRow[] => named.all(name).map(show),
    withPrefix: (prefix: string, limit: number): readonly WorkerRow[] =>
      withPrefix.all(prefix, prefix, limit).map(show),
    newestNames: (workers: number): readonly string[] => newestNames.all(workers),
    all: (): readonly WorkerRow[] => all.all().map(show),
    living: (): readonly WorkerRow[] => living.all().map(show),
    under: (supervisors: readonly string[]): readonly WorkerRow[] =>
      supervisors.flatMap((path) => under.all(path).map(show)),
    spawnedBy: (id: string): readonly string[] => spawnedBy.all(id),
    count: (): number => count.get() as number,
  };
};
