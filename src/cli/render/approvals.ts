/** What `agent approvals` shows, and what it says of an answer. */
import { argumentOf } from "../../protocol/permission-rules.ts";
import type { ApprovalView, ApprovedReply } from "../../supervisor/replies.ts";
import { oneLine, type Paint, type Tone, table } from "./terminal.ts";
import { duration } from "./units.ts";

const TONES: Readonly<Record<ApprovalView["state"], Tone>> = {
  open: "warn",
  allowed: "good",
  denied: "bad",
  withdrawn: "dim",
};

const WHAT_COLUMNS = 70;

const what = ({ title, input }: ApprovalView): string => oneLine(argumentOf(input) ?? title, WHAT_COLUMNS);

const how = (row: ApprovalView, now: number): string =>
  row.expires_at === null
    ? `${row.state}${row.by === null ? "" : ` by ${oneLine(row.by)}`}`
    : `${row.otherwise === "deny" ? "denied" : "allowed"} in ${duration(Math.max(0, Date.parse(row.expires_at) - now))}`;

export const approvalsText = (
  { approvals }: { readonly approvals: readonly ApprovalView[] },
  {
    paint,
    now,
    columns,
  }: { readonly paint: Paint; readonly now: number; readonly columns?: number | undefined },
): string => {
  if (approvals.length === 0) return "";
  const head = ["ID", "WORKER", "TOOL", "WHAT", "AGE", ""].map((cell) => paint("dim", cell));
  const rows = approvals.map((row) => [
    row.approval_id,
    oneLine(row.worker ?? row.worker_id, 30),
    oneLine(row.tool ?? "?", 30),
    what(row),
    duration(Math.max(0, now - Date.parse(row.requested_at))),
    paint(TONES[row.state], how(row, now)),
  ]);
  return table([head, ...rows], columns);
};

export const approvedText = (
  { decision, effect }: ApprovedReply,
  { paint }: { readonly paint: Paint },
): string => {
  const said = decision === "allow" ? "allowed" : "denied";
  return paint("dim", effect === "noop" ? `${said} before` : said);
};
