/** The asker of another node: which node has a worker, and what that node answers (decision 0101). */
import { Effect, Option } from "effect";
import {
  CLUSTER_ANSWER_OF_NODE_MS,
  CLUSTER_ASK_NODE_MS,
  CLUSTER_CALL_AWAY_MS,
  CLUSTER_CALL_MAX_CHARS,
  CLUSTER_CALL_RENEW_MS,
  CLUSTER_DECISION_MS,
} from "../../base/limits.ts";
import type { AskedCall, HolderRow } from "../../cluster/postgres/calls.ts";
import { type EnvelopeV1, outcomeOf } from "../../protocol/envelope-v1.ts";
import { HoldfastError, OF_CLUSTER } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import { failure, type Outcome } from "../../protocol/outcome.ts";
import { redactValue } from "../../protocol/redact.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { RuntimeApi } from "../../runtime/api.ts";
import type { HeldByNobody, HeldElsewhere, NodeCall, NodeCalls } from "../cluster-api.ts";
import { atMost, type TreeGround } from "./tree.ts";

interface NodeCallGround {
  readonly atDesk: TreeGround["atDesk"];
  /** The name of this node; undefined while it is none. */
  readonly self: () => string | undefined;
  readonly runtime: () => CallRuntime;
}

type CallRuntime = Pick<RuntimeApi, "resolve" | "stateOf" | "hasOther" | "placeOf" | "permitAll">;

export const nodeCalls = ({ atDesk, self, runtime }: NodeCallGround): NodeCalls => ({
  isNode: () => self() !== undefined,
  where: (ref) =>
    Effect.gen(function* () {
      const own = yield* ownCalled(runtime(), ref);
      if (own !== undefined && (!own.isEnded || own.id === ref)) return undefined;
      const asked = atMost(atDesk((store) => store.calls.holder(ref)));
      // A worker that has ended here can be looked at without the cluster.
      const row = yield* own === undefined
        ? Effect.mapError(asked, notHere(ref))
        : Effect.orElseSucceed(asked, () => undefined);
      return row !== undefined && isElsewhere(row, self(), own) ? heldBy(row) : undefined;
    }),
  ask: ({ caller, worker_id, ...call }) =>
    Effect.gen(function* () {
      yield* runtime().permitAll(caller, "ask another node about a worker");
      if (caller.type === "worker") return failure(notForAgents(call.node));
      const text = JSON.stringify(call.data);
      const refused = refusalOfData(call, text);
      if (refused !== undefined) return failure(refused);
      const asked = { ...call, data: text, caller, id: newId(Date.now()) };
      const outcome = yield* Effect.mapError(answered(atDesk, asked), ofCluster);
      // Another node claims it between the look and the answer.
      const isMoving = !outcome.ok && outcome.error.code === "WORKER_NOT_FOUND";
      return isMoving ? failure(moving(worker_id)) : outcome;
    }),
});

interface OwnWorker {
  readonly id: string;
  readonly isEnded: boolean;
  /** The name of its placement. */
  readonly placed: string | undefined;
}

/**
 * A reference that this machine cannot resolve for another reason than that it has no such worker is its own, and fails there; so is one
 * of a supervisor or of a permission request.
 */
const ownCalled = (
  { resolve, stateOf, hasOther, placeOf }: CallRuntime,
  ref: string,
): Effect.Effect<OwnWorker | undefined> => {
  const ofOther = { id: ref, isEnded: false, placed: undefined };
  if (hasOther(ref)) return Effect.succeed(ofOther);
  return Effect.match(resolve(ref), {
    onSuccess: (id) => ({ id, isEnded: isEnded(stateOf(id) ?? "failed"), placed: placeOf(id)?.worker }),
    onFailure: ({ code }) => (code === "WORKER_NOT_FOUND" ? undefined : ofOther),
  });
};

/** A worker that ended here counts only where the cluster neither moved it nor placed another one of its name. */
const isElsewhere = (
  { worker, node, desired }: HolderRow,
  self: string | undefined,
  own: OwnWorker | undefined,
): boolean => node !== self && (own === undefined || own.placed === worker || desired === "running");

const heldBy = (row: HolderRow): HeldElsewhere | HeldByNobody | undefined => {
  const { worker, node, node_state, worker_id, desired } = row;
  const isLiving = node_state === "active" || node_state === "draining";
  if (node !== null && worker_id !== null && isLiving) return { node, worker_id };
  if (desired !== "running") return undefined;
  return { trouble: node === null || isLiving ? moving(worker) : away(worker, node, node_state ?? "gone") };
};

const unavailable = (message: string, suggestion: string, node?: string): HoldfastError =>
  new HoldfastError("UNAVAILABLE", message, {
    details: { ...OF_CLUSTER, ...(node === undefined ? {} : { node }) },
    suggestion,
  });

const LOOK_AT_CLUSTER = "Look at the cluster with: agent cluster status";

const moving = (worker: string): HoldfastError =>
  unavailable(`The worker ${worker} is being placed on another node. Nothing was done.`, LOOK_AT_CLUSTER);

const away = (worker: string, node: string, state: string): HoldfastError =>
  unavailable(
    `The worker ${worker} is on the node ${node}, which is ${state}.`,
    `Read what the cluster's copy has of it: agent logs ${worker}`,
    node,
  );

