/** tree/*: starts and stops the tree of a file. */
import { withClientEnvironment } from "../../protocol/tree.ts";
import { command, type Handlers, keyed } from "./handler.ts";

export const TREES: Handlers<"tree/apply" | "tree/down"> = {
  "tree/apply": keyed(
    command((runtime, { tree, client_env, dry_run, caller }) =>
      runtime.applyTree(withClientEnvironment(tree, client_env), { dry_run, caller }),
    ),
  ),
  "tree/down": keyed(
    command((runtime, { name, file, caller }) =>
      runtime.downTree(name, { caller, ...(file === undefined ? {} : { file }) }),
    ),
  ),
};
