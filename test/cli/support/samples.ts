/** A worker and records as a daemon sends them. */
import type { Replies } from "../../../src/daemon/replies.ts";
import { cursorOf } from "../../../src/protocol/cursor.ts";
import type { LogRecord, RecordPayloads, RecordType } from "../../../src/protocol/records.ts";
import type { WorkerView } from "../../../src/runtime/api.ts";

/** A daemon's answer at the end of a watch. */
export const watched = (next: number, records: number): Replies["agent/watch"] => ({
  next,
  records,
  cursor: cursorOf("0123456789abcdef", next),
});

export const ID = "01KXA0000000000000000000AA";
export const clock = { boot_id: "b", mono_ns: "1" };
const identity = { pid: 4242, start_time: "1", boot_id: "b", pid_ns: "1" };

export const worker = (changes: Partial<WorkerView> = {}): WorkerView => ({
  id: ID,
  name: "fixer",
  kind: "command",
  task: "sh -c 'echo hi; exit 3'",
  status: "running",
  state: "running",
  reason: "",
  incarnation: 2,
  restarts: 1,
  pid: 4242,
  pgid: 4241,
  backend_kind: "subprocess",
  supervisor: "root",
  parent: null,
  session_id: null,
  labels: {},
  created_at: "2026-11-20T12:00:00.000Z",
  started_at: "2026-11-20T12:00:01.000Z",
  ended_at: null,
  heartbeat_at: "2026-11-20T12:00:05.000Z",
  exit_code: null,
  signal: null,
  error: null,
  turns: 0,
  usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, cost_usd: null },
  tool_calls: 0,
  turn_ms: 0,
  unpriced_turns: 0,
  ...changes,
});

export const record = <T extends RecordType>(
  type: T,
  payload: RecordPayloads[T],
  changes: Partial<LogRecord> = {},
): LogRecord =>
  ({
    seq: 1,
    id: "01KXB0000000000000000000CC",
    stream: `worker:${ID}`,
    version: 1,
    type,
    recorded_at: "2026-11-20T12:00:00.123Z",
    worker_id: ID,
    incarnation: 1,
    correlation_id: "c",
    causation_id: "c",
    payload,
    ...changes,
  }) as LogRecord;

export const said = (text: string, channel = "stdout"): LogRecord =>
  record("agent.event", { agent_kind: "command", kind: "TextOutput", channel, text });

export const lifecycle: readonly LogRecord[] = [
  record("worker_state_changed", { from: "pending", to: "starting", reason: "spawned", clock }),
  record("worker_spawned", {
    pid: 4242,
    pgid: 4241,
    agent: identity,
    launcher: identity,
    argv: ["sh", "-c", "echo hi; exit 3"],
    clock,
  }),
  said("hi\n"),
  record("worker_exited", {
    exit_code: 3,
    signal: null,
    signal_inferred: false,
    raw_status: 3,
    reason: "exited",
    duration_ms: 1234,
    clock,
  }),
  record("worker_failed", { error: { code: "AGENT_FAILED", message: "The program exited with code 3." } }),
  record("worker_restart_scheduled", {
    delay_ms: 1000,
    restarts_in_window: 1,
    max_restarts: 3,
    period_ms: 60_000,
    reason: "failed",
    clock,
  }),
].map((each, index) => ({ ...each, seq: index + 1 }));
