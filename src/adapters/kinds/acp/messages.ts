/** A message to an ACP agent is one `session/prompt`. The next one is sent only after the answer to it. */
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
  /**
   * A client that cancels a turn must also answer the open requests of the turn (ACP, Prompt turn,
   * Cancellation).
   */
  interrupt: ({ session, given, asks, turns_started }: AcpState) =>
    session === null || given === null
      ? undefined
      : rpc.cancel(session, turns_started) + asks.map(({ id }) => rpc.permission(id, null)).join(""),
} satisfies MessageProtocol<AcpState>;
