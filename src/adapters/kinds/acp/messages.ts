/** A message to an ACP agent is one `session/prompt`, and the next one is not sent before that is answered. */
import type { MessageProtocol } from "../../adapter.ts";
import { withoutLineEnd } from "../../decoding/dialogue.ts";
import { answerOf } from "./asking.ts";
import * as rpc from "./rpc.ts";
import type { AcpState } from "./state.ts";

export const messages = {
  acknowledges: true,
  one_at_a_time: true,
  may_linger: true,
  frame: (message_id: string, text: string, { session, handshake, refused, given }: AcpState) =>
    session === null || handshake !== null || refused !== null || given !== null
      ? undefined
      : rpc.prompt(message_id, session, withoutLineEnd(text)),
  answer: (reply, { decision }) => answerOf(reply, decision === "allow"),
  /** Whoever cancels a turn has to answer what was asked in it, too (ACP, Prompt turn, Cancellation). */
  interrupt: ({ session, given, asks, turns_started }: AcpState) =>
    session === null || given === null
      ? undefined
      : rpc.cancel(session, turns_started) + asks.map(({ id }) => rpc.permission(id, null)).join(""),
} satisfies MessageProtocol<AcpState>;
