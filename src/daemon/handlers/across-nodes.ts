/**
 * Requests about workers that another node of the cluster has: that node answers them, so that the asker needs not know where a worker
 * is (decision 0101). One about several workers is answered by each of their nodes.
 */
import { Effect } from "effect";
import { CLUSTER_LOOKUPS_AT_ONCE } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { failure, type Outcome, success } from "../../protocol/outcome.ts";
import type { RequestName } from "../../protocol/requests.ts";
import { nothingDone } from "../../runtime/reading/views.ts";
import type { NodeCalls } from "../cluster-api.ts";
import { invalidRequest } from "../request.ts";
import type { HandlerServices, RequestHandler } from "./handler.ts";

/** One worker, which `id` names. */
const OF_ONE = [
  "agent/info",
  "agent/why",
  "agent/output",
  "agent/changes",
  "agent/messages",
  "agent/approvals",
  "agent/inbox",
  "agent/send",
  "agent/ask",
  "agent/answer",
  "agent/approve",
  "agent/cancel",
  "jobs/info",
  "jobs/result",
] as const satisfies readonly RequestName[];
/** Each worker of `ids`, with a result for each. */
const OF_EACH = [
  "agent/restart",
  "agent/pause",
  "agent/unpause",
  "agent/archive",
  "agent/wait",
  "jobs/wait",
  "jobs/cancel",
  "worktree/remove",
] as const satisfies readonly RequestName[];
/** All workers of `ids` together. */
const OF_ALL = ["agent/usage"] as const satisfies readonly RequestName[];

/** The requests that a node carries out for another one. */
export const ACROSS_NODES: ReadonlySet<string> = new Set([...OF_ONE, ...OF_EACH, ...OF_ALL]);

type Handler = RequestHandler<RequestName>;
type Ids = { readonly id?: string; readonly ids?: readonly string[]; readonly here?: boolean };

export const acrossNodes = (name: string, handler: Handler): Handler =>
  ACROSS_NODES.has(name) ? { ...handler, run: runOf(name as RequestName, handler) } : handler;

const runOf =
  (name: RequestName, handler: Handler): Handler["run"] =>
  (services, data, emit, inlineMax) => {
    const here = (own: object) => handler.run(services, own as typeof data, emit, inlineMax);
    const { id, ids = id === undefined ? [] : [id], here: isHere = false } = data as Ids;
    if (isHere) return here(data);
    return Effect.flatMap(placesOf(services.cluster.calls, ids), (places) => {
      if (places.every(({ node }) => node === undefined)) return here(data);
      const parts = [...Map.groupBy(places, ({ node }) => node)];
      const answered = ([node, those]: (typeof parts)[number]) => {
        const own = withRefs(data, those);
        if (node === undefined) return here(own);
        const trouble = those.find((place) => place.trouble !== undefined)?.trouble;
        return trouble === undefined ? ask(services, { node, name, data: own }) : orAway(here(own), trouble);
      };
      const [only] = parts;
      if (only !== undefined && parts.length === 1) return answered(only);
      if (!isOfEach(name)) return Effect.fail(severalNodes(parts.map(([node]) => node)));
      const all = Effect.forEach(parts, (part) => withResults(name, part[1], answered(part)), {
        concurrency: "unbounded",
      });
      return Effect.map(all, (outcomes) => joined(places, parts, outcomes));
    }) as ReturnType<Handler["run"]>;
  };

const isOfEach = (name: RequestName): boolean => (OF_EACH as readonly string[]).includes(name);

/** A worker as the request names it, and as the node knows it that has it; without one it is of this machine. */
interface PlacedRef {
  readonly ref: string;
  readonly known: string;
  readonly node: string | undefined;
  readonly trouble?: HoldfastError | undefined;
}

