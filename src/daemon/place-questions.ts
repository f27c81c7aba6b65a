/** The inbox of a daemon with the questions of its cluster: these stand in no log, and each node has them. */
import { Effect } from "effect";
import { INBOX_PLACES_FROM } from "../base/limits.ts";
import { USER } from "../protocol/caller.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { RuntimeApi } from "../runtime/api.ts";
import type { InboxReply } from "../runtime/replies.ts";
import type { ClusterApi } from "./cluster-api.ts";

type QuestionDesk = Pick<ClusterApi, "questions" | "answer">;

export const withPlaceQuestions = (runtime: RuntimeApi, cluster: QuestionDesk): RuntimeApi => ({
  ...runtime,
  inbox: (asked) => inboxWith(runtime, cluster, asked),
  answer: (ref, said, options = {}) => {
    const [worker = ref, id = options.question_id] = ref.split(":");
    const { caller = USER } = options;
    const atCluster = (error: HoldfastError) =>
      cluster.answer(worker, said, caller).pipe(
        // Nothing is asked there either.
        Effect.mapError((own) => (own.code === error.code ? error : own)),
        Effect.flatMap((answered) =>
          answered === undefined ? Effect.fail(error) : Effect.succeed(answered),
        ),
      );
    const mayBeOfCluster = ({ code }: HoldfastError): boolean =>
      (id === undefined || id === "placement") && (code === "WORKER_NOT_FOUND" || code === "INVALID_STATE");
    return Effect.catch(runtime.answer(ref, said, options), (error) =>
      mayBeOfCluster(error) ? atCluster(error) : Effect.fail(error),
    );
  },
});

/** Those of the cluster follow the last page of the log's, and their cursors begin where no seq comes. */
const inboxWith = (
  runtime: Pick<RuntimeApi, "inbox">,
  cluster: Pick<QuestionDesk, "questions">,
  asked: Parameters<RuntimeApi["inbox"]>[0],
): Effect.Effect<InboxReply, HoldfastError> =>
  Effect.gen(function* () {
    const { id, limit, cursor = "0" } = asked;
    const from = Number(cursor) - INBOX_PLACES_FROM;
    const read = from < 0 ? runtime.inbox(asked) : Effect.succeed<InboxReply>({ holds: [] });
    const own = yield* Effect.result(read);
    if (own._tag === "Success" && own.success.cursor !== undefined) return own.success;
    if (own._tag === "Failure" && own.failure.code !== "WORKER_NOT_FOUND")
      return yield* Effect.fail(own.failure);
    const all = yield* cluster.questions;
    const asks = id === undefined ? all : all.filter((hold) => hold.worker === id || hold.id === id);
    if (own._tag === "Failure" && asks.length === 0) return yield* Effect.fail(own.failure);
    const before = own._tag === "Success" ? own.success.holds : [];
    const first = Math.max(0, from);
    const shown = asks.slice(first, first + limit - before.length);
    const next = first + shown.length;
    const holds = [...before, ...shown];
    return next < asks.length ? { holds, cursor: String(INBOX_PLACES_FROM + next) } : { holds };
  });
