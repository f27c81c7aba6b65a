/** A message to codex is one `turn/start`. The next one is sent only after that turn. */
import type { MessageProtocol } from "../../../adapter.ts";
import { withoutLineEnd } from "../../../decoding/dialogue.ts";
import type { CodexState } from "../state.ts";
import { answerOf } from "./asking.ts";
import * as rpc from "./rpc.ts";
import type { AppServerState } from "./state.ts";

const ofAppServer = (state: CodexState): AppServerState | undefined =>
  state.mode === "app_server" ? state : undefined;

/** codex exits at the end of its input, even in the middle of a turn (tested with 0.169.0). */
export const messages = {
  acknowledges: true,
  one_at_a_time: true,
  frame: (message_id: string, text: string, state: CodexState) => {
    const { thread = null, turns_started = 0, turns_ended = 0, output_schema } = ofAppServer(state) ?? {};
    return thread === null || turns_started > turns_ended
      ? undefined
      : rpc.startTurn(message_id, thread, withoutLineEnd(text), output_schema);
  },
  answer: answerOf,
  /** Open requests of the turn need no answer, because codex drops them itself (tested with 0.169.0). */
  interrupt: (state: CodexState) => {
    const { thread = null, turn = null } = ofAppServer(state) ?? {};
    return thread === null || turn === null ? undefined : rpc.interruptTurn(thread, turn);
  },
} satisfies MessageProtocol<CodexState>;
