/** A watch of named workers at a node of a cluster: a placed one is followed over its moves (decision 0093). */
import { Effect, Stream } from "effect";
import { CLUSTER_COPY_AWAY_MS } from "../base/limits.ts";
import {
  type AskCopy,
  CopyFollow,
  type FollowedCopy,
  placeInCopy,
  wantedInCopy,
} from "../daemon/copy-follow.ts";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { WatchQuery } from "../runtime/questions.ts";
import type { RuntimeCalls } from "./calls.ts";

type RecordsOverMoves = Stream.Stream<LogRecord, HoldfastError>;
/** A daemon has these calls, and answers them with INVALID_STATE where it is no node. */
type CopyCalls = Required<Pick<RuntimeCalls, "elsewhere" | "copied">>;

/** A run of it is in the log of this machine, or in others' alone. */
type FollowedPlace = { readonly name: string; readonly here: string | undefined };

/** Workers that are looked up at once before a watch begins. */
const SIDE_BY_SIDE = 16;

export const watchOverMoves = (api: RuntimeCalls, query: WatchQuery): RecordsOverMoves => {
  const { ids = [], follow } = query;
  const { elsewhere, copied } = api;
  if (follow || ids.length === 0 || elsewhere === undefined || copied === undefined) return here(api, query);
  const copy = { elsewhere, copied };
  const found = Effect.forEach(ids, (id) => placeOf(api, copy, query, id), { concurrency: SIDE_BY_SIDE });
  return Stream.unwrap(
    Effect.map(found, (places) => {
      const own = ids.filter((_, at) => places[at] === undefined);
      const placed = new Map(places.flatMap((one) => (one === undefined ? [] : [[one.name, one] as const])));
      const all = [...placed.values()].map((one) => ofPlaced(api, copy, query, one));
      if (own.length > 0) all.unshift(here(api, { ...query, ids: own }));
      return all.length === 1 ? all[0]! : Stream.mergeAll(all, { concurrency: "unbounded" });
    }),
  );
};

const here = (api: RuntimeCalls, query: WatchQuery): RecordsOverMoves => api.watch(query) as RecordsOverMoves;

/** Undefined for a worker that is not placed, and for one that nobody knows. */
const placeOf = (
  api: RuntimeCalls,
  { elsewhere }: CopyCalls,
  { from }: WatchQuery,
  ref: string,
): Effect.Effect<FollowedPlace | undefined, HoldfastError> => {
  const there = Effect.catch(
    Effect.map(elsewhere({ worker: ref }), ({ workers: [found] }): FollowedPlace | undefined =>
      found === undefined ? undefined : { name: found.name, here: undefined },
    ),
    (error) => (error.code === "UNAVAILABLE" ? Effect.fail(error) : Effect.undefined),
  );
  if (placeInCopy(from) !== undefined) return there;
  const known = Effect.map(api.info(ref, { here: true }), ({ id, name, spec }) =>
    name !== null && spec.placed?.worker === name ? { name, here: id } : undefined,
  );
  return Effect.catch(known, (error) => (error.code === "WORKER_NOT_FOUND" ? there : Effect.undefined));
};

const ofPlaced = (
  api: RuntimeCalls,
  copy: CopyCalls,
  query: WatchQuery,
  one: FollowedPlace,
): RecordsOverMoves => {
  const { from = 0, subtree = false } = query;
  const { name, here: id } = one;
  if (id === undefined) {
    const after = from === 0 ? 0 : placeInCopy(from);
    return after === undefined
      ? Stream.fail(ofThisLog(name, from))
      : ofCopy(copy, query, { name, after, subtree });
  }
  // After its end here it may run on another node. A database that is away by then is asked again.
  const next = Effect.gen(function* () {
    const { state } = yield* api.info(id, { here: true });
    if (state === "completed") return Stream.empty;
    const there = placeOf(api, copy, { ...query, from: "copy:0" }, name);
    if ((yield* Effect.orElseSucceed(there, () => one)) === undefined) return Stream.empty;
    // The tail is that of the log here; all that comes behind it is shown.
    const { tail: _, ...rest } = query;
    return ofCopy(copy, rest, { name, after: 0, past: id, subtree });
  });
  const later = Stream.unwrap(
    Effect.catch(next, (error) =>
      error.code === "WORKER_NOT_FOUND" ? Effect.succeed(Stream.empty) : Effect.fail(error),
    ),
  );
  return Stream.concat(here(api, { ...query, ids: [id] }), later);
};

const ofCopy = (copy: CopyCalls, query: WatchQuery, asked: FollowedCopy): RecordsOverMoves => {
  const iterable: AsyncIterable<LogRecord> = {
    [Symbol.asyncIterator]: () => {
      const left = new AbortController();
      const records = recordsOf(new CopyFollow(asked).steps(askBy(copy), left.signal), query);
      return {
        next: () => records.next(),
        return: () => {
          left.abort();
          return records.return();
        },
      };
    },
  };
  return Stream.fromAsyncIterable(iterable, asHoldfastError);
};

async function* recordsOf(
  steps: ReturnType<CopyFollow["steps"]>,
  query: WatchQuery,
): AsyncGenerator<LogRecord, void> {
  const { tail = Number.POSITIVE_INFINITY } = query;
  const isWanted = wantedInCopy({ ...query.filter, since_ms: query.since_ms });
  const newest: LogRecord[] = [];
  for await (const step of steps) {
    if (step.type !== "record") yield* newest.splice(0);
    else if (!isWanted(step.record, step.isNew)) continue;
    else if (step.isNew || tail === Number.POSITIVE_INFINITY) yield step.record;
    else if (newest.push(step.record) > tail) newest.shift();
  }
}

/** Goes on asking while the database is away, for a minute. */
const askBy = ({ elsewhere, copied }: CopyCalls): AskCopy => {
  let awaySince: number | undefined;
  const calls = { "cluster/workers": elsewhere, "cluster/records": copied };
  return async (name, asked) => {
    const call = calls[name] as (data: typeof asked) => ReturnType<typeof elsewhere>;
    try {
      const answer = await Effect.runPromise(call(asked));
      awaySince = undefined;
      return answer as never;
    } catch (cause) {
      const error = asHoldfastError(cause);
      awaySince ??= performance.now();
      if (error.code !== "UNAVAILABLE" || performance.now() - awaySince > CLUSTER_COPY_AWAY_MS) throw error;
      return undefined;
    }
  };
};

const ofThisLog = (name: string, from: number | string): HoldfastError =>
  new HoldfastError(
    "INVALID_REQUEST",
    `${name} runs on another node, and the place ${from} is one in the log of this machine.`,
    {
      phase: "validation",
      suggestion: "Use since_ms, or no place: the watch begins with all that is known of it.",
    },
  );
