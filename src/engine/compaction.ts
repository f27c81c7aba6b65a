/**
 * Compaction: how a conversation is made shorter before it exceeds what its model can read. Pure. `trim` costs nothing: it
 * takes old outputs of tools away, then old turns. `summarize` puts a summary by the model in the place of what is old, which
 * costs one request. `off` leaves everything, and a conversation that is too long fails.
 */
import { ENGINE_KEPT_MESSAGES, ENGINE_SUMMARIZED_OUTPUT_MAX_BYTES } from "../base/limits.ts";
import { cutUtf8 } from "../protocol/bounds.ts";
import type { Message } from "./model.ts";

/** Stands in the place of an output that was taken away. */
const TAKEN_AWAY = "This output was removed to make room. Run the tool again if you need it.";
const LEFT_OUT = "Earlier parts of this conversation were removed to make room.";

/** The index from which on messages stay: at most the newest few, and never a result without its call. */
const keptFrom = (messages: readonly Message[]): number => {
  let at = Math.max(0, messages.length - ENGINE_KEPT_MESSAGES);
  while (at > 0 && messages[at]?.role === "tool") at -= 1;
  return at;
};

const isTrimmed = (message: Message): boolean => message.role !== "tool" || message.output === TAKEN_AWAY;

/**
 * Takes the outputs before the newest messages away; where that was done already, the turns before the newest one. The
 * first message stays, because it is the task.
 */
export const trimmed = (messages: readonly Message[]): readonly Message[] => {
  const at = keptFrom(messages);
  const old = messages.slice(0, at);
  if (!old.every(isTrimmed))
    return [
      ...old.map((message) => (isTrimmed(message) ? message : { ...message, output: TAKEN_AWAY })),
      ...messages.slice(at),
    ];
  const [task, ...rest] = messages;
  if (task === undefined || at <= 1) return messages;
  const newest = rest.slice(at - 1);
  return newest[0]?.role === "user"
    ? [task, ...newest]
    : [task, { role: "assistant", text: LEFT_OUT, tool_calls: [] }, ...newest];
};

/** The messages that a summary stands for, without the task and the newest; empty if there are none. Long outputs are cut. */
export const olderOf = (messages: readonly Message[]): readonly Message[] => {
  const at = keptFrom(messages);
  return at <= 1 ? [] : messages.slice(0, at).map(shortened);
};

const shortened = (message: Message): Message => {
  if (message.role !== "tool") return message;
  const text = typeof message.output === "string" ? message.output : JSON.stringify(message.output);
  return { ...message, output: cutUtf8(text, ENGINE_SUMMARIZED_OUTPUT_MAX_BYTES) };
};

export const SUMMARY_REQUEST: Message = {
  role: "user",
  text: "Sum up this conversation for yourself, because all of it before this message will be removed. Keep the task, what was decided and why, what was done and found (with exact names, paths and numbers), and what is left to do. Answer with the summary alone.",
};

/** The task, the summary, and the newest messages. */
export const summarized = (messages: readonly Message[], summary: string): readonly Message[] => [
  ...messages.slice(0, 1),
  {
    role: "user",
    text: `A summary of the conversation so far, which was removed to make room:\n\n${summary}`,
  },
  ...messages.slice(keptFrom(messages)),
];
