/** `agent why`: the decisions of a worker's supervisors. */
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler } from "../context.ts";

export const why: CommandHandler = async (context) => {
  const reply = await (await context.connect()).request("agent/why", { id: context.call.args[0]! });
  return reply.omitted > 0 ? { ...success(reply), meta: { truncated: true } } : success(reply);
};
