/** A message to codex is one `turn/start`, and the next one is not sent before its turn is over. */
import type { MessageProtocol } from "../../../adapter.ts";
import { withoutLineEnd } from "../../../decoding/dialogue.ts";
import type { CodexState } from "../state.ts";
import { answerOf } from "./asking.ts";
import * as rpc from "./rpc.ts";
import type { AppServerState } from "./state.ts";

const ofAppServer = (state: CodexState): AppServerState | undefined =>
  state.mode === "app_server" ? state : undefined;

/** It exits at the end of its input, in the middle of a turn too (tried on 0.169.0). */
export const messages = {
  acknowledges: true,
  one_at_a_time: true,
  frame: (message_id: string, text: string, state: CodexState) => {
    const { thread = null, turns_started = 0, turns_ended = 0 } = ofAppServer(state) ?? {};
    return thread === null || turns_started > turns_ended
      ? undefined
      : rpc.startTurn(message_id, thread, withoutLineEnd(text));
  },
  answer: answerOf,
  /** A request in the turn needs no answer then: codex gives it up itself (tried on 0.169.0). */
  interrupt: (state: CodexState) => {
    const { thread = null, turn = null } = ofAppServer(state) ?? {};
    return thread === null || turn === null ? undefined : rpc.interruptTurn(thread, turn);
  },
} satisfies MessageProtocol<CodexState>;
