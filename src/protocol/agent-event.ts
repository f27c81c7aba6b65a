/** The universal AgentEvent of agent-event.txt: exactly six fields, each bounded. `bounds.ts` enforces the bounds. */
import * as z from "zod";
import { CHANNEL_MAX_BYTES, DATA_MAX_BYTES, MESSAGE_MAX_BYTES, TEXT_MAX_BYTES } from "../base/limits.ts";
import { AGENT_KIND_FORM, EVENT_KINDS } from "./forms.ts";

/** agent-event notes A.1: an open, string-backed set. */
export const AgentKind = z
  .string()
  .regex(AGENT_KIND_FORM, "an agent kind is a-z, 0-9 and _, and starts with a letter");
export type AgentKind = z.infer<typeof AgentKind>;

export const AgentEventKind = z.enum(EVENT_KINDS);
export type AgentEventKind = z.infer<typeof AgentEventKind>;

/** Bytes of the UTF-8 form; agent-event.txt counts bytes, never UTF-16 units. */
const utf8Max = (bytes: number) => (value: string) => Buffer.byteLength(value) <= bytes;

/** The description goes into the JSON Schema, which cannot state a bound in bytes. */
const bounded = (name: string, bytes: number) =>
  z
    .string()
    .refine(utf8Max(bytes), `${name} is over ${bytes} bytes`)
    .describe(`At most ${bytes} bytes of UTF-8.`)
    .optional();

export const AgentEvent = z.strictObject({
  agent_kind: AgentKind,
  kind: AgentEventKind,
  channel: bounded("channel", CHANNEL_MAX_BYTES),
  text: bounded("text", TEXT_MAX_BYTES),
  message: bounded("message", MESSAGE_MAX_BYTES),
  data: z
    .json()
    .refine(
      (value) => Buffer.byteLength(JSON.stringify(value)) <= DATA_MAX_BYTES,
      `data is over ${DATA_MAX_BYTES} bytes`,
    )
    .describe(`At most ${DATA_MAX_BYTES} bytes of compact JSON in UTF-8.`)
    .optional(),
});
export type AgentEvent = z.infer<typeof AgentEvent>;
