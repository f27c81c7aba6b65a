/** Mailboxes for programs: what `agent mailbox` does, as promises. The program's own mailbox is `user`. */

import type {
  MailAckReply,
  MailChangedReply,
  MailLeaseReply,
  MailListReply,
  MailPollReply,
  MailSentReply,
  MailView,
} from "../protocol/replies/mail.ts";
import type { RequestInput } from "../protocol/requests.ts";
import type { MailboxApi } from "../runtime/api.ts";
import { checked } from "./checked.ts";
import type { RunCall } from "./promises.ts";

/** Messages that workers and programs poll: each at least once, under a lease. */
export class RuntimeMailbox {
  readonly #api: MailboxApi;
  readonly #call: RunCall;

  /** @internal */
  constructor(api: MailboxApi, call: RunCall) {
    this.#api = api;
    this.#call = call;
  }

  /**
   * Puts a message into the mailbox of a worker, or of `user`. Resolves once it is durable. QUEUE_FULL where the mailbox is full, INVALID_STATE where
   * its worker has ended. `type: "reply"` answers the message `correlation_id`: it goes to whom asked, and only the first one counts.
   */
  send(message: RequestInput<"mailbox/send">): Promise<MailSentReply> {
    return this.#call(() => this.#api.send(checked("mailbox/send", message)));
  }

  /** The messages that are due, at most `limit` (1); with `wait_ms` as soon as there is one. Nobody else gets them before `lease_ms` is over (5 min). */
  poll(options: RequestInput<"mailbox/poll"> = {}): Promise<MailPollReply> {
    return this.#call(() => this.#api.poll(checked("mailbox/poll", options)));
  }

  /** The message is done, and gone. LEASE_LOST where somebody else got it meanwhile. `reply` goes to its sender in the same transaction. */
  ack(token: number, options: Omit<RequestInput<"mailbox/ack">, "token"> = {}): Promise<MailAckReply> {
    return this.#call(() => this.#api.ack(token, checked("mailbox/ack", { token, ...options })));
  }

  /** Gives the message back: it is delivered again, after `delay_ms`. */
  nack(token: number, options: Omit<RequestInput<"mailbox/nack">, "token"> = {}): Promise<MailLeaseReply> {
    return this.#call(() => this.#api.nack(token, checked("mailbox/nack", { token, ...options })));
  }

  /** The lease is `lease_ms` long from now on. */
  extend(
    token: number,
    options: Omit<RequestInput<"mailbox/extend">, "token"> = {},
  ): Promise<MailLeaseReply> {
    return this.#call(() => this.#api.extend(token, checked("mailbox/extend", { token, ...options })));
  }

  /** The messages of a mailbox, or with `dead` its dead letters; with a `cursor`, those after them. */
  list(options: RequestInput<"mailbox/list"> = {}): Promise<MailListReply> {
    return this.#call(() => this.#api.list(checked("mailbox/list", options)));
  }

  /** One message, by its id or a unique prefix of it. */
  show(id: string): Promise<MailView> {
    return this.#call(() => this.#api.show(checked("mailbox/show", { id }).id));
  }

  /** A dead letter is delivered as if it were new. */
  resend(id: string): Promise<MailChangedReply> {
    return this.#call(() => this.#api.resend(checked("mailbox/resend", { id }).id));
  }

  /** Takes a message out of its mailbox, dead or not. */
  drop(id: string): Promise<MailChangedReply> {
    return this.#call(() => this.#api.drop(checked("mailbox/drop", { id }).id));
  }
}
