/** tree/*: starts and stops the tree of a file. */
import { command, type Handlers, keyed } from "./handler.ts";

export const TREES: Handlers<"tree/apply" | "tree/down"> = {
  "tree/apply": keyed(command((runtime, { tree, ...how }) => runtime.applyTree(tree, how))),
  "tree/down": keyed(
    command((runtime, { name, file, caller }) =>
      runtime.downTree(name, { caller, ...(file === undefined ? {} : { file }) }),
    ),
  ),
};
