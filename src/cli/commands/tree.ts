/** `agent tree`: supervisors and their workers, once or as they change. */
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler } from "../context.ts";
import { elsewhere } from "./elsewhere.ts";
import { nobody } from "./list.ts";

export const tree: CommandHandler = async (context) => {
  if (context.flags.follow) return success(await (await import("./tree-follow.ts")).followTree(context));
  const client = await context.connect();
  const [root, others] = await Promise.all([client.request("agent/tree", {}), elsewhere(context, client)]);
  if (root.children.length === 0) context.hint(nobody(false));
  return success(others.length === 0 ? root : { ...root, elsewhere: others });
};
