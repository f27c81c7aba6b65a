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
import type { HeldByNobody, HeldElsewhere, NodeCall, NodeCalls } from "../cluster-api.ts";
import { invalidRequest } from "../request.ts";
import type { HandlerServices, RequestHandler } from "./handler.ts";

/** One worker, which `id` names. */
const OF_ONE = [
  "agent/info",
  "agent/why",
  "agent/output",
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
  "jobs/cancel",
  "worktree/remove",
] as const satisfies readonly RequestName[];
/** The same, but a failure is one of all, because nothing is done. */
const WAITS = ["agent/wait", "jobs/wait"] as const satisfies readonly RequestName[];
/** All workers of `ids` together. */
const OF_ALL = ["agent/usage"] as const satisfies readonly RequestName[];

/** The requests that a node carries out for another one. */
export const ACROSS_NODES: ReadonlySet<string> = new Set([...OF_ONE, ...OF_EACH, ...WAITS, ...OF_ALL]);

type Handler = RequestHandler<RequestName>;
type Ids = { readonly id?: string; readonly ids?: readonly string[]; readonly here?: boolean };

export const acrossNodes = (name: string, handler: Handler): Handler =>
  ACROSS_NODES.has(name) ? { ...handler, run: runOf(name as RequestName, handler) } : handler;

const runOf =
  (name: RequestName, handler: Handler): Handler["run"] =>
  (services, data, emit, inlineMax) => {
    const here = (own: object) =>
      Effect.suspend(() => handler.run(services, own as typeof data, emit, inlineMax));
    const { id, ids = id === undefined ? [] : [id], here: isHere = false } = data as Ids;
    if (isHere || ids.length === 0 || !services.cluster.calls.isNode())
      return handler.run(services, data, emit, inlineMax);
    return Effect.flatMap(placesOf(services.cluster.calls, ids), (places) => {
      if (places.every(({ held }) => held === undefined)) return here(data);
      const parts = [...Map.groupBy(places, keyOf)].map(([, those]) => those);
      const answered = (those: readonly PlacedRef[]) => {
        const own = withRefs(data, those);
        const held = those[0]?.held;
        if (held === undefined) return here(own);
        return "trouble" in held
          ? orNobody(here(own), held.trouble)
          : ask(services, { ...held, name, data: own });
      };
      const [only] = parts;
      if (only !== undefined && parts.length === 1) return answered(only);
      const isWait = isIn(WAITS, name);
      if (!isWait && !isIn(OF_EACH, name)) return Effect.fail(severalNodes(parts));
      const ofPart = (those: readonly PlacedRef[]) =>
        isWait ? answered(those) : withResults(those, answered(those));
      const all = Effect.forEach(parts, ofPart, { concurrency: "unbounded" });
      return Effect.map(all, (outcomes) => joined(name, places, parts, outcomes));
    }) as ReturnType<Handler["run"]>;
  };

const isIn = (some: readonly RequestName[], name: RequestName): boolean => some.includes(name);

/** A worker as the request names it, and as its node knows it. */
interface PlacedRef {
  readonly ref: string;
  readonly known: string;
  /** Undefined for one of this machine. */
  readonly held: HeldElsewhere | HeldByNobody | undefined;
}

/** Workers without a node are looked for here, each with its own trouble. */
const keyOf = ({ ref, held }: PlacedRef): string =>
  held === undefined ? "" : "trouble" in held ? `nobody ${ref}` : `node ${held.node}`;

/** A question is named by its worker, a colon, and its own id. */
const placesOf = (
  calls: NodeCalls,
  refs: readonly string[],
): Effect.Effect<readonly PlacedRef[], HoldfastError> =>
  Effect.forEach(
    refs,
    (ref) => {
      const [worker = ref, ...rest] = ref.split(":");
      return Effect.map(calls.where(worker), (held): PlacedRef => {
        const known = held === undefined || "trouble" in held ? ref : [held.worker_id, ...rest].join(":");
        return { ref, known, held };
      });
    },
    { concurrency: CLUSTER_LOOKUPS_AT_ONCE },
  );

