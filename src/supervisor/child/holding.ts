/**
 * The decisions that a full disk does not delay (docs/decisions/0031): stops, pauses, and their consequences. The store
 * holds their records in memory, and they are carried out. A request that begins something waits for its record as always: a
 * start, a message, an answer that lets a worker continue. Pure.
 */
import type { ChildCommand, ChildInput, ChildState } from "./inputs.ts";

export const mayHold = (
  { stop }: Pick<ChildState, "stop">,
  input: Pick<ChildInput, "type">,
  commands: readonly ChildCommand[],
): boolean => {
  switch (input.type) {
    case "kill":
    case "shutdown":
    case "limit":
    case "session_taken":
    case "passivate":
    case "pause":
    // The agent already runs, and could not be stopped while its record waits.
    case "launched":
    case "adopted":
    case "abandoned":
      return true;
    case "exited":
      return stop !== null;
    case "answer":
      return commands.some(({ type }) => type === "stop" || type === "end");
    default:
      return false;
  }
};
