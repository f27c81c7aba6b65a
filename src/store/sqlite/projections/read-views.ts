/**
 * Views for programs of others that read the database (docs/reference/read-views.md). A view of version 1 keeps its columns and
 * their meaning while the tables below it change; new columns come at its end.
 */
const VIEWS = {
  v1_records: `SELECT seq, id, stream, version, type, recorded_at AS recorded_at_ms, worker_id, incarnation, correlation_id,
    causation_id, payload FROM records`,
  v1_workers: `SELECT id, name, kind, state, reason, supervisor, parent, incarnation, restarts, pid, backend_kind, session_id,
    exit_code, signal, error, turns, tool_calls, turn_ms, input_tokens, cached_tokens, output_tokens, reasoning_tokens, cost_usd,
    estimated_usd, unpriced_turns, archived, created_at, started_at, ended_at, last_seq FROM p_workers`,
  v1_labels: "SELECT worker_id, key, value FROM p_labels",
  v1_turns: `SELECT worker_id, incarnation, turn, started_at, ended_at, duration_ms, tool_calls, error FROM p_turns`,
  v1_usage: `SELECT worker_id, kind, model, ended_at, turns, tool_calls, duration_ms, input_tokens, cached_tokens,
    cache_write_tokens, output_tokens, reasoning_tokens, cost_usd, estimated_usd, unpriced FROM p_usage`,
  v1_approvals: `SELECT approval_id, worker_id, incarnation, tool, title, input, state, "by", message, requested_at, answered_at
    FROM p_approvals`,
} as const;

export const READ_VIEWS = Object.keys(VIEWS);

export const READ_VIEWS_SCHEMA = Object.entries(VIEWS)
  .map(([name, select]) => `CREATE VIEW ${name} AS ${select};\n`)
  .join("");
