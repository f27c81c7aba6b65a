/** The answers of notifications. */
import * as z from "zod";
import { NOTICE_KINDS } from "../notifications.ts";
import { effect, type Reply, time } from "./reply.ts";

const kind = z.enum(NOTICE_KINDS);

/** One target of config.yaml. */
export const NotifyTargetView = z.object({
  name: z.string(),
  type: z.enum(["webhook", "command", "ntfy"]),
  to: z.string().describe("the host of its address, or its program"),
  events: z.array(kind),
  pending: z.int().describe("notifications that wait to be sent"),
  next_at: time.nullable().describe("when the next of them is sent; null if none waits"),
  quiet: z.boolean().describe("its quiet hours are now"),
  sent: z.int().describe("since the daemon started"),
  sent_at: time.nullable().describe("when the newest was sent; null if none was since the daemon started"),
  failing: z.string().nullable().describe("why the newest attempt failed; null if it did not"),
});
export type NotifyTargetView = Reply<typeof NotifyTargetView>;

/** A notification that was given up after all its attempts. */
const DeadView = z.object({
  target: z.string(),
  id: z.string(),
  kind,
  title: z.string(),
  at: time,
  attempts: z.int(),
  reason: z.string().describe("why the last attempt failed"),
});

/** Another host whose news come too. */
const HostView = z.object({
  name: z.string(),
  failing: z.string().nullable().describe("why its log is not followed now; null if it is"),
});

export const NotifyListReply = z.object({
  targets: z.array(NotifyTargetView),
  hosts: z.array(HostView).describe("other hosts whose news this daemon tells"),
  dead: z.array(DeadView).describe("notifications that could not be sent, oldest first"),
});
export type NotifyListReply = Reply<typeof NotifyListReply>;

export const NotifyResendReply = z.object({
  effect,
  results: z
    .array(
      z.object({
        id: z.string(),
        target: z.string(),
        title: z.string(),
      }),
    )
    .describe("notifications that wait again"),
});
export type NotifyResendReply = Reply<typeof NotifyResendReply>;

export const NotifyTestReply = z.object({
  effect,
  results: z.array(
    z.object({
      target: z.string(),
      ok: z.boolean(),
      reason: z.string().nullable().describe("why it failed"),
    }),
  ),
});
export type NotifyTestReply = Reply<typeof NotifyTestReply>;
