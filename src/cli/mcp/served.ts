/**
 * The tools of `agent mcp serve`, in the order in which a client lists them: the request behind each, and what a model must
 * know beside the registry's summary. Their schemas are made of the request's (scripts/mcp-tools.ts). Pure data.
 */
import type { RequestName } from "../../protocol/requests.ts";

interface ToolOrigin {
  readonly request: RequestName;
  /** Sentences for the model, after the registry's summary. */
  readonly note: string;
}

const REPEAT = "A repeat with the same idempotency_key has no second effect.";

export const SERVED = {
  spawn: {
    request: "agent/spawn",
    note: `Answers at once with the worker's id, and with a cursor for events. Call wait for its end. ${REPEAT}`,
  },
  wait: {
    request: "agent/wait",
    note: "Answers with status ended and the results, or with status pending after 45 seconds: then call it again. The cursor is the newest record, for events.",
  },
  events: {
    request: "agent/watch",
    note: "Answers with records of workers after the cursor `from`, and the cursor to go on from; more says whether there are more now.",
  },
  send: { request: "agent/send", note: `The worker must be interactive. ${REPEAT}` },
  cancel: { request: "agent/cancel", note: "The worker goes on." },
  kill: { request: "agent/kill", note: "With subtree: also everything that their agents spawned." },
  restart: { request: "agent/restart", note: REPEAT },
  pause: { request: "agent/pause", note: "Their processes stand still until unpause." },
  unpause: { request: "agent/unpause", note: "" },
  list: { request: "agent/list", note: "Answers with pages: give the cursor of an answer for the next." },
  tree: { request: "agent/tree", note: "" },
  info: { request: "agent/info", note: "" },
  why: { request: "agent/why", note: "" },
  output: {
    request: "agent/output",
    note: "The text of the final answer, or the printed lines of a command.",
  },
  changes: { request: "agent/changes", note: "The diff itself is the resource holdfast://worker/ID/diff." },
  usage: { request: "agent/usage", note: "" },
  budget: {
    request: "agent/info",
    note: "Answers with the budgets in which the worker counts, and their spending.",
  },
  approvals: {
    request: "agent/approvals",
    note: "A person answers them: there is no tool for that. An id must be that of a worker.",
  },
  ask_operator: {
    request: "mailbox/send",
    note: "Puts a question to the person who runs the daemon, and answers with status answered and the reply, or with status pending: then call it again with the message_id alone.",
  },
} as const satisfies Readonly<Record<string, ToolOrigin>>;

export type ServedTool = keyof typeof SERVED;

export const isServed = (name: string): name is ServedTool => Object.hasOwn(SERVED, name);
