/**
 * Holds: a hold is a place at which a worker or its agent waits for an answer. One concept covers a permission request, a
 * stalled agent, an interrupted turn, a spent budget, a pause and an idle conversation at rest. Records open and close
 * holds; only `foldHolds` says which. The running daemon, a boot and the projection all use it. Pure.
 */
import type { PauseReason, RecordDraft, RecordPayloads, RecordType } from "./records.ts";

type QuestionRecord<About> = Extract<RecordPayloads["worker_question"], { readonly about: About }>;

/** `id` is unique among the open holds of one stream. */
export type Hold =
  /** The agent asks for permission to call a tool. */
  | {
      readonly reason: "approval";
      readonly id: string;
      readonly tool: string | null;
      readonly title: string;
    }
  /** The agent has made no progress for its stall time. Without an answer it is stopped. */
  | {
      readonly reason: "stall";
      readonly id: string;
      readonly idle_ms: number;
      readonly within_ms: number;
    }
  /** The agent ended during a turn. */
  | {
      readonly reason: "interrupted";
      readonly id: string;
      readonly tools: readonly string[];
      readonly session_id: string | null;
    }
  /** A budget is spent. The hold is in the stream of the budget's owner; each worker that it stops has a pause of its own. */
  | ({ readonly reason: "budget"; readonly id: string } & Pick<
      QuestionRecord<"budget">,
      "owner" | "limit" | "value" | "bound"
    >)
  /** All processes of the incarnation stand still. */
  | {
      readonly reason: "pause";
      readonly id: PauseReason;
      /** A sentence for people; empty if the reason says it all. */
      readonly detail: string;
      /** The question of the budget that caused this pause. */
      readonly question_id?: string;
    }
  /** The agent ended in order; the next message starts it. */
  | { readonly reason: "passivated"; readonly id: "passivated" }
  /** No node of the cluster has the labels that a placed worker needs. It is in no log: it stands in the row of its placement. */
  | {
      readonly reason: "placement";
      readonly id: "placement";
      readonly needs: Readonly<Record<string, string>>;
    };

export type HoldReason = Hold["reason"];
export type HoldOf<Reason extends HoldReason> = Extract<Hold, { readonly reason: Reason }>;

/** The name of a hold in the inbox, as `agent answer` takes it. A request for permission has a name of its own. */
export const holdNameOf = (subject: string, { reason, id }: Pick<Hold, "reason" | "id">): string =>
  reason === "approval" ? id : `${subject}:${id}`;

/** The answers that each hold accepts. A hold without answers ends by a message, by free disk space, or by the answer to its budget's question. */
export const HOLD_ANSWERS = {
  approval: ["allow", "deny"],
  stall: ["wait", "restart", "kill"],
  interrupted: ["continue", "fresh", "stop"],
  budget: ["continue", "stop"],
  pause: ["continue"],
  passivated: [],
  placement: ["wait", "anywhere", "kill"],
} as const satisfies Readonly<Record<HoldReason, readonly string[]>>;

export type HoldAnswer = (typeof HOLD_ANSWERS)[HoldReason][number];

export const HOLD_REASONS = Object.keys(HOLD_ANSWERS) as readonly HoldReason[];
/** All answers, without duplicates. */
export const ANSWERS = [...new Set(Object.values(HOLD_ANSWERS).flat())] as readonly HoldAnswer[];

/** A pause for output, disk or a budget accepts no answer of its own. */
export const answersOf = (hold: Hold): readonly HoldAnswer[] =>
  hold.reason === "pause" && hold.id !== "operator" ? [] : HOLD_ANSWERS[hold.reason];

export const NO_HOLDS: readonly Hold[] = [];

/** The open hold with this reason; a worker has at most one. */
export const holdOf = <Reason extends Exclude<HoldReason, "approval" | "pause">>(
  holds: readonly Hold[],
  reason: Reason,
): HoldOf<Reason> | undefined => holds.find((hold): hold is HoldOf<Reason> => hold.reason === reason);

/** The open pauses of an incarnation, oldest first, at most one for each reason. */
export const pausesIn = (holds: readonly Hold[]): readonly HoldOf<"pause">[] =>
  holds.filter((hold) => hold.reason === "pause");

