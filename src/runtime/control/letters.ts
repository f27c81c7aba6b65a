/** Repeats of messages, and the refusals of mailboxes. */
import { unknownMail } from "../../control/mailbox/box.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { MailSent } from "../../protocol/mail-records.ts";

/** True if a repeat says the same, whichever of its senders repeats it. */
export const isSameLetter = (first: MailSent, again: Omit<MailSent, "clock">): boolean => {
  const said = ({ clock: _, by: __, ...letter }: Partial<MailSent>) => JSON.stringify(letter, sortedKeys);
  return said(first) === said(again);
};

/** Sorts the keys of objects, so that equal values have equal texts. */
const sortedKeys = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

export const hasEnded = (id: string): HoldfastError =>
  new HoldfastError("INVALID_STATE", `Worker ${id} has ended, so nobody polls its mailbox.`, {
    suggestion: `Start it again first: agent restart ${id}`,
  });

export const notYours = (worker_id: string): HoldfastError =>
  new HoldfastError("POLICY_VIOLATION", `Worker ${worker_id} may not read the mailbox of the user.`, {
    suggestion: "Poll your own mailbox: agent mailbox poll",
  });

export const noAsk = (correlates: string | undefined): HoldfastError =>
  correlates === undefined
    ? new HoldfastError("INVALID_REQUEST", "A reply needs the id of the message that it answers.")
    : unknownMail(correlates);

export const unanswered = (ask_id: string, box: string): HoldfastError =>
  new HoldfastError("TIMEOUT", `The question is a dead letter: worker ${box} has not answered it.`, {
    suggestion: `See it with: agent mailbox show ${ask_id}`,
    details: { message_id: ask_id, by: "mailbox" },
  });
