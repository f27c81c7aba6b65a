/** Sentences about records of the control plane: tokens, schedules, boards, the blackboard and mailboxes. */
import { MAILBOX_ATTEMPTS_MAX } from "../../base/limits.ts";
import type { RecordType } from "../../protocol/records.ts";
import {
  bad,
  because,
  bySomebody,
  dim,
  good,
  type Payload,
  plain,
  quiet,
  type Sentence,
  warn,
} from "./sentence.ts";
import { oneLine } from "./terminal.ts";
import { count, duration } from "./units.ts";

type ControlRecord = Extract<
  RecordType,
  | `token_${string}`
  | `schedule_${string}`
  | `issue.${string}`
  | `board_${string}`
  | `bb_${string}`
  | `mailbox_${string}`
>;

export const CONTROL_SENTENCES: { readonly [T in ControlRecord]: (payload: Payload<T>) => Sentence } = {
  token_created: ({ expires_at, by }) =>
    good(
      `token made by ${oneLine(by)}, ${expires_at === null ? "which never expires" : `until ${expires_at}`}`,
    ),
  token_revoked: ({ by }) => warn(`token revoked by ${oneLine(by)}`),
  token_expired: () => dim("token expired"),
  schedule_set: ({ plan, by }) =>
    plain(`schedule set by ${oneLine(by)}: ${oneLine(plan.cron)} ${plan.zone}, overlap ${plan.overlap}`),
  schedule_removed: ({ by }) => plain(`schedule removed by ${oneLine(by)}`),
  schedule_paused: ({ by }) => warn(`schedule paused by ${oneLine(by)}`),
  schedule_resumed: ({ by }) => good(`schedule resumed by ${oneLine(by)}`),
  schedule_due: ({ due_at, cause, by }) =>
    plain(cause === "asked" ? `run asked for by ${oneLine(by)}` : `run of ${due_at} is ${cause}`),
  schedule_started: ({ worker_id }) => good(`run started: worker ${worker_id}`),
  schedule_failed: ({ error }) => bad(`run could not start: ${oneLine(error.message)}`),
  schedule_skipped: ({ from, through, count: times, reason }) =>
    warn(
      `${times === null ? "many runs" : count(times, "run")} skipped (${reason}): ${from}${from === through ? "" : ` to ${through}`}`,
    ),
  schedule_rewound: ({ from, at }) => warn(`the wall clock was set back: counts from ${at}, not ${from}`),
  schedule_summed: ({ schedule: { runs } }) => quiet(dim(`schedule summed up: ${count(runs, "run")}`)),
  "issue.discovered": ({ issue_id, title }) => plain(`card ${oneLine(issue_id)}${because(title)}`),
  "issue.claimed": ({ issue_id, by, attempt }) =>
    attempt === null
      ? plain(`card ${oneLine(issue_id)} claimed by ${oneLine(by)}`)
      : quiet(dim(`card ${oneLine(issue_id)} taken for try ${attempt}`)),
  "issue.dispatched": ({ issue_id, agent_id, attempt }) =>
    plain(`card ${oneLine(issue_id)} runs as worker ${agent_id}, try ${attempt}`),
  "issue.retry_queued": ({ issue_id, delay_ms, reason }) =>
    warn(
      `card ${oneLine(issue_id)} is tried again ${delay_ms === 0 ? "at once" : `after ${duration(delay_ms)}`}${because(reason)}`,
    ),
  "issue.released": ({ issue_id, by, reason }) =>
    warn(`card ${oneLine(issue_id)} released by ${oneLine(by)}${because(reason)}`),
  "issue.blocked": ({ issue_id, reason }) => bad(`card ${oneLine(issue_id)} is blocked${because(reason)}`),
  "issue.handoff": ({ issue_id, note }) =>
    good(`card ${oneLine(issue_id)} waits for a review${because(note ?? "")}`),
  "issue.done": ({ issue_id, by, note }) =>
    good(`card ${oneLine(issue_id)} done, by ${oneLine(by)}${because(note ?? "")}`),
  board_configured: ({ slots, spec, by }) =>
    plain(
      `${slots === 0 ? "dispatches no more cards" : `dispatches to ${spec.kind} in ${count(slots, "slot")}`}, by ${oneLine(by)}`,
    ),
  bb_posted: ({ item_id, title, body, by }) =>
    plain(`item ${item_id} posted by ${oneLine(by)}${because(title ?? body ?? "")}`),
  bb_claimed: ({ item_id, by, lease_ms }) =>
    good(`item ${item_id} claimed by ${oneLine(by)} for ${duration(lease_ms)}`),
  bb_extended: ({ item_id, by, lease_ms }) =>
    dim(`lease of item ${item_id} extended by ${oneLine(by)} to ${duration(lease_ms)} from now`),
  bb_released: ({ item_id, by, done }) =>
    plain(`item ${item_id} ${done ? "done" : "released"} by ${oneLine(by)}`),
  bb_expired: ({ item_id, what }) =>
    warn(
      what === "lease"
        ? `lease of item ${item_id} is over: it is free again`
        : `item ${item_id} is past its time to live`,
    ),
  mailbox_sent: ({ message_id, type, from, by }) =>
    plain(`${type} ${message_id} in its mailbox, from ${oneLine(from)}${bySomebody(by)}`),
  mailbox_delivered: ({ message_id, attempt, lease_ms, by }) =>
    dim(
      `message ${message_id} delivered to ${oneLine(by)} for ${duration(lease_ms)}, attempt ${attempt} of ${MAILBOX_ATTEMPTS_MAX}`,
    ),
  mailbox_extended: ({ message_id, lease_ms }) =>
    quiet(dim(`lease of message ${message_id} extended by ${duration(lease_ms)}`)),
  mailbox_acked: ({ message_id, by }) => dim(`message ${message_id} acknowledged by ${oneLine(by)}`),
  mailbox_nacked: ({ message_id, by, note }) =>
    warn(`message ${message_id} given back by ${oneLine(by)}${because(note)}`),
  mailbox_died: ({ message_id, cause }) =>
    bad(
      `message ${message_id} is a dead letter: ${cause === "expired" ? "its time to live is over" : `${MAILBOX_ATTEMPTS_MAX} deliveries, and none was acknowledged`}`,
    ),
  mailbox_resent: ({ message_id, by }) => plain(`message ${message_id} sent again by ${oneLine(by)}`),
  mailbox_dropped: ({ message_id, by, why }) =>
    warn(
      `message ${message_id} dropped${why === "room" ? " as the oldest dead letter of a full mailbox" : why === "answered" ? ": its asker has it" : ` by ${oneLine(by)}`}`,
    ),
};
