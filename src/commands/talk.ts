/** Commands that answer agents and send them messages. */
import {
  APPROVALS_PAGE_MAX,
  INBOX_PAGE_MAX,
  MESSAGES_PAGE_DEFAULT,
  MESSAGES_PAGE_MAX,
} from "../base/limits.ts";
import { ANSWERS } from "../protocol/holds.ts";
import { inGroup } from "./command.ts";
import { id, idempotencyKey, pageFlags } from "./flags.ts";
import { kindsThatTake } from "./kinds.ts";

export const TALK_COMMANDS = inGroup("Talk", [
  {
    words: ["inbox"],
    request: "agent/inbox",
    danger: "safe",
    exits: [5],
    summary: "List everything that waits for you, across all agents",
    details:
      "A hold is a point at which a worker waits: a request for permission, a worker that may be stuck, an interrupted turn, a spent budget, or a pause that you asked for. Each hold shows its question, the answers that it takes, and its deadline, if any.",
    args: [
      {
        name: "ID",
        help: "a worker, or the path of a supervisor; all workers by default",
        complete: "living",
      },
    ],
    flags: [
      {
        name: "all",
        short: "a",
        type: "bool",
        help: "also holds that end without you: a full disk, unread output, a conversation at rest",
      },
      ...pageFlags(INBOX_PAGE_MAX),
    ],
    examples: ["agent inbox", "agent inbox fixer --all"],
  },
  {
    words: ["answer"],
    request: "agent/answer",
    danger: "mutating",
    exits: [5, 6],
    summary: "Answer whatever waits for you: a permission, a stuck worker, a budget",
    details:
      "A request for permission: allow or deny, this once. A worker that may be stuck: wait gives it its stall time again, restart and kill do what the commands do; without an answer it is stopped, and its restart policy decides. A spent budget: continue grants the same amount again, or what --budget says, stop ends every worker that counts in it; without an answer they stay paused. An interrupted turn: continue resumes the session (the open tool may run again), fresh starts over, stop ends the worker; without an answer it waits. A pause by `agent pause`: continue. A placed worker whose labels no node of the cluster has, from any node: anywhere lets each node take it, wait asks no more until it has run, kill ends it; a node with the labels takes it by itself.",
    args: [
      {
        name: "ID",
        help: "as agent inbox shows it: a worker, the path of a supervisor, a request for permission, or one hold of several",
        required: true,
        complete: "living",
      },
      {
        name: "ANSWER",
        help: "allow or deny; wait, restart or kill; continue or stop; fresh; anywhere",
        required: true,
        values: ANSWERS,
      },
    ],
    flags: [
      {
        name: "reason",
        type: "string",
        value: "TEXT",
        help: "with deny: the reason, which the agent is told",
      },
      {
        name: "budget",
        type: "budget",
        value: "usd=5,…",
        help: "with continue: the budget from now on, in all, in the place of as much again",
      },
      idempotencyKey,
    ],
    examples: ["agent answer fixer allow", "agent answer crew continue"],
  },
  {
    words: ["send"],
    request: "agent/send",
    danger: "mutating",
    exits: [5, 6, 11],
    summary: "Send a message to an agent that reads its input",
    details:
      "The worker must have been spawned with --interactive. The message is durable once the command returns; if no agent runs, the message waits for one. TEXT is sent as a line. Text that - reads from stdin is sent unchanged.",
    args: [
      { ...id, complete: "living" },
      { name: "TEXT", help: "the message; - reads stdin" },
    ],
    flags: [
      { name: "close", type: "bool", help: "end the agent's input after this message" },
      idempotencyKey,
    ],
    examples: ["agent send fixer 'also run the linter'", "agent send fixer --close"],
  },
  {
    words: ["attach"],
    danger: "mutating",
    exits: [5, 6, 7],
    summary: "Talk with an interactive agent in the terminal",
    details:
      "Shows what was said, then what is said, and sends each line that you type. A request for permission, or another question of the worker, takes the place of the prompt; its answer, or the beginning of it, is the next line. Ctrl-C and Ctrl-D leave; the agent runs on. A new daemon is waited for.",
    args: [{ ...id, complete: "living" }],
    examples: ["agent attach fixer"],
  },
  {
    words: ["ask"],
    request: "agent/ask",
    danger: "mutating",
    exits: [2, 5, 6, 7, 8, 10, 11],
    summary: "Send a message, wait for the answer, and print it",
    details: `An interactive agent of a kind that reports its turns (${kindsThatTake("approval-within").join(", ")}) answers with the turn that the message begins; after --timeout, it still has the question. Every other worker is asked through its mailbox, if it polls it: its reply is the answer, and after --timeout the question expires.`,
    args: [
      { ...id, complete: "living" },
      { name: "TEXT", help: "the question; - reads stdin", required: true },
    ],
    flags: [
      {
        name: "timeout",
        type: "duration",
        value: "10m",
        help: "wait no longer than this",
        default: "for ever; 10m for a mailbox",
      },
      idempotencyKey,
    ],
    examples: ["agent ask fixer 'which tests fail?' --timeout 10m"],
  },
  {
    words: ["approvals", "approve"],
    danger: "mutating",
    exits: [5, 6],
    summary: "Allow an agent's request, this once",
    args: [
      {
        name: "ID",
        help: "the request, a unique prefix of its id, or a worker with only one request",
        required: true,
        complete: "living",
      },
    ],
    flags: [idempotencyKey],
    examples: ["agent approvals approve fixer"],
  },
  {
    words: ["approvals", "deny"],
    danger: "mutating",
    exits: [5, 6],
    summary: "Deny an agent's request; the agent continues without",
    args: [
      {
        name: "ID",
        help: "the request, a unique prefix of its id, or a worker with only one request",
        required: true,
        complete: "living",
      },
    ],
    flags: [
      { name: "reason", type: "string", value: "TEXT", help: "the reason, which the agent is told" },
      idempotencyKey,
    ],
    examples: ["agent approvals deny fixer --reason 'use the test database'"],
  },
  {
    words: ["approvals"],
    request: "agent/approvals",
    danger: "safe",
    exits: [5],
    summary: "List what agents ask permission for",
    details:
      "Requests come from workers with --permission ask, and from calls of tools that --ask-tool names. A request without an answer is denied after --approval-within, unless --approval-default says otherwise.",
    args: [
      {
        name: "ID",
        help: "a request, answered or not, or a worker; `list` means all",
        complete: "living",
      },
    ],
    flags: [
      { name: "all", short: "a", type: "bool", help: "also requests that are answered" },
      ...pageFlags(APPROVALS_PAGE_MAX),
    ],
    examples: ["agent approvals", "agent approvals fixer --all"],
  },
  {
    words: ["cancel"],
    request: "agent/cancel",
    danger: "mutating",
    exits: [5, 6],
    summary: "End the turn of an interactive agent, and keep the agent",
    args: [{ ...id, complete: "living" }],
    flags: [idempotencyKey],
    examples: ["agent cancel fixer"],
  },
  {
    words: ["messages"],
    request: "agent/messages",
    danger: "safe",
    exits: [5],
    summary: "List the messages to an agent, and how far each has come",
    details:
      "accepted: the message waits for an agent. delivered: it is in the agent's input. acknowledged: the agent has shown that it received it. undeliverable: the worker ended first. unknown: the agent ended before it acknowledged the message. Shows the newest messages; if there are older ones, it prints a cursor for them (in JSON: meta.truncated, meta.cursor).",
    args: [id],
    flags: [...pageFlags(MESSAGES_PAGE_MAX, MESSAGES_PAGE_DEFAULT)],
    examples: ["agent messages fixer", "agent messages fixer --limit 20"],
  },
]);