const withRefs = (data: object, places: readonly PlacedRef[]): object =>
  "ids" in data ? { ...data, ids: places.map(({ known }) => known) } : { ...data, id: places[0]?.known };

/** A failure that has no results is one of the whole request, as it is here: a repeat with the same key tries again. */
const ask = (
  { cluster, caller, idempotency_key }: Pick<HandlerServices, "cluster" | "caller" | "idempotency_key">,
  { data, ...call }: Omit<NodeCall, "caller">,
): Effect.Effect<Outcome<object>, HoldfastError> => {
  const keyed = idempotency_key === undefined ? data : { ...data, idempotency_key };
  return Effect.flatMap(cluster.calls.ask({ ...call, data: keyed, caller: caller() }), (outcome) =>
    outcome.ok || outcome.value !== undefined ? Effect.succeed(outcome) : Effect.fail(outcome.error),
  );
};

/** This machine may know something of the worker, such as the question about its place; where it does not, nobody does now. */
const orNobody = (
  here: Effect.Effect<Outcome<object>, HoldfastError>,
  trouble: HoldfastError,
): Effect.Effect<Outcome<object>, HoldfastError> => {
  const isUnknown = ({ code }: HoldfastError): boolean => code === "WORKER_NOT_FOUND";
  return Effect.flatMap(
    Effect.mapError(here, (error) => (isUnknown(error) ? trouble : error)),
    (outcome) => (!outcome.ok && isUnknown(outcome.error) ? Effect.fail(trouble) : Effect.succeed(outcome)),
  );
};

const severalNodes = (parts: readonly (readonly PlacedRef[])[]): HoldfastError => {
  const places = parts.map(([first]) => {
    const held = first?.held;
    return held === undefined ? "this one" : "trouble" in held ? "none" : held.node;
  });
  return invalidRequest([
    `These workers are on several nodes: ${places.join(", ")}. Ask for those of each node alone`,
  ]);
};

/** A failure of one node takes nothing from the results of the others. */
const withResults = (
  places: readonly PlacedRef[],
  answer: Effect.Effect<Outcome<object>, HoldfastError>,
): Effect.Effect<Outcome<object>, HoldfastError> => {
  const told = Effect.catch(answer, (error) => Effect.succeed<Outcome<object>>(failure(error)));
  return Effect.map(told, (outcome) => {
    if (outcome.ok || (outcome as WithResults).value?.results !== undefined) return outcome;
    return { ...outcome, value: { results: places.map(({ ref }) => nothingDone(ref, outcome.error)) } };
  });
};

type WithResults = Outcome<{ readonly results?: readonly object[]; readonly jobs?: readonly object[] }>;

/** In the order of the request, where each worker has one result. Without results of a node its error is that of all. */
const joined = (
  name: RequestName,
  places: readonly PlacedRef[],
  parts: readonly (readonly PlacedRef[])[],
  outcomes: readonly WithResults[],
): Outcome<object> => {
  const member = name === "jobs/wait" ? "jobs" : "results";
  const broken = outcomes.find((outcome) => !outcome.ok && outcome.value?.[member] === undefined);
  if (broken !== undefined) return broken;
  const byPlace = new Map<PlacedRef, object>();
  // A wait for what they spawn has more.
  const further: object[] = [];
  for (const [at, those] of parts.entries())
    for (const [nth, result] of (outcomes[at]?.value?.[member] ?? []).entries()) {
      const place = those[nth];
      if (place === undefined) further.push(result);
      else byPlace.set(place, result);
    }
  const results = [...places.flatMap((place) => byPlace.get(place) ?? []), ...further];
  const failed = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.error]));
  const [first] = failed;
  if (first === undefined) return success({ [member]: results });
  const error =
    failed.length === 1 && first.code === "PARTIAL_FAILURE"
      ? first
      : new HoldfastError(
          "PARTIAL_FAILURE",
          `Not all of the ${places.length} workers: ${failed.map(({ message }) => message).join(" ")}`,
        );
  return { ...failure(error), value: { [member]: results } };
};
