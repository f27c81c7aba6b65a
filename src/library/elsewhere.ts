/** Placed workers of other nodes, which only a daemon knows. */
import { Effect } from "effect";
import { HoldfastError } from "../protocol/errors.ts";
import type { ElsewherePage } from "../protocol/replies/cluster.ts";
import type { RequestInput } from "../protocol/requests.ts";
import type { RuntimeCalls } from "./calls.ts";

export const elsewhereOf = (
  { elsewhere }: RuntimeCalls,
  asked: RequestInput<"cluster/workers">,
): Effect.Effect<ElsewherePage, HoldfastError> =>
  elsewhere === undefined
    ? Effect.fail(
        new HoldfastError("INVALID_STATE", "This program holds its runtime itself, so it is in no cluster.", {
          suggestion: "Use a daemon that is a node: Runtime.connect",
        }),
      )
    : elsewhere(asked);
