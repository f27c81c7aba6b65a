/** The call of `agent acp` as `agent spawn` would have it: a conversation whose agent asks before it acts. Pure. */
import { kindOf } from "../../commands/kinds.ts";
import { spawnProblems } from "../commands/spawn-spec.ts";
import type { Call, CallPlace } from "../parse.ts";

export const conversation = (call: Call): Call => ({
  ...call,
  flags: { permission: "ask", ...call.flags, interactive: true },
});

/** A word that is no built-in kind names a worker, or a kind of the user's configuration. */
export const namesWorker = ({ args, argv }: Call): boolean =>
  argv === undefined && args[0] !== undefined && kindOf(args[0]) === undefined;

export const acpProblems = (call: Call, place?: CallPlace): readonly string[] => {
  if (call.args[0] === undefined && call.argv === undefined)
    return ["agent acp needs a KIND, or the ID of a worker"];
  return namesWorker(call) ? [] : spawnProblems(conversation(call), place);
};
