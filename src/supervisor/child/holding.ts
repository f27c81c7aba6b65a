/**
 * Which decisions a full disk does not put off (docs/decisions/0031): stops, pauses, and what follows from them. They are held by the
 * store and carried out. A request that begins something waits for its record, as always: a start, a message, an answer that lets go on. Pure.
 */
import type { ChildState, Command, Input } from "./inputs.ts";

export const mayHold = (
  { stop }: Pick<ChildState, "stop">,
  input: Pick<Input, "type">,
  commands: readonly Command[],
): boolean => {
  switch (input.type) {
    case "kill":
    case "shutdown":
    case "limit":
    case "session_taken":
    case "passivate":
    case "pause":
    // It runs already: nobody can stop what waits to be known.
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
