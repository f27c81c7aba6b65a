/** mailbox/*: messages that agents and people poll. */
import type { MailboxRequests } from "../../protocol/mailbox-requests.ts";
import { command, type Handlers, type RequestHandler } from "./handler.ts";

type MailboxRequest = keyof typeof MailboxRequests;

/** Only the wait ends with the connection: a leased message keeps its lease. */
const poll: RequestHandler<"mailbox/poll"> = {
  ...command((runtime, asked) => runtime.mailbox.poll(asked)),
  lifetime: "open",
};

export const MAILBOXES: Handlers<MailboxRequest> = {
  "mailbox/send": command((runtime, asked) => runtime.mailbox.send(asked)),
  "mailbox/poll": poll,
  "mailbox/ack": command((runtime, { token, ...how }) => runtime.mailbox.ack(token, how)),
  "mailbox/nack": command((runtime, { token, ...how }) => runtime.mailbox.nack(token, how)),
  "mailbox/extend": command((runtime, { token, ...how }) => runtime.mailbox.extend(token, how)),
  "mailbox/list": {
    ...command<"mailbox/list">((runtime, asked) => runtime.mailbox.list(asked)),
    lifetime: "read",
  },
  "mailbox/show": {
    ...command<"mailbox/show">((runtime, { id, caller }) => runtime.mailbox.show(id, { caller })),
    lifetime: "read",
  },
  "mailbox/resend": command((runtime, { id, caller }) => runtime.mailbox.resend(id, { caller })),
  "mailbox/drop": command((runtime, { id, caller }) => runtime.mailbox.drop(id, { caller })),
};
