/** tree/*: a file's tree, brought up and taken down. */
import { Effect } from "effect";
import { success } from "../../protocol/outcome.ts";
import { withClientEnvironment } from "../../protocol/tree.ts";
import type { Handler } from "./handler.ts";

export const apply: Handler<"tree/apply"> = {
  lifetime: "command",
  run: ({ runtime, caller }, { tree, client_env, dry_run }) =>
    Effect.map(
      runtime.applyTree(withClientEnvironment(tree, client_env), { dry_run, caller: caller() }),
      (reply) => success(reply),
    ),
};

export const down: Handler<"tree/down"> = {
  lifetime: "command",
  run: ({ runtime, caller }, { name, file }) =>
    Effect.map(
      runtime.downTree(name, { caller: caller(), ...(file === undefined ? {} : { file }) }),
      (reply) => success(reply),
    ),
};
