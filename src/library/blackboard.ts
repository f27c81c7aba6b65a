/** The blackboard of both doors: work that agents and programs share, one holder at a time. */
import type { LogRecord } from "../protocol/records.ts";
import type { ClaimReply, ItemsReply, PostReply, ReleaseReply } from "../protocol/replies/blackboard.ts";
import { type BlackboardCalls, blackboardOf } from "./blackboard-calls.ts";
import type { RuntimeCalls } from "./calls.ts";
import type {
  BlackboardWatchOptions,
  ClaimOptions,
  ItemsOptions,
  PostOptions,
  ReleaseOptions,
} from "./options.ts";
import type { RunCall } from "./promises.ts";
import type { Watches } from "./watches.ts";

/** `runtime.blackboard`. Every method rejects with a HoldfastError and nothing else; an answer is durable before it is told. */
export class Blackboard {
  readonly #calls: BlackboardCalls;
  readonly #run: RunCall;
  readonly #watches: Watches;

  /** @internal */
  constructor(api: RuntimeCalls, run: RunCall, watches: Watches) {
    this.#calls = blackboardOf(api);
    this.#run = run;
    this.#watches = watches;
  }

  /** At least one of title, body and data. A repeat with the same `idempotency_key` does nothing. */
  post(item: PostOptions): Promise<PostReply> {
    return this.#run(() => this.#calls.post(item));
  }

  /** Items of a namespace, oldest first. */
  list(asked: ItemsOptions = {}): Promise<ItemsReply> {
    return this.#run(() => this.#calls.list(asked));
  }

  /** Items that have all words of `text`; `log*` is the beginning of a word. */
  search(asked: ItemsOptions & { readonly text: string }): Promise<ItemsReply> {
    return this.#run(() => this.#calls.search(asked));
  }

  /**
   * Claims one item, or the oldest free one of a namespace. Rejects with ITEM_CLAIMED where somebody else holds it, and with ITEM_NOT_FOUND
   * where it is gone or none is free. With the `token` of a lease it extends the lease.
   */
  claim(asked: ClaimOptions = {}): Promise<ClaimReply> {
    return this.#run(() => this.#calls.claim(asked));
  }

  /** The item is free again, or with `done` gone. Rejects with LEASE_LOST where the lease of the token is over. */
  release(asked: ReleaseOptions): Promise<ReleaseReply> {
    return this.#run(() => this.#calls.release(asked));
  }

  /** Records of a namespace, from the log and then live, each once. `close` ends it. */
  watch(options: BlackboardWatchOptions = {}): AsyncIterable<LogRecord> {
    return this.#watches.iterable(this.#calls.watch(options));
  }
}
