/**
 * An event log in memory for `supervisor.ts`: records in an array that forgets its oldest (as memory would have to where
 * the log is a disk), rows folded as the real projection folds them, commits answered in a later turn of the microtasks.
 * Reads that no supervisor makes while its workers run are left out.
 */
import type { LogRecord, RecordDraft } from "../src/protocol/records.ts";
import { isUncounted, restartCause } from "../src/protocol/restart-cause.ts";
import type { Store } from "../src/store/upkeep.ts";
import type { WorkerRow } from "../src/store/views.ts";

const KEPT_MAX_RECORDS = 512;
type Row = { -readonly [K in keyof WorkerRow]: WorkerRow[K] };

const newRow = (id: string, { payload }: Extract<RecordDraft, { type: "worker_spawn_requested" }>): Row => ({
  id,
  name: null,
  kind: payload.spec.kind,
  state: "pending",
  reason: "spawn_requested",
  spec: payload.spec,
  incarnation: 0,
  restarts: 0,
  pid: null,
  pgid: null,
  backend_kind: "memory",
  parent: null,
  supervisor: payload.spec.supervisor,
  session_id: null,
  tombstone: false,
  archived: false,
  pruned: false,
  exit_code: null,
  signal: null,
  error: null,
  denied: [],
  completion: null,
  end_cause: null,
  turns: 0,
  usage: NOTHING_USED,
  unpriced_turns: 0,
  tool_calls: 0,
  turn_ms: 0,
  created_at: "",
  started_at: null,
  ended_at: null,
  last_seq: 0,
  last_event_at: null,
  version: 0,
});

const NOTHING_USED = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: null,
};

const fold = (row: Row, record: LogRecord): void => {
  row.last_seq = record.seq;
  row.version = record.version;
  switch (record.type) {
    case "worker_state_changed":
      row.state = record.payload.to;
      row.reason = record.payload.reason;
      if (record.payload.to === "starting") row.incarnation = record.incarnation ?? 0;
      return;
    case "worker_spawned":
      row.pid = record.payload.pid ?? null;
      row.pgid = record.payload.pgid ?? null;
      return;
    case "worker_started":
      row.started_at = record.recorded_at;
      return;
    case "worker_exited":
      row.exit_code = record.payload.exit_code;
      row.signal = record.payload.signal;
      row.pid = null;
      return;
    case "worker_failed":
      row.error = record.payload.error;
      return;
    case "worker_restart_scheduled":
      row.state = "backing_off";
      row.reason = record.payload.reason;
      if (!isUncounted(restartCause(record.payload))) row.restarts += 1;
      return;
    case "worker_ended":
      row.state = record.payload.state;
      row.reason = record.payload.reason;
      return;
  }
};

/** `onStarted` is told of each `worker_started`. */
export const makeMemoryLog = (onStarted: () => void): Store => {
  const rows = new Map<string, Row>();
  const kept: LogRecord[] = new Array(KEPT_MAX_RECORDS);
  let head = 0;
  let recorded_at = "";
  const tick = (): void => {
    recorded_at = new Date().toISOString();
  };
  tick();
  setInterval(tick, 1).unref();

  const append = (draft: RecordDraft): LogRecord => {
    head += 1;
    const worker = draft.worker_id;
    const row = worker === undefined ? undefined : rows.get(worker);
    const id = draft.id ?? `01ARZ3NDEKTSV4RRFF${head}`;
    const record = {
      seq: head,
      id,
      stream: draft.stream,
      version: row === undefined ? 1 : row.version + 1,
      type: draft.type,
      recorded_at,
      worker_id: worker,
      incarnation: draft.incarnation,
      correlation_id: draft.correlation_id ?? worker ?? id,
      causation_id: draft.causation_id ?? id,
      payload: draft.payload,
    } as LogRecord;
    kept[head % KEPT_MAX_RECORDS] = record;
    if (row !== undefined) fold(row, record);
    else if (draft.type === "worker_spawn_requested" && worker !== undefined)
      rows.set(worker, newRow(worker, draft));
    if (draft.type === "worker_started") onStarted();
    return record;
  };

  return {
    store_id: "memory",
    epoch: "memory",
    former: [],
    head: () => head,
    append: (drafts) => drafts.map(append),
    commit: async (drafts) => drafts.map(append),
    messagesEnd: () => undefined,
    heartbeat: () => undefined,
    beat: () => undefined,
    card: () => undefined,
    cards: () => [],
    freeCards: () => [],
    waitingCards: () => [],
    lanesOf: () => ({}),
    boards: () => [],
    boardSettings: () => [],
    holdsOf: () => [],
    holds: () => [],
    mail: () => [],
    mailIn: () => [],
    allMail: () => [],
    isMailReader: () => false,
    openApprovals: () => [],
    approval: () => undefined,
    approvals: () => [],
    approvalsWithPrefix: () => [],
    worker: (id) => rows.get(id),
    standing: () => undefined,
    workers: () => [...rows.values()],
    living: () => [...rows.values()],
    workersUnder: () => [],
    spawnedBy: () => [],
    countWorkers: () => rows.size,
    daemonStream: () => [],
    checkAside: notKept,
    rebuildAside: notKept,
    subtree: () => undefined,
    search: notKept,
    usageAside: notKept,
    gc: notKept,
    look: () => undefined,
    trouble: () => undefined,
    trees: () => [],
    item: () => undefined,
    items: () => [],
    itemsWithPrefix: () => [],
    itemsAfter: () => [],
    countItems: () => 0,
    namespaces: () => [],
    schedule: () => undefined,
    schedulesAfter: () => [],
    tokens: () => [],
    peers: () => [],
    auditHead: () => ({ entries: 0, hash: "0".repeat(64) }),
    named: () => [],
    newestNames: () => [],
    withPrefix: () => [],
    byId: () => undefined,
    checkpoints: () => [],
    stream: () => [],
    treeStream: () => [],
    turns: () => [],
    message: () => undefined,
    messages: () => [],
    openMessages: () => [],
    seqAt: notKept,
    // Nothing of an earlier daemon is there.
    read: () => ({ records: [], scanned: head }),
    readLines: notKept,
    onCommit: () => () => undefined,
    rebuild: notKept,
    check: notKept,
    held: () => 0,
    close: () => undefined,
  };
};

const notKept = (): never => {
  throw new Error("The bench keeps no log to be read.");
};
