/** The table of `agent approvals`, and the text of an answer. */
import { argumentOf } from "../../protocol/tool-arguments.ts";
import type { ApprovalView, ApprovedReply } from "../../runtime/replies.ts";
import { oneLine, type Paint, type Tone, table } from "./terminal.ts";
import { duration } from "./units.ts";

const TONES: Readonly<Record<ApprovalView["state"], Tone>> = {
  open: "warn",
  allowed: "good",
  denied: "bad",
  withdrawn: "dim",
};

/** The last column: a terminal cuts it at its edge; a pipe gets all of it. */
const WHAT_MAX_CHARS = 16_384;

/** The argument of the call; if the input is missing, the agent's own description. */
const what = ({ title, input }: ApprovalView): string =>
  oneLine(argumentOf(input) ?? `${title} (the agent's words; its input is not kept)`, WHAT_MAX_CHARS);

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
