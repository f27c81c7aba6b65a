/** A question to the person who runs the daemon: a message to their mailbox, and its reply in the caller's. */
import { setTimeout as sleep } from "node:timers/promises";
import { asString, type JsonObject } from "../../base/json.ts";
import { MAILBOX_PAGE_MAX, MCP_SERVED_LOOK_MS } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { MailView } from "../../protocol/replies/mail.ts";
import type { ServerLink } from "./link.ts";

interface QuestionGround {
  readonly link: ServerLink;
  readonly wait_ms: number;
  readonly signal: AbortSignal;
  /** The idempotency key of the question. */
  readonly key: JsonObject;
}

export const askOperator = async (ground: QuestionGround, args: JsonObject): Promise<object> => {
  const { link, wait_ms, signal } = ground;
  const deadline = performance.now() + wait_ms;
  const message_id = asString(args.message_id) ?? (await put(ground, args));
  for (;;) {
    const reply = await replyTo(link, message_id);
    if (reply !== undefined) return { status: "answered", message_id, answer: reply.payload };
    if (performance.now() >= deadline) return { status: "pending", message_id };
    await sleep(MCP_SERVED_LOOK_MS, undefined, { signal });
  }
};

const put = async ({ link, key }: QuestionGround, { question }: JsonObject): Promise<string> => {
  if (typeof question !== "string" || question.trim() === "")
    throw new HoldfastError("INVALID_REQUEST", "ask_operator needs a question, or the message_id of one.");
  const data = { to: "user", type: "ask", payload: question, ...key } as const;
  return (await link.ask("mailbox/send", data)).message_id;
};

/** In the caller's own mailbox, where it stays. */
const replyTo = async (link: ServerLink, message_id: string): Promise<MailView | undefined> => {
  for (let cursor: string | undefined; ; ) {
    const page = await link.ask("mailbox/list", { limit: MAILBOX_PAGE_MAX, ...(cursor && { cursor }) });
    const reply = page.messages.find((mail) => mail.correlation_id === message_id && mail.type === "reply");
    if (reply !== undefined || page.cursor === undefined) return reply;
    cursor = page.cursor;
  }
};
