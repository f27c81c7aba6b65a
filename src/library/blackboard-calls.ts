/** The blackboard for Effect programs. The promise door loads it, and its types name nothing of it. */
import { Effect, Stream } from "effect";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { ClaimReply, ItemsReply, PostReply, ReleaseReply } from "../protocol/replies/blackboard.ts";
import type { RuntimeCalls } from "./calls.ts";
import { checked } from "./checked.ts";
import { checkedThen } from "./checked-then.ts";
import type {
  BlackboardWatchOptions,
  ClaimOptions,
  ItemsOptions,
  PostOptions,
  ReleaseOptions,
} from "./options.ts";

/** The blackboard in an Effect program: a field with a default may be left out. */
export interface BlackboardCalls {
  post(item: PostOptions): Effect.Effect<PostReply, HoldfastError>;
  list(asked?: ItemsOptions): Effect.Effect<ItemsReply, HoldfastError>;
  search(asked: ItemsOptions & { readonly text: string }): Effect.Effect<ItemsReply, HoldfastError>;
  claim(asked?: ClaimOptions): Effect.Effect<ClaimReply, HoldfastError>;
  release(asked: ReleaseOptions): Effect.Effect<ReleaseReply, HoldfastError>;
  watch(options?: BlackboardWatchOptions): Stream.Stream<LogRecord, HoldfastError>;
}

/** Applies the bounds that hold over the socket. */
export const blackboardOf = ({ blackboard: board }: Pick<RuntimeCalls, "blackboard">): BlackboardCalls => ({
  post: (item) => checkedThen(() => checked("bb/post", item), board.post),
  list: (asked = {}) => checkedThen(() => checked("bb/list", asked), board.list),
  search: (asked) => checkedThen(() => checked("bb/search", asked), board.list),
  claim: (asked = {}) => checkedThen(() => checked("bb/claim", asked), board.claim),
  release: (asked) => checkedThen(() => checked("bb/release", asked), board.release),
  watch: (options = {}) => {
    const query = Effect.try({ try: () => checked("bb/watch", options), catch: asHoldfastError });
    return Stream.unwrap(Effect.map(query, board.watch));
  },
});