/** A question is named by its worker, a colon, and its own id. */
const placesOf = (
  calls: NodeCalls,
  refs: readonly string[],
): Effect.Effect<readonly PlacedRef[], HoldfastError> =>
  Effect.forEach(
    refs,
    (ref) => {
      const [worker = ref, ...rest] = ref.split(":");
      return Effect.map(calls.where(worker), (there): PlacedRef => {
        const known =
          there === undefined || there.trouble !== undefined ? ref : [there.worker_id, ...rest].join(":");
        return { ref, known, node: there?.node, trouble: there?.trouble };
      });
    },
    { concurrency: CLUSTER_LOOKUPS_AT_ONCE },
  );

const withRefs = (data: object, places: readonly PlacedRef[]): object =>
  "ids" in data ? { ...data, ids: places.map(({ known }) => known) } : { ...data, id: places[0]?.known };

const ask = (
  { cluster, caller }: Pick<HandlerServices, "cluster" | "caller">,
  call: { readonly node: string; readonly name: RequestName; readonly data: object },
): Effect.Effect<Outcome<object>, HoldfastError> => cluster.calls.ask({ ...call, caller: caller() });

/** This machine may know something of the worker; where it does not, the node that has it is away. */
const orAway = (
  here: Effect.Effect<Outcome<object>, HoldfastError>,
  trouble: HoldfastError,
): Effect.Effect<Outcome<object>, HoldfastError> => {
  const told = (error: HoldfastError): HoldfastError => (error.code === "WORKER_NOT_FOUND" ? trouble : error);
  return Effect.map(Effect.mapError(here, told), (outcome) =>
    outcome.ok ? outcome : { ...outcome, error: told(outcome.error) },
  );
};

const severalNodes = (nodes: readonly (string | undefined)[]): HoldfastError =>
  invalidRequest([
    `These workers are on several nodes: ${nodes.map((node) => node ?? "this one").join(", ")}. Ask for those of each node alone`,
  ]);

/** A failure of one node takes nothing from the results of the others. A wait ends with its first failure. */
const withResults = (
  name: RequestName,
  places: readonly PlacedRef[],
  answer: Effect.Effect<Outcome<object>, HoldfastError>,
): Effect.Effect<Outcome<object>, HoldfastError> => {
  if (name === "agent/wait" || name === "jobs/wait") return answer;
  const told = Effect.catch(answer, (error) => Effect.succeed<Outcome<object>>(failure(error)));
  return Effect.map(told, (outcome) => {
    if (outcome.ok || (outcome as WithResults).value?.results !== undefined) return outcome;
    return { ...outcome, value: { results: places.map(({ ref }) => nothingDone(ref, outcome.error)) } };
  });
};

type WithResults = Outcome<{ readonly results?: readonly object[] }>;

/** In the order of the request, where each worker has one result. Without results of a node its error is that of all. */
const joined = (
  places: readonly PlacedRef[],
  parts: readonly (readonly [string | undefined, readonly PlacedRef[]])[],
  outcomes: readonly WithResults[],
): Outcome<object> => {
  const broken = outcomes.find((outcome) => !outcome.ok && outcome.value?.results === undefined);
  if (broken !== undefined) return broken;
  const byPlace = new Map<PlacedRef, object>();
  // A wait for what they spawn has more.
  const further: object[] = [];
  for (const [at, [, those]] of parts.entries())
    for (const [nth, result] of (outcomes[at]?.value?.results ?? []).entries()) {
      const place = those[nth];
      if (place === undefined) further.push(result);
      else byPlace.set(place, result);
    }
  const results = [...places.flatMap((place) => byPlace.get(place) ?? []), ...further];
  const failed = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.error]));
  const [first] = failed;
  if (first === undefined) return success({ results });
  const error =
    failed.length === 1 && first.code === "PARTIAL_FAILURE"
      ? first
      : new HoldfastError(
          "PARTIAL_FAILURE",
          `Not all of the ${places.length} workers: ${failed.map(({ message }) => message).join(" ")}`,
        );
  return { ...failure(error), value: { results } };
};