/** The records that open or close a hold; most records do neither. */
const CHANGES_HOLDS = {
  approval_requested: true,
  approval_answered: true,
  approval_withdrawn: true,
  worker_question: true,
  worker_answered: true,
  worker_question_withdrawn: true,
  worker_paused: true,
  worker_unpaused: true,
  worker_limit_reached: true,
  worker_cancel_requested: true,
  worker_state_changed: true,
  worker_exited: true,
  worker_restart_scheduled: true,
  worker_ended: true,
  tree_removed: true,
} as const satisfies Partial<Record<RecordType, true>>;

type HoldRecord = Extract<RecordDraft, { readonly type: keyof typeof CHANGES_HOLDS }>;

export const mayChangeHolds = (record: RecordDraft): record is HoldRecord =>
  Object.hasOwn(CHANGES_HOLDS, record.type);

/** The open holds of a stream after one of its records; the same array if the record changes none. */
export const foldHolds = (holds: readonly Hold[], record: RecordDraft): readonly Hold[] => {
  if (!mayChangeHolds(record)) return holds;
  const opened = openedBy(record, holds);
  if (opened !== undefined) return holds.some(({ id }) => id === opened.id) ? holds : [...holds, opened];
  if (holds.length === 0) return holds;
  const left = holds.filter((hold) => !isClosed(hold, record));
  return left.length === holds.length ? holds : left;
};

const openedBy = (record: HoldRecord, holds: readonly Hold[]): Hold | undefined => {
  switch (record.type) {
    case "approval_requested": {
      const { approval_id, tool, title } = record.payload;
      return { reason: "approval", id: approval_id, tool, title };
    }
    case "worker_question":
      return askedBy(record.payload);
    case "worker_paused": {
      const { reason: id, detail, question_id } = record.payload;
      return { reason: "pause", id, detail, ...(question_id === undefined ? {} : { question_id }) };
    }
    case "worker_state_changed": {
      const rests = record.payload.to === "waiting" && holdOf(holds, "interrupted") === undefined;
      return rests ? { reason: "passivated", id: "passivated" } : undefined;
    }
    default:
      return undefined;
  }
};

const askedBy = (asked: RecordPayloads["worker_question"]): Hold => {
  const { question_id: id } = asked;
  switch (asked.about) {
    case "stall":
      return { reason: "stall", id, idle_ms: asked.idle_ms, within_ms: asked.answer_within_ms };
    case "interrupted":
      return { reason: "interrupted", id, tools: asked.tools, session_id: asked.session_id };
    case "budget": {
      const { owner, limit, value, bound } = asked;
      return { reason: "budget", id, owner, limit, value, bound };
    }
  }
};

const isClosed = (hold: Hold, record: HoldRecord): boolean => {
  switch (record.type) {
    case "approval_answered":
    case "approval_withdrawn":
      return hold.reason === "approval" && hold.id === record.payload.approval_id;
    case "worker_answered":
    case "worker_question_withdrawn":
      return hold.id === record.payload.question_id;
    case "worker_unpaused":
      return hold.reason === "pause" && hold.id === record.payload.reason;
    // The question was not answered in time, or the worker was stopped.
    case "worker_limit_reached":
    case "worker_cancel_requested":
      return hold.reason === "stall";
    case "worker_state_changed":
      return endsAt(hold.reason, record.payload.to);
    case "worker_exited":
      return hold.reason === "approval" || hold.reason === "stall" || hold.reason === "pause";
    case "worker_restart_scheduled":
      return hold.reason === "passivated" || hold.reason === "interrupted";
    // The hold of a budget stays: other workers count in the budget.
    case "worker_ended":
      return hold.reason !== "budget";
    case "tree_removed":
      return true;
    default:
      return false;
  }
};

/** A pause ends when its worker starts or stops. A rest or an interruption ends when its worker no longer waits. */
const endsAt = (reason: HoldReason, to: RecordPayloads["worker_state_changed"]["to"]): boolean =>
  reason === "pause"
    ? to === "starting" || to === "stopping"
    : (reason === "passivated" || reason === "interrupted") && to !== "waiting";
