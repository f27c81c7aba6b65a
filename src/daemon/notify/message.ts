/** A notification as its targets get it. Pure. */
import type { PendingNotice } from "../../control/notify/outbox.ts";
import type { HoldAnswer } from "../../protocol/holds.ts";
import type { NoticeKind } from "../../protocol/notifications.ts";

/** A way to answer the question: whoever opens the address may give this answer, once. */
export interface AnswerUrl {
  readonly answer: HoldAnswer;
  readonly url: string;
}

export type OutgoingNotice = Pick<PendingNotice, "notice" | "earlier"> & {
  readonly answers: readonly AnswerUrl[];
};

/** The JSON of webhooks and programs. `id` is the same at each attempt, and after a crash of the daemon. */
export const messageOf = ({ notice, earlier, answers }: OutgoingNotice) => ({
  type: `holdfast.${notice.kind}`,
  timestamp: notice.at,
  data: {
    id: notice.id,
    kind: notice.kind,
    host: notice.host ?? null,
    title: notice.title,
    text: textOf({ notice, earlier }),
    worker_id: notice.subject.worker_id,
    name: notice.subject.name,
    labels: notice.subject.labels,
    question: notice.asks?.hold ?? null,
    answers,
    command: notice.command,
  },
});

const textOf = ({ notice, earlier }: Pick<OutgoingNotice, "notice" | "earlier">): string =>
  earlier === 0 ? notice.text : `${notice.text} (and ${earlier} before it)`;

/** ntfy's priorities: 5 breaks through a phone's silence, 3 is usual, 2 makes no sound. */
const PRIORITIES: Readonly<Record<NoticeKind, number>> = {
  approval: 4,
  question: 4,
  budget: 4,
  failed: 4,
  parked: 4,
  rate_limit: 2,
  completed: 3,
  daemon: 5,
};

/** ntfy shows at most three. */
const NTFY_ACTIONS_MAX = 3;

/** ntfy's own JSON, with a button for each answer. */
export const ntfyMessageOf = ({ notice, earlier, answers }: OutgoingNotice, topic: string) => ({
  topic,
  title: notice.title,
  message: textOf({ notice, earlier }),
  priority: PRIORITIES[notice.kind],
  tags: [notice.kind],
  sequence_id: notice.id,
  actions: answers.slice(0, NTFY_ACTIONS_MAX).map(({ answer, url }) => ({
    action: "http",
    label: `${answer.slice(0, 1).toUpperCase()}${answer.slice(1)}`,
    url,
    method: "POST",
    clear: true,
  })),
});
