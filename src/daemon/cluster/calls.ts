/** The asker of another node: which node has a worker, and what that node answers (decision 0101). */
import { Effect, Option } from "effect";
import {
  CLUSTER_ANSWER_OF_NODE_MS,
  CLUSTER_ASK_NODE_MS,
  CLUSTER_CALL_MAX_CHARS,
  CLUSTER_CALL_RENEW_MS,
} from "../../base/limits.ts";
import type { AskedCall, HolderRow } from "../../cluster/postgres/calls.ts";
import { type EnvelopeV1, outcomeOf } from "../../protocol/envelope-v1.ts";
import { HoldfastError, OF_CLUSTER } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import { failure, type Outcome } from "../../protocol/outcome.ts";
import { redactValue } from "../../protocol/redact.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { RuntimeApi } from "../../runtime/api.ts";
import type { NodeCall, NodeCalls } from "../cluster-api.ts";
import { atMost, type TreeGround } from "./tree.ts";

interface NodeCallGround {
  readonly atDesk: TreeGround["atDesk"];
  /** The name of this node. */
  readonly self: () => string;
  readonly runtime: () => CallRuntime;
}

type CallRuntime = Pick<RuntimeApi, "resolve" | "stateOf" | "placeOf" | "permitAll">;

export const nodeCalls = ({ atDesk, self, runtime }: NodeCallGround): NodeCalls => ({
  where: (ref) =>
    Effect.gen(function* () {
      const own = yield* ownCalled(runtime(), ref);
      if (own !== undefined && (!own.isEnded || own.id === ref)) return undefined;
      const asked = atMost(atDesk((store) => store.calls.holder(ref)));
      // A worker that has ended here can be looked at without the cluster.
      const row = yield* own === undefined
        ? Effect.mapError(asked, notHere(ref))
        : Effect.orElseSucceed(asked, () => undefined);
      if (row === undefined || !isElsewhere(row, self(), own)) return undefined;
      const { node, worker_id, node_state } = row;
      if (node_state === "active" || node_state === "draining") return { node, worker_id };
      return row.desired === "running" ? { node, worker_id, trouble: away(row) } : undefined;
    }),
  ask: ({ caller, ...call }) =>
    Effect.gen(function* () {
      yield* runtime().permitAll(caller, "ask another node about a worker");
      if (caller.type === "worker") return failure(notForAgents(call.node));
      const text = JSON.stringify(call.data);
      const refused = refusalOfData(call, text);
      if (refused !== undefined) return failure(refused);
      return yield* asked(atDesk, { ...call, data: text, caller, id: newId(Date.now()) });
    }),
});

interface OwnWorker {
  readonly id: string;
  readonly isEnded: boolean;
  /** The name of its placement. */
  readonly placed: string | undefined;
}

/** A reference that this machine cannot resolve for another reason than that it has no such worker is its own, and fails there. */
const ownCalled = (
  { resolve, stateOf, placeOf }: CallRuntime,
  ref: string,
): Effect.Effect<OwnWorker | undefined, never> =>
  Effect.match(resolve(ref), {
    onSuccess: (id) => ({ id, isEnded: isEnded(stateOf(id) ?? "failed"), placed: placeOf(id)?.worker }),
    onFailure: ({ code }) =>
      code === "WORKER_NOT_FOUND" ? undefined : { id: ref, isEnded: false, placed: undefined },
  });

/** A worker that ended here counts only where the cluster neither moved it nor placed another one of its name. */
const isElsewhere = (
  { worker, node, desired }: HolderRow,
  self: string,
  own: OwnWorker | undefined,
): boolean => node !== self && (own === undefined || own.placed === worker || desired === "running");

const away = ({ worker, node, node_state }: HolderRow): HoldfastError =>
  new HoldfastError("UNAVAILABLE", `The worker ${worker} is on the node ${node}, which is ${node_state}.`, {
    details: { ...OF_CLUSTER, node },
    suggestion: `Read what the cluster's copy has of it: agent logs ${worker}`,
  });

const notHere =
  (ref: string) =>
  ({ message, suggestion }: HoldfastError): HoldfastError =>
    new HoldfastError(
      "UNAVAILABLE",
      `This machine has no worker ${ref}, and the cluster gives no answer: ${message}`,
      { suggestion },
    );

