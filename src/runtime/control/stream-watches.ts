/** Watches of one stream of the log each, as many at once as are allowed. */
import { Effect, Stream } from "effect";
import { attempt } from "../../actors/machine/attempt.ts";
import type { StartCursor } from "../../protocol/cursor.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { RuntimeApi } from "../api.ts";
import type { TakePage } from "../following/follower.ts";

export type LogFollowing = Pick<RuntimeApi, "follow" | "watch">;

interface StreamWatch {
  readonly from?: StartCursor | undefined;
  readonly since_ms?: number | undefined;
  readonly follow: boolean;
}

export class StreamWatches {
  private readonly following: LogFollowing;
  private readonly max: number;
  private readonly what: string;
  private watchers = 0;

  /** `what`: the thing that is watched, in the refusal of one watch too many. */
  constructor(following: LogFollowing, max: number, what: string) {
    this.following = following;
    this.max = max;
    this.what = what;
  }

  follow(stream: string, query: StreamWatch, take: TakePage): Effect.Effect<number, HoldfastError> {
    return Effect.acquireUseRelease(
      this.enter,
      () => this.following.follow(queryOf(stream, query), take),
      () => this.leave,
    );
  }

  watch(stream: string, query: StreamWatch): Stream.Stream<LogRecord, HoldfastError> {
    return Stream.unwrap(
      Effect.as(
        Effect.acquireRelease(this.enter, () => this.leave),
        this.following.watch(queryOf(stream, query)),
      ),
    );
  }

  private readonly enter: Effect.Effect<void, HoldfastError> = attempt(() => {
    if (this.watchers >= this.max)
      throw new HoldfastError("QUEUE_FULL", `${this.max} watches of ${this.what} are open already.`, {
        suggestion: "End some of them first.",
      });
    this.watchers += 1;
  });

  private readonly leave: Effect.Effect<void> = Effect.sync(() => {
    this.watchers -= 1;
  });
}

const queryOf = (stream: string, { from, since_ms, follow }: StreamWatch) => ({
  ...(from === undefined ? {} : { from }),
  ...(since_ms === undefined ? {} : { since_ms }),
  follow,
  streams: [stream],
});