const notHere =
  (ref: string) =>
  ({ message, suggestion }: HoldfastError): HoldfastError =>
    unavailable(
      `This machine has no worker ${ref}, and the cluster gives no answer: ${message}`,
      suggestion ?? LOOK_AT_CLUSTER,
    );

/** A database that gives no answer is no end of the daemon that was asked. */
const ofCluster = (error: HoldfastError): HoldfastError =>
  error.code === "UNAVAILABLE" ? unavailable(error.message, error.suggestion ?? LOOK_AT_CLUSTER) : error;

const notForAgents = (node: string): HoldfastError =>
  new HoldfastError(
    "POLICY_VIOLATION",
    `The worker is on the node ${node}, and an agent may ask only its own node about workers.`,
    { details: { reason_code: "policy_violation" }, suggestion: "Ask a person to do it." },
  );

const refusalOfData = (
  { node, name, data }: Pick<NodeCall, "node" | "name" | "data">,
  text: string,
): HoldfastError | undefined => {
  const suggestion = `Ask the node itself: agent --host ${node} ${name.slice(name.indexOf("/") + 1)} …`;
  if (text.length > CLUSTER_CALL_MAX_CHARS)
    return new HoldfastError(
      "REQUEST_TOO_LARGE",
      `A request to another node has at most ${CLUSTER_CALL_MAX_CHARS} characters.`,
      { phase: "validation", suggestion },
    );
  if (JSON.stringify(redactValue(data)) === text) return undefined;
  return new HoldfastError(
    "INVALID_REQUEST",
    `The worker is on the node ${node}, and the request has a secret: it would stand in the database of the cluster.`,
    { phase: "validation", suggestion },
  );
};

/** The row is dropped when its asker goes away, and its node then ends what may be ended. */
const answered = (
  atDesk: NodeCallGround["atDesk"],
  call: AskedCall,
): Effect.Effect<Outcome<object>, HoldfastError> => {
  const { id, node } = call;
  const drop = Effect.ignore(atMost(atDesk(({ calls }) => calls.drop(id))));
  // The row may be there although the database did not say so.
  const written = Effect.mapError(
    atMost(
      atDesk(({ calls }) => calls.ask(call)),
      CLUSTER_DECISION_MS,
    ),
    ({ message }) => unsure(node, message),
  );
  const answer = Effect.flatMap(written, (hasRoom) =>
    hasRoom ? untilAnswered(atDesk, call) : Effect.succeed(failure(tooMany(node))),
  );
  return Effect.ensuring(answer, drop);
};

/** A database that is away is waited for, for some time; a node that is gone, or that takes nothing, is given up. */
const untilAnswered = (
  atDesk: NodeCallGround["atDesk"],
  { id, node }: AskedCall,
): Effect.Effect<Outcome<object>, HoldfastError> =>
  Effect.gen(function* () {
    const begun = performance.now();
    let [seenAt, renewedAt, isTaken] = [begun, begun, false];
    for (;;) {
      const seen = yield* Effect.option(atMost(atDesk(({ calls }) => calls.look(id))));
      const now = performance.now();
      if (Option.isNone(seen)) {
        if (now - seenAt > CLUSTER_CALL_AWAY_MS) return failure(unsure(node, "the database gives no answer"));
      } else {
        const call = seen.value;
        if (call === undefined) return failure(lost(node));
        if (call.answer !== null) return answerIn(call.answer);
        seenAt = now;
        isTaken ||= call.is_taken;
        const isGone = call.node_state === "dead" || call.node_state === "left";
        if (isGone || (now - begun >= CLUSTER_ANSWER_OF_NODE_MS && !isTaken)) {
          const isUntaken = yield* atMost(atDesk(({ calls }) => calls.dropUntaken(id)));
          if (isUntaken) return failure(notTaken(node));
          if (isGone) return failure(lost(node));
        }
        if (now - renewedAt >= CLUSTER_CALL_RENEW_MS) {
          yield* Effect.ignore(atMost(atDesk(({ calls }) => calls.renew(id))));
          renewedAt = now;
        }
      }
      yield* Effect.sleep(CLUSTER_ASK_NODE_MS);
    }
  });

const answerIn = (text: string): Outcome<object> =>
  outcomeOf(JSON.parse(text) as Exclude<EnvelopeV1, { status: "progress" }>);

const LOOK_FIRST = `${LOOK_AT_CLUSTER}, and look at the worker before you repeat it`;

const tooMany = (node: string): HoldfastError =>
  new HoldfastError("QUEUE_FULL", `Too many requests of other nodes wait for the node ${node}.`);

const notTaken = (node: string): HoldfastError =>
  unavailable(
    `The worker is on the node ${node}, which does not answer. Nothing was done.`,
    LOOK_AT_CLUSTER,
    node,
  );

const lost = (node: string): HoldfastError =>
  unavailable(
    `The node ${node} took the request, and was lost before it answered. It may have been carried out.`,
    LOOK_FIRST,
    node,
  );

const unsure = (node: string, why: string): HoldfastError =>
  unavailable(
    `The request to the node ${node} has no answer, and may have been carried out: ${why}`,
    LOOK_FIRST,
    node,
  );
