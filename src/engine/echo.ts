/** An engine without a model: it answers each message with its own text. It shows that the port asks for no model. */
import { randomUUID } from "node:crypto";
import type { EngineInput } from "../protocol/engine-lines.ts";
import { NO_TOKENS } from "./conversation.ts";
import type { AgentEngine, EngineRun } from "./engine.ts";

export const echoEngine: AgentEngine = {
  name: "echo",
  run: async ({ opening, inputs, tell, signal }) => {
    const { interactive, model, session = randomUUID() } = opening;
    tell({ type: "session", id: session, model });
    for await (const input of untilAborted(inputs, signal)) {
      if (input.type !== "message") continue;
      const { id: message_id, text } = input;
      tell({ type: "turn", message_id, is_resumed: false });
      tell({ type: "text", channel: "assistant", step: 1, text });
      tell({ type: "end", error: null, text, usage: NO_TOKENS, model });
      if (!interactive) return;
    }
  },
};

/** The inputs, up to the abort: a run is over then although its input is open. */
async function* untilAborted(inputs: EngineRun["inputs"], signal: AbortSignal): AsyncGenerator<EngineInput> {
  const iterator = inputs[Symbol.asyncIterator]();
  const stopped = new Promise<undefined>((resolve) =>
    signal.addEventListener("abort", () => resolve(undefined), { once: true }),
  );
  while (!signal.aborted) {
    const next = await Promise.race([iterator.next(), stopped]);
    if (next === undefined || next.done === true) return;
    yield next.value;
  }
}
