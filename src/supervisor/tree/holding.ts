/** The decisions about a tree that a full disk does not delay: see child/holding.ts. Pure. */
import { mayHold } from "../child/holding.ts";
import type { TreeCommand, TreeInput } from "./inputs.ts";
import type { TreeState } from "./state.ts";

export const mayHoldTree = (
  { members }: Pick<TreeState, "members">,
  input: TreeInput,
  commands: readonly TreeCommand[],
): boolean => {
  switch (input.type) {
    case "ask":
      return input.what !== "restart";
    case "plan":
      return !commands.some(({ type }) => type === "start");
    case "worker": {
      const child = members.get(input.worker_id)?.child;
      const told = commands.flatMap((one) =>
        one.type === "tell" && one.worker_id === input.worker_id ? [one.command] : [],
      );
      return child !== undefined && mayHold(child, input.input, told);
    }
    default:
      return false;
  }
};
