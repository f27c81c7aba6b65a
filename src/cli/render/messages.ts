/** Messages to agents, as `agent send` and `agent messages` show them. */
import type { MessageReply, MessageRow } from "../../runtime/replies.ts";
import { oneLine, type Paint, type Tone, table } from "./terminal.ts";
import { bytes, duration } from "./units.ts";

const TONES: Readonly<Record<MessageRow["state"], Tone>> = {
  accepted: "plain",
  delivered: "plain",
  acknowledged: "good",
  undeliverable: "bad",
  unknown: "bad",
};

const REASON_COLUMNS = 60;

/** If the kind does not acknowledge messages, the last state says so. */
const detail = ({ state, open, turn, reason, incarnation }: MessageRow): string => {
  if (reason !== null) return oneLine(reason, REASON_COLUMNS);
  if (state === "delivered" && !open) return "this kind does not acknowledge messages";
  if (turn !== null) return `turn ${turn} of run ${incarnation ?? "?"}`;
  return "";
};

export const messagesText = (
  { messages }: { readonly messages: readonly MessageRow[] },
  {
    paint,
    now,
    columns,
  }: { readonly paint: Paint; readonly now: number; readonly columns?: number | undefined },
): string => {
  if (messages.length === 0) return "";
  const head = ["ID", "STATE", "SIZE", "AGE", ""].map((cell) => paint("dim", cell));
  const rows = messages.map((message) => [
    message.message_id,
    paint(TONES[message.state], message.state),
    message.closes ? "end of input" : bytes(message.bytes),
    duration(Math.max(0, now - Date.parse(message.accepted_at))),
    detail(message),
  ]);
  return table([head, ...rows], { fit: columns });
};

export const sentText = ({ state, effect }: MessageReply, { paint }: { readonly paint: Paint }): string => {
  const what = state === "accepted" ? "accepted; it is delivered as soon as the agent can take it" : state;
  return paint(TONES[state] === "bad" ? "bad" : "dim", effect === "noop" ? `${what} (sent before)` : what);
};
