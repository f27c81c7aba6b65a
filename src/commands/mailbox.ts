/** Commands of mailboxes. */
import type { FlagDef } from "../base/flag.ts";
import {
  MAILBOX_ATTEMPTS_MAX,
  MAILBOX_DELAY_MAX_MS,
  MAILBOX_LEASE_MAX_MS,
  MAILBOX_MESSAGES_MAX,
  MAILBOX_PAGE_DEFAULT,
  MAILBOX_PAGE_MAX,
  MAILBOX_POLL_MAX,
  MAILBOX_TTL_MAX_MS,
} from "../base/limits.ts";
import { type ArgDef, inGroup } from "./command.ts";
import { idempotencyKey, pageFlags } from "./flags.ts";

const mailAddress: ArgDef = {
  name: "ADDRESS",
  help: "a worker, or user; by default your own mailbox",
  complete: "living",
};
const mailToken: ArgDef = {
  name: "TOKEN",
  help: "the token that agent mailbox poll printed",
  required: true,
};
const mailId: ArgDef = { name: "ID", help: "the message, or a unique prefix of its id", required: true };
const mailJson: FlagDef = { name: "json", type: "bool", help: "TEXT is a JSON value" };
const mailArtifact: FlagDef = {
  name: "artifact",
  type: "string",
  value: "DIGEST",
  help: "the digest of larger content, as agent cas put prints it",
};
const mailLease: FlagDef = {
  name: "lease",
  type: "duration",
  value: "D",
  help: "how long no other consumer gets it",
  default: "5m",
  min: 1,
  max: MAILBOX_LEASE_MAX_MS,
};

const mailDelay: FlagDef = {
  name: "delay",
  type: "duration",
  value: "D",
  help: "nobody gets it before",
  default: "0",
  max: MAILBOX_DELAY_MAX_MS,
};

