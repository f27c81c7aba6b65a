/** Placed workers of other nodes, which only a daemon knows. */
import { Effect } from "effect";
import { HoldfastError } from "../protocol/errors.ts";
import type { ElsewherePage } from "../protocol/replies/cluster.ts";
import type { RequestInput } from "../protocol/requests.ts";
import type { RuntimeCalls } from "./calls.ts";

/** A placed worker is listed if it agrees with each of these. */
export interface ElsewhereOptions {
  /** One alone, wherever it runs: its name, or its id in the log of its node. */
  readonly worker?: string;
  /** Also those that have ended. Default: false. */
  readonly all?: boolean;
  /** It has each of these labels with this value. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly kinds?: string[];
  /** Only those of this tree. */
  readonly tree?: string;
  /** The `next` of the page before. */
  readonly after?: string;
  /** At most so many in one page. */
  readonly limit?: number;
}

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
