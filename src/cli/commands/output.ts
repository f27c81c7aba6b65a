/** `agent output`: a worker's answer. */
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler } from "../context.ts";

export const output: CommandHandler = async (context) => {
  const answer = await (await context.connect()).request("agent/output", { id: context.call.args[0]! });
  if (!answer.truncated) return success(answer);
  context.warn("The answer is cut; the whole output is in: agent logs --raw");
  return { ...success(answer), meta: { truncated: true } };
};
