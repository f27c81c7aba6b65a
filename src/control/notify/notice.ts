/** One record as a notification: whether a person should hear of it, and in which words. Pure. */
import { formatDuration, formatSize } from "../../base/durations.ts";
import { NOTIFY_TEXT_MAX_CHARS, NOTIFY_TITLE_MAX_CHARS } from "../../base/limits.ts";
import { HOLD_ANSWERS, type HoldAnswer, holdNameOf } from "../../protocol/holds.ts";
import type { NoticeKind } from "../../protocol/notifications.ts";
import { permissionFor } from "../../protocol/permission-rules.ts";
import type { LogRecord, RecordPayloads, RecordType } from "../../protocol/records.ts";
import { RESTART_RATE_LIMITED, restartCause } from "../../protocol/restart-cause.ts";
import { argumentOf } from "../../protocol/tool-arguments.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";

/** The subject of a record: a worker, a supervisor, or the daemon. */
export interface NoticeSubject {
  /** Null for a supervisor, and for the daemon. */
  readonly worker_id: string | null;
  /** The worker's name or id, or the supervisor's path; null for the daemon. */
  readonly name: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** Names, ids and paths by which `under` may mean it: its own, its supervisors', and those of the workers above it. */
  readonly within: readonly string[];
  /** An agent has spawned it. */
  readonly is_spawned: boolean;
  readonly rules: Pick<WorkerSpec, "permission" | "permission_rules">;
  /** The error with which it ended last; null if there is none. */
  readonly error: string | null;
}

export interface Notice {
  /** That of its record, so it is the same after a crash of the daemon. */
  readonly id: string;
  readonly kind: NoticeKind;
  /** The host of its record; undefined for this one. */
  readonly host?: string;
  /** RFC 3339: when it was recorded. */
  readonly at: string;
  readonly subject: Omit<NoticeSubject, "rules" | "error">;
  readonly title: string;
  readonly text: string;
  /** The open question, by its name in the inbox, and its answers; null if nothing is asked. */
  readonly asks: { readonly hold: string; readonly answers: readonly HoldAnswer[] } | null;
  /** The command that shows more. */
  readonly command: string;
}

/** The records that may be notifications. */
export const NOTICE_TYPES = [
  "approval_requested",
  "worker_question",
  "worker_limit_reached",
  "worker_ended",
  "worker_restart_scheduled",
  "supervisor_escalated",
  "daemon_started",
  "daemon_defect",
] as const satisfies readonly RecordType[];

type NoticeWords = Pick<Notice, "kind" | "title" | "text" | "command"> & Partial<Pick<Notice, "asks">>;

/**
 * A text of an agent as one line of bounded length. Characters that nobody sees, or that turn the direction of a line, could
 * show another command than the one that is asked for.
 */
export const plain = (text: string, chars: number): string => {
  const line = text.replace(/\s+/gu, " ").replace(/[\p{Cc}\p{Cf}]/gu, "\ufffd");
  return line.length <= chars ? line : `${line.slice(0, chars - 1)}…`;
};

/** Undefined if nobody is told: a rule answers by itself, or the record says nothing that a person waits for. */
export const noticeOf = (record: LogRecord, about: NoticeSubject): Notice | undefined => {
  const { rules: _, error: __, ...subject } = about;
  const told = toldBy(record, about);
  if (told === undefined) return undefined;
  return {
    id: record.id,
    at: record.recorded_at,
    subject,
    asks: null,
    ...told,
    title: plain(told.title, NOTIFY_TITLE_MAX_CHARS),
    text: plain(told.text, NOTIFY_TEXT_MAX_CHARS),
  };
};

const toldBy = (
  record: LogRecord,
  { worker_id, name, rules, error }: NoticeSubject,
): NoticeWords | undefined => {
  const who = name ?? worker_id ?? "The daemon";
  switch (record.type) {
    case "approval_requested":
      return asking(record.payload, who, rules);
    case "worker_question":
      return questioning(record.payload, who, worker_id);
    case "worker_limit_reached":
      return spending(record.payload, who);
    case "worker_ended":
      return ending(record.payload, who, error);
    case "worker_restart_scheduled":
      return restartCause(record.payload) === RESTART_RATE_LIMITED
        ? {
            kind: "rate_limit",
            title: `${who} waits for its provider`,
            text: `The rate limit is reached. It goes on in ${formatDuration(record.payload.delay_ms)}.`,
            command: `agent why ${who}`,
          }
        : undefined;
    case "supervisor_escalated":
      return record.payload.action === "park" ? parking(record.payload) : undefined;
    case "daemon_started":
      return record.payload.start === "after_crash"
        ? {
            kind: "daemon",
            title: "The daemon died and runs again",
            text: "Its agents ran on, and the new daemon supervises them.",
            command: "agent doctor",
          }
        : undefined;
    case "daemon_defect":
      return {
        kind: "daemon",
        title: "The daemon contained a defect",
        text: `${record.payload.where}: ${record.payload.error}`,
        command: "agent doctor",
      };
    default:
      return undefined;
  }
};

