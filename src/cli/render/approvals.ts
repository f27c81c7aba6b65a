/** The table of `agent approvals`, and its words for an answer. */
import { argumentOf } from "../../protocol/permission-rules.ts";
import type { ApprovalView, ApprovedReply } from "../../runtime/replies.ts";
import { oneLine, type Paint, type Tone, table } from "./terminal.ts";
import { duration } from "./units.ts";

const TONES: Readonly<Record<ApprovalView["state"], Tone>> = {
  open: "warn",
  allowed: "good",
  denied: "bad",
  withdrawn: "dim",
};

/** It is the last column: a terminal cuts it at its edge, and a pipe gets it whole. */
const WHAT_MAX_CHARS = 16_384;

/** If it was left out, the agent's own words are all there is. */
const what = ({ title, input }: ApprovalView): string =>
  oneLine(
    argumentOf(input) ?? `${title} (the agent's words; what it would be called with is not kept)`,
    WHAT_MAX_CHARS,
  );

const how = (row: ApprovalView, now: number): string =>
  row.expires_at === null
    ? row.state === "open"
      ? "waits"
      : `${row.state}${row.by === null ? "" : ` by ${oneLine(row.by)}`}`
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
  const head = ["ID", "WORKER", "TOOL", "AGE", "", "WHAT"].map((cell) => paint("dim", cell));
  const rows = approvals.map((row) => [
    row.approval_id,
    oneLine(row.worker ?? row.worker_id, 30),
    oneLine(row.tool ?? "?", 30),
    duration(Math.max(0, now - Date.parse(row.requested_at))),
    paint(TONES[row.state], how(row, now)),
    what(row),
  ]);
  return table([head, ...rows], { fit: columns });
};

export const approvedText = (
  { decision, effect, tool, what: about }: ApprovedReply,
  { paint }: { readonly paint: Paint },
): string => {
  const said = decision === "allow" ? "allowed" : "denied";
  const was = `${said}${effect === "noop" ? " before" : ""}`;
  return `${was}: ${oneLine(tool ?? "a tool")}  ${paint("dim", oneLine(about, WHAT_MAX_CHARS))}`;
};
