/** An engine without a model: it answers each message with its own text. It shows that the port asks for no model. */
import { randomUUID } from "node:crypto";
import { NO_TOKENS } from "./conversation.ts";
import type { AgentEngine } from "./engine.ts";

export const echoEngine: AgentEngine = {
  name: "echo",
  run: async ({ opening, inputs, tell, signal }) => {
    const { interactive, model, session = randomUUID() } = opening;
    tell({ type: "session", id: session, model });
    for await (const input of inputs) {
      if (signal.aborted) return;
      if (input.type !== "message") continue;
      const { id: message_id, text } = input;
      tell({ type: "turn", message_id, is_resumed: false });
      tell({ type: "text", channel: "assistant", step: 1, text });
      tell({ type: "end", error: null, text, usage: NO_TOKENS, model });
      if (!interactive) return;
    }
  },
};
