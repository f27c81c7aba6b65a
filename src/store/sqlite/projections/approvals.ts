/**
 * Requests for permission, one row each. A request is open until it is answered or withdrawn, or its incarnation has ended.
 */
import type { Database } from "better-sqlite3";
import type { JsonValue, LogRecord } from "../../../protocol/records.ts";
import { workerOf } from "../../../protocol/records.ts";
import type { ApprovalRow } from "../../views.ts";
import type { Projection } from "./projection.ts";

export const APPROVALS_SCHEMA = `
  CREATE TABLE p_approvals (
    worker_id TEXT NOT NULL, approval_id TEXT NOT NULL, seq INTEGER NOT NULL, incarnation INTEGER NOT NULL,
    tool TEXT, tool_use_id TEXT, title TEXT NOT NULL, input TEXT NOT NULL, reply TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'open', "by" TEXT, message TEXT, requested_at TEXT NOT NULL, answered_at TEXT,
    PRIMARY KEY (worker_id, approval_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX p_approvals_open ON p_approvals (worker_id) WHERE state = 'open';
  CREATE INDEX p_approvals_id ON p_approvals (approval_id);
  CREATE INDEX p_approvals_order ON p_approvals (seq);
`;

export const approvals = (db: Database): Projection => {
  const request = db.prepare(
    `INSERT INTO p_approvals (worker_id, approval_id, seq, incarnation, tool, tool_use_id, title, input, reply, requested_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const end = db.prepare(
    `UPDATE p_approvals SET state = ?, "by" = ?, message = ?, answered_at = ?
     WHERE worker_id = ? AND approval_id = ? AND state = 'open'`,
  );
  const outlived = db.prepare(
    "UPDATE p_approvals SET state = 'withdrawn', answered_at = ? WHERE worker_id = ? AND state = 'open'",
  );

  const fold = (record: LogRecord): void => {
    const worker = workerOf(record.stream);
    if (worker === undefined) return;
    const { recorded_at: at } = record;
    switch (record.type) {
      case "approval_requested": {
        const { approval_id, tool, tool_use_id, title, input, reply } = record.payload;
        const asked = [tool, tool_use_id, title, JSON.stringify(input), JSON.stringify(reply)];
        request.run(worker, approval_id, record.seq, record.incarnation ?? 0, ...asked, at);
        return;
      }
      case "approval_answered": {
        const { approval_id, decision, by, message } = record.payload;
        const state = decision === "allow" ? "allowed" : "denied";
        end.run(state, by, message ?? null, at, worker, approval_id);
        return;
      }
      case "approval_withdrawn":
        end.run("withdrawn", null, null, at, worker, record.payload.approval_id);
        return;
      case "worker_exited":
        outlived.run(at, worker);
        return;
    }
  };
  return { fold, flush: () => {}, reset: () => {} };
};

type ApprovalColumns = Omit<ApprovalRow, "input" | "reply"> & {
  readonly input: string;
  readonly reply: string;
};

const show = (row: ApprovalColumns): ApprovalRow => ({
  ...row,
  input: JSON.parse(row.input) as JsonValue,
  reply: JSON.parse(row.reply) as JsonValue,
});

export const approvalRows = (db: Database) => {
  const open = db.prepare<[string], ApprovalColumns>(
    "SELECT * FROM p_approvals WHERE worker_id = ? AND state = 'open' ORDER BY seq",
  );
  const byId = db.prepare<[string], ApprovalColumns>("SELECT * FROM p_approvals WHERE approval_id = ?");
  const withPrefix = db.prepare<[string, string, number], ApprovalColumns>(
    "SELECT * FROM p_approvals WHERE approval_id >= ? AND approval_id < ? || '~' ORDER BY seq DESC LIMIT ?",
  );
  const ofOne = (isOpen: boolean) =>
    db.prepare<[string, number, number], ApprovalColumns>(
      `SELECT * FROM p_approvals WHERE worker_id = ? AND seq > ? ${isOpen ? "AND state = 'open'" : ""} ORDER BY seq LIMIT ?`,
    );
  const openOfOne = ofOne(true);
  const everOfOne = ofOne(false);
  const everywhere = db.prepare<[number, number], ApprovalColumns>(
    "SELECT * FROM p_approvals WHERE state = 'open' AND seq > ? ORDER BY seq LIMIT ?",
  );
  const ever = db.prepare<[number, number], ApprovalColumns>(
    "SELECT * FROM p_approvals WHERE seq > ? ORDER BY seq LIMIT ?",
  );
  return {
    open: (workerId: string): readonly ApprovalRow[] => open.all(workerId).map(show),
    one: (id: string): ApprovalRow | undefined => {
      const row = byId.get(id);
      return row && show(row);
    },
    withPrefix: (prefix: string, limit: number): readonly ApprovalRow[] =>
      withPrefix.all(prefix, prefix, limit).map(show),
    after: (seq: number, limit: number, isOpen: boolean, workerId?: string): readonly ApprovalRow[] =>
      (workerId === undefined
        ? (isOpen ? everywhere : ever).all(seq, limit)
        : (isOpen ? openOfOne : everOfOne).all(workerId, seq, limit)
      ).map(show),
  };
};