const notForAgents = (node: string): HoldfastError =>
  new HoldfastError(
    "POLICY_VIOLATION",
    `The worker is on the node ${node}, and an agent may ask only its own node about workers.`,
    {
      details: { reason_code: "policy_violation" },
      suggestion: "Ask a person to do it.",
    },
  );

const refusalOfData = (
  { node, name, data }: Omit<NodeCall, "caller">,
  text: string,
): HoldfastError | undefined => {
  const suggestion = `Ask the node itself: agent --host ${node} ${name.slice(name.indexOf("/") + 1)} …`;
  if (text.length > CLUSTER_CALL_MAX_CHARS)
    return new HoldfastError(
      "REQUEST_TOO_LARGE",
      `A request to another node has at most ${CLUSTER_CALL_MAX_CHARS} characters.`,
      {
        phase: "validation",
        suggestion,
      },
    );
  if (JSON.stringify(redactValue(data)) === text) return undefined;
  return new HoldfastError(
    "INVALID_REQUEST",
    `The worker is on the node ${node}, and the request has a secret: it would stand in the database of the cluster.`,
    { phase: "validation", suggestion },
  );
};

/** The row is dropped when its asker goes away, and its node then ends what may be ended. */
const asked = (
  atDesk: NodeCallGround["atDesk"],
  call: AskedCall,
): Effect.Effect<Outcome<object>, HoldfastError> => {
  const { id, node } = call;
  const drop = Effect.ignore(atMost(atDesk(({ calls }) => calls.drop(id))));
  const isTaken = atMost(atDesk(({ calls }) => calls.ask(call)));
  const answered = Effect.flatMap(isTaken, (hasRoom) =>
    hasRoom ? untilAnswered(atDesk, call) : Effect.succeed(failure(tooMany(node))),
  );
  return Effect.ensuring(answered, drop);
};

/** The database may be away for a moment; a node that is gone, or that takes nothing, is given up. */
const untilAnswered = (
  atDesk: NodeCallGround["atDesk"],
  { id, node }: AskedCall,
): Effect.Effect<Outcome<object>, HoldfastError> =>
  Effect.gen(function* () {
    for (let waited_ms = 0; ; waited_ms += CLUSTER_ASK_NODE_MS) {
      const seen = yield* Effect.option(atMost(atDesk(({ calls }) => calls.look(id))));
      const call = Option.getOrNull(seen);
      if (call?.answer != null)
        return outcomeOf(JSON.parse(call.answer) as Exclude<EnvelopeV1, { status: "progress" }>);
      if (call === undefined) return failure(lost(node));
      const isGone = call !== null && (call.node_state === "dead" || call.node_state === "left");
      if (isGone || (waited_ms >= CLUSTER_ANSWER_OF_NODE_MS && call?.is_taken !== true)) {
        const isUntaken = yield* atMost(atDesk(({ calls }) => calls.dropUntaken(id)));
        if (isUntaken) return failure(notTaken(node));
        if (isGone) return failure(lost(node));
      }
      if (waited_ms % CLUSTER_CALL_RENEW_MS === 0)
        yield* Effect.ignore(atMost(atDesk(({ calls }) => calls.renew(id))));
      yield* Effect.sleep(CLUSTER_ASK_NODE_MS);
    }
  });

const LOOK_FIRST = "Look at the cluster with: agent cluster status";

const tooMany = (node: string): HoldfastError =>
  new HoldfastError("QUEUE_FULL", `Too many requests of other nodes wait for the node ${node}.`);

const notTaken = (node: string): HoldfastError =>
  new HoldfastError(
    "UNAVAILABLE",
    `The worker is on the node ${node}, which does not answer. Nothing was done.`,
    {
      details: { ...OF_CLUSTER, node },
      suggestion: LOOK_FIRST,
    },
  );

const lost = (node: string): HoldfastError =>
  new HoldfastError(
    "UNAVAILABLE",
    `The node ${node} took the request, and was lost before it answered. It may have been carried out.`,
    {
      details: { ...OF_CLUSTER, node },
      suggestion: `${LOOK_FIRST}, and look at the worker before you repeat it`,
    },
  );