export const MAILBOX_COMMANDS = inGroup("Talk", [
  {
    words: ["mailbox", "send"],
    request: "mailbox/send",
    danger: "mutating",
    exits: [5, 6, 11],
    summary: "Put a message into a worker's mailbox, and print its id",
    details: `The message is durable once the command returns; the worker gets it when it polls (agent mailbox poll). A mailbox that holds ${MAILBOX_MESSAGES_MAX} messages refuses more. A secret in the message is masked: the reader sees ***.`,
    args: [
      { name: "TO", help: "a worker, or user", required: true, complete: "living" },
      { name: "TEXT", help: "the message, at most 32 KB; - reads stdin" },
    ],
    flags: [
      {
        name: "type",
        type: "string",
        value: "T",
        values: ["cmd", "event", "ask"],
        help: "cmd: something to do; event: something to know; ask: a question that wants a reply",
        default: "cmd",
      },
      mailJson,
      mailArtifact,
      {
        name: "ttl",
        type: "duration",
        value: "D",
        help: "an undelivered message becomes a dead letter after this time",
        default: "7d",
        min: 1,
        max: MAILBOX_TTL_MAX_MS,
      },
      mailDelay,
      {
        name: "correlation",
        type: "string",
        value: "ID",
        help: "the id of a related request or message; the reader sees it",
      },
      idempotencyKey,
    ],
    examples: [
      "agent mailbox send fixer 'run the linter'",
      "agent mailbox send fixer '{\"issue\": 17}' --json --delay 5m",
    ],
  },
  {
    words: ["mailbox", "poll"],
    request: "mailbox/poll",
    danger: "mutating",
    exits: [5, 6, 7, 11],
    summary: "Take the next messages out of a mailbox, under a lease",
    details: `Without ADDRESS it polls the worker's own mailbox inside a run, and yours (user) elsewhere. A message that is not acknowledged with its token within the lease is delivered again, and after ${MAILBOX_ATTEMPTS_MAX} deliveries it is a dead letter. Every message is delivered at least once; a repeat has the same id.`,
    args: [mailAddress],
    flags: [
      { name: "wait", type: "bool", help: "wait for a message" },
      {
        name: "timeout",
        type: "duration",
        value: "10m",
        help: "wait no longer than this",
        default: "for ever",
      },
      {
        name: "limit",
        type: "int",
        value: "N",
        help: `take at most this many, up to ${MAILBOX_POLL_MAX}`,
        default: "1",
        min: 1,
        max: MAILBOX_POLL_MAX,
      },
      mailLease,
    ],
    examples: ["agent mailbox poll --wait", "agent mailbox poll fixer --limit 10 -o json"],
  },
  {
    words: ["mailbox", "ack"],
    request: "mailbox/ack",
    danger: "mutating",
    exits: [5, 6, 7, 11],
    summary: "Acknowledge a polled message, and answer it if you like",
    details: "Removes the message. The reply and the acknowledgement happen together, or neither does.",
    args: [mailToken],
    flags: [
      { name: "reply", type: "string", value: "TEXT", help: "answer its sender; - reads stdin" },
      mailJson,
      mailArtifact,
    ],
    examples: ["agent mailbox ack 1204", "agent mailbox ack 1204 --reply '3 tests fail'"],
  },
  {
    words: ["mailbox", "nack"],
    request: "mailbox/nack",
    danger: "mutating",
    exits: [5, 6, 7],
    summary: "Give a message back, so that it is delivered again",
    args: [mailToken],
    flags: [
      mailDelay,
      { name: "note", type: "string", value: "TEXT", help: "the reason, which is shown with the message" },
    ],
    examples: ["agent mailbox nack 1204 --delay 1m --note 'the server is down'"],
  },
  {
    words: ["mailbox", "extend"],
    request: "mailbox/extend",
    danger: "mutating",
    exits: [5, 6, 7],
    summary: "Keep a message for longer; the lease begins again",
    args: [mailToken],
    flags: [mailLease],
    examples: ["agent mailbox extend 1204 --lease 30m"],
  },
  {
    words: ["mailbox", "reply"],
    danger: "mutating",
    exits: [5, 6, 7, 11],
    summary: "Answer a message, whether it is acknowledged or not",
    details: "A message has one reply: the first. agent mailbox ack --reply does both at once.",
    args: [
      { name: "ID", help: "the whole id of the message", required: true },
      { name: "TEXT", help: "the reply, at most 32 KB; - reads stdin" },
    ],
    flags: [mailJson, mailArtifact],
    examples: ["agent mailbox reply 01K5Z3W8Q4T6Y1N0B7M2C9D5XF 'it is done'"],
  },
  {
    words: ["mailbox", "list"],
    request: "mailbox/list",
    danger: "safe",
    exits: [5, 7],
    summary: "List the messages of a mailbox, or its dead letters",
    details:
      "ready: the next poll gets it. delayed: no poll gets it yet. leased: a consumer has it. No list shows an acknowledged message; its records are in the log.",
    args: [mailAddress],
    flags: [
      { name: "dead", type: "bool", help: "the dead letters instead" },
      ...pageFlags(MAILBOX_PAGE_MAX, MAILBOX_PAGE_DEFAULT),
    ],
    examples: ["agent mailbox list fixer", "agent mailbox list fixer --dead"],
  },
  {
    words: ["mailbox", "show"],
    request: "mailbox/show",
    danger: "safe",
    exits: [5, 7],
    summary: "Show one message of a mailbox, without taking it",
    args: [mailId],
    examples: ["agent mailbox show 01K5Z3W8"],
  },
  {
    words: ["mailbox", "resend"],
    request: "mailbox/resend",
    danger: "mutating",
    exits: [5, 6, 7, 11],
    summary: "Deliver a dead letter again, as if it were new",
    args: [mailId],
    examples: ["agent mailbox resend 01K5Z3W8"],
  },
  {
    words: ["mailbox", "drop"],
    request: "mailbox/drop",
    danger: "destructive",
    exits: [5, 7],
    summary: "Take a message out of its mailbox, dead or not",
    args: [mailId],
    examples: ["agent mailbox drop 01K5Z3W8"],
  },
]);
