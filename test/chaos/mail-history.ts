/**
 * The history checker of mailboxes: what senders and consumers were told, and what the log says, must agree. Pure, and without the
 * product's own fold: it has the rules of a mailbox once more, in nanoseconds.
 */
import { MAILBOX_ATTEMPTS_MAX } from "../../src/base/limits.ts";
import type { LogRecord } from "../../src/protocol/records.ts";

export interface MailHistory {
  /** The whole log, in its order. */
  readonly records: readonly LogRecord[];
  /** Ids that a send has answered. */
  readonly sent: readonly string[];
  /** The answers of polls, in their order. */
  readonly got: readonly { readonly message_id: string; readonly token: number }[];
  /** Ids whose acknowledgement was answered. */
  readonly acked: readonly string[];
}

interface Letter {
  readonly seq: number;
  /** From then on a poll may get it. */
  visible_ns: bigint;
  attempt: number;
  token: number | undefined;
  end: string | undefined;
}

const NS_PER_MS = 1_000_000n;
/** Clocks are read in whole milliseconds where a decision is made. */
const SLACK_NS = NS_PER_MS;

export const checkMail = ({ records, sent, got, acked }: MailHistory): readonly string[] => {
  const findings: string[] = [];
  const letters = new Map<string, Letter>();
  const tokens = new Map<number, string>();
  for (const record of records) {
    if (!record.type.startsWith("mailbox_")) continue;
    const { message_id, clock } = record.payload as { message_id: string; clock: { mono_ns: string } };
    const now = BigInt(clock.mono_ns);
    const known = letters.get(message_id);
    if (record.type === "mailbox_sent") {
      if (known !== undefined) findings.push(`${message_id} is sent twice`);
      const visible_ns = now + BigInt(record.payload.delay_ms) * NS_PER_MS;
      letters.set(message_id, { seq: record.seq, visible_ns, attempt: 0, token: undefined, end: undefined });
      continue;
    }
    if (known === undefined) {
      findings.push(`${record.type} of ${message_id}, which was never sent`);
      continue;
    }
    if (known.end !== undefined && record.type !== "mailbox_resent")
      findings.push(`${record.type} of ${message_id} after its end, ${known.end}`);
    switch (record.type) {
      case "mailbox_delivered":
        findings.push(...wrongDelivery(message_id, known, letters, now, record.payload.attempt));
        known.attempt = record.payload.attempt;
        known.token = record.seq;
        known.visible_ns = now + BigInt(record.payload.lease_ms) * NS_PER_MS;
        tokens.set(record.seq, message_id);
        break;
      case "mailbox_extended":
      case "mailbox_nacked":
      case "mailbox_acked":
        if (record.payload.token !== known.token)
          findings.push(`${record.type} of ${message_id} with the stale token ${record.payload.token}`);
        if (record.type === "mailbox_acked") known.end = record.type;
        else {
          const after = record.type === "mailbox_nacked" ? record.payload.delay_ms : record.payload.lease_ms;
          known.visible_ns = now + BigInt(after) * NS_PER_MS;
          if (record.type === "mailbox_nacked") known.token = undefined;
        }
        break;
      case "mailbox_resent":
        Object.assign(known, { attempt: 0, token: undefined, end: undefined, visible_ns: now });
        break;
      default:
        known.end = record.type;
    }
  }
  for (const id of sent) if (!letters.has(id)) findings.push(`${id} was told sent, and is lost`);
  for (const id of acked)
    if (letters.get(id)?.end !== "mailbox_acked") findings.push(`${id} was told acknowledged, and is not`);
  for (const { message_id, token } of got)
    if (tokens.get(token) !== message_id) findings.push(`${message_id} was given out without a record of it`);
  return findings;
};

/** It was hidden, is delivered too often, or another one was before it. */
const wrongDelivery = (
  id: string,
  letter: Letter,
  letters: ReadonlyMap<string, Letter>,
  now: bigint,
  attempt: number,
): readonly string[] => {
  const findings: string[] = [];
  if (letter.visible_ns > now + SLACK_NS) findings.push(`${id} is delivered while nobody may get it`);
  if (attempt !== letter.attempt + 1) findings.push(`${id} has attempt ${attempt} after ${letter.attempt}`);
  if (attempt > MAILBOX_ATTEMPTS_MAX) findings.push(`${id} is delivered ${attempt} times`);
  for (const [other, { visible_ns, seq, end, attempt: tries }] of letters) {
    if (other === id || end !== undefined || tries >= MAILBOX_ATTEMPTS_MAX || visible_ns > now - SLACK_NS)
      continue;
    const isBefore = visible_ns + SLACK_NS < letter.visible_ns;
    const isTie = visible_ns === letter.visible_ns && seq < letter.seq;
    if (isBefore || isTie) findings.push(`${id} is delivered before ${other}, which was there first`);
  }
  return findings;
};
