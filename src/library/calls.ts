/** The calls of a runtime that the library makes: those that a runtime of this process has, and a daemon too. */
import type { Effect } from "effect";
import type { HoldfastError } from "../protocol/errors.ts";
import type { CopiedPage, ElsewherePage } from "../protocol/replies/cluster.ts";
import type { RequestInput } from "../protocol/requests.ts";
import type { RuntimeApi } from "../runtime/api.ts";

/** Calls that only the process which holds the state directory makes. */
type OfTheHolder =
  | "follow"
  | "identify"
  | "identifyIn"
  | "permitAll"
  | "permitStart"
  | "placed"
  | "placeOf"
  | "stateOf"
  | "hasOther"
  | "principalOf"
  | "rebuild"
  | "refused"
  | "settled";

export interface RuntimeCalls extends Omit<RuntimeApi, OfTheHolder | "blackboard" | "board" | "peers"> {
  readonly blackboard: Omit<RuntimeApi["blackboard"], "follow">;
  readonly board: Omit<RuntimeApi["board"], "follow">;
  /** Only a daemon may be a node, so it alone has these two. */
  readonly elsewhere?:
    | ((asked: RequestInput<"cluster/workers">) => Effect.Effect<ElsewherePage, HoldfastError>)
    | undefined;
  readonly copied?:
    | ((asked: RequestInput<"cluster/records">) => Effect.Effect<CopiedPage, HoldfastError>)
    | undefined;
  /** The bytes of an artifact; undefined where the files of the state directory are at hand. */
  readonly artifact?: ((digest: string) => Promise<Uint8Array>) | undefined;
}
