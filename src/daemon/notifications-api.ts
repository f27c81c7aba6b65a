/** Notifications as handlers and HTTP see them, whether any target is configured or not. */
import { Effect } from "effect";
import type { Notice } from "../control/notify/notice.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { HoldAnswer } from "../protocol/holds.ts";
import type { NotifyListReply, NotifyResendReply, NotifyTestReply } from "../protocol/replies/notify.ts";

/** A link of a notification: one answer to one question, once. */
export interface AnswerLink {
  readonly target: string;
  /** The host on which it is asked; undefined for this one. */
  readonly host?: string | undefined;
  /** The name of the question in the inbox. */
  readonly hold: string;
  readonly answer: HoldAnswer;
  readonly title: string;
  readonly text: string;
}

export interface NotificationsApi {
  readonly list: Effect.Effect<NotifyListReply>;
  /** Fails with INVALID_REQUEST if there is no target, or none of this name. */
  test(target: string | undefined): Effect.Effect<NotifyTestReply, HoldfastError>;
  /** Sends again what was given up: these ids, or all. Fails with INVALID_REQUEST if an id is of none of them. */
  resend(ids: readonly string[] | "all"): Effect.Effect<NotifyResendReply, HoldfastError>;
  /** News that are in no log of this daemon. Nothing is sent without a target for them, or if `isMine` says no. */
  tell(notice: Notice, isMine: () => Promise<boolean>): Effect.Effect<void, HoldfastError>;
  /** The link of a token; undefined if there is none, if it was used, or if its time is over. */
  linkOf(token: string): AnswerLink | undefined;
  /** Gives the answer of a link, and uses up all links of its question. Undefined as for `linkOf`. */
  use(token: string): Effect.Effect<AnswerLink | undefined, HoldfastError>;
}

const noTargets = Effect.fail(
  new HoldfastError("INVALID_STATE", "No target of notifications is configured.", {
    suggestion:
      "Write one to config.yaml (docs/how-to/notifications.md), and restart the daemon: agent daemon stop --keep-agents && agent daemon start",
  }),
);

/** Those of a daemon without targets, or of a program that embeds the runtime. */
export const NO_NOTIFICATIONS: NotificationsApi = {
  list: Effect.succeed({ targets: [], hosts: [], dead: [] }),
  test: () => noTargets,
  resend: () => noTargets,
  tell: () => Effect.void,
  linkOf: () => undefined,
  use: () => Effect.succeed(undefined),
};