const asking = (
  asked: RecordPayloads["approval_requested"],
  who: string,
  { permission, permission_rules }: NoticeSubject["rules"],
): NoticeWords | undefined => {
  if (permissionFor(asked, permission_rules, permission) !== "ask") return undefined;
  const { approval_id, tool, title, input } = asked;
  return {
    kind: "approval",
    title: `${who} asks for ${tool ?? "a tool"}`,
    text: argumentOf(input) ?? title,
    asks: { hold: approval_id, answers: HOLD_ANSWERS.approval },
    command: `agent answer ${approval_id} allow`,
  };
};

const questioning = (
  asked: RecordPayloads["worker_question"],
  who: string,
  worker_id: string | null,
): NoticeWords => {
  // A placed worker asks in its own stream about the budget of its file; a supervisor has no worker.
  const subject = worker_id ?? (asked.about === "budget" ? asked.owner : who);
  const hold = holdNameOf(subject, { reason: asked.about, id: asked.question_id });
  const more = {
    asks: { hold, answers: asked.answers },
    command: `agent answer ${hold} ${asked.answers[0]}`,
  };
  switch (asked.about) {
    case "stall":
      return {
        kind: "question",
        title: `Is ${who} stuck?`,
        text: `It has made no progress for ${formatDuration(asked.idle_ms)}. Without an answer it is stopped in ${formatDuration(asked.answer_within_ms)}.`,
        ...more,
      };
    case "interrupted":
      return {
        kind: "question",
        title: `Should ${who} go on?`,
        text:
          asked.tools.length === 0
            ? "Its turn was interrupted."
            : `Its turn was interrupted while ${asked.tools.join(", ")} ran, which may run again.`,
        ...more,
      };
    case "budget":
      return {
        kind: "budget",
        title: `May ${who} spend more?`,
        text: `${amountOf(asked.limit, asked.value)} of ${amountOf(asked.limit, asked.bound)} is spent. Its workers are paused until you answer.`,
        ...more,
      };
  }
};

type NoticeLimit = RecordPayloads["worker_limit_reached"];

const BUDGET_LIMITS: readonly NoticeLimit["limit"][] = [
  "turns",
  "tokens",
  "usd",
  "wall",
  "restarts",
  "output_bytes",
];

const spending = ({ limit, value, bound, owner }: NoticeLimit, who: string): NoticeWords | undefined =>
  BUDGET_LIMITS.includes(limit)
    ? {
        kind: "budget",
        title: `${who} has spent its budget`,
        text: `${amountOf(limit, value)} of ${amountOf(limit, bound)}${owner === undefined ? "" : `, the budget of ${owner}`}. It is stopped.`,
        command: `agent why ${who}`,
      }
    : undefined;

const ENDS = {
  failed: { kind: "failed", word: "failed" },
  parked: { kind: "parked", word: "gave up" },
  completed: { kind: "completed", word: "is done" },
} as const;

/** A worker that was ended by name is no news to the person who ended it. */
const ending = (
  { state, reason }: RecordPayloads["worker_ended"],
  who: string,
  error: string | null,
): NoticeWords | undefined =>
  state === "cancelled"
    ? undefined
    : {
        kind: ENDS[state].kind,
        title: `${who} ${ENDS[state].word}`,
        text: state === "completed" ? reason : (error ?? reason),
        command: state === "completed" ? `agent output ${who}` : `agent why ${who}`,
      };

const parking = ({
  supervisor,
  child,
  max_restarts,
  period_ms,
}: RecordPayloads["supervisor_escalated"]): NoticeWords => ({
  kind: "parked",
  title: `${supervisor} gave up`,
  text: `More than ${max_restarts} restarts in ${formatDuration(period_ms)}${child === undefined ? "" : `, the last of ${child}`}.`,
  command: `agent why ${supervisor}`,
});

/** A figure of a limit with its unit. */
const amountOf = (limit: NoticeLimit["limit"], value: number): string => {
  if (limit === "usd") return `$${value.toFixed(2)}`;
  if (limit === "wall") return formatDuration(value);
  if (limit === "output_bytes") return `${formatSize(value)} of output`;
  return `${value.toLocaleString("en")} ${limit}`;
};
