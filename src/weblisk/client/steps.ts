/** A task elsewhere, as a request and as what each answer asks for next. Pure. */
import { asObject, asString, type JsonObject } from "../../base/json.ts";
import { WEBLISK_RETRY_AFTER_MAX_S } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { RemoteTaskOrder } from "../../protocol/weblisk-lines.ts";
import type { Verifier } from "../identity/algorithms.ts";
import { digestOf, requestDigest } from "../server/results.ts";
import { profileOfSignature } from "../signing/operations.ts";
import { readAs } from "../types/read.ts";
import { TaskResult } from "../types/tasks.ts";
import type { WireBody } from "../wire/body.ts";
import { wireId } from "../wire/ids.ts";
import type { IncomingReply } from "./exchange.ts";
import { refusedBy, untrusted } from "./refused.ts";

/** The request of a task. It is the same each time, so that its repeat is the same task. */
export const requestOf = ({
  task_id,
  agent,
  inputs,
  priority,
  deadline,
  trace_id,
  workspace_root,
}: RemoteTaskOrder): JsonObject => ({
  id: task_id,
  context: { trace_id, ...(workspace_root !== undefined && { workspace_root }) },
  inputs,
  priority,
  ...(deadline !== undefined && { deadline }),
  target_agent: agent,
});

/** The next step after an answer. */
export type RemoteStep =
  | { readonly do: "read"; readonly body: WireBody }
  /** The orchestrator has the task: look again later. */
  | { readonly do: "look"; readonly isAsking: boolean }
  /** It has no room, or is asked too often. */
  | { readonly do: "wait"; readonly after_s: number | undefined }
  /** Nobody answered, or it failed. */
  | { readonly do: "retry" }
  /** It does not know the task: give it, again if need be. */
  | { readonly do: "give" }
  | { readonly do: "fail"; readonly error: HoldfastError };

/** `isGiven`: the task was taken before. */
export const stepAfter = (
  reply: IncomingReply | "silent" | "slow",
  { isGiven, host }: { readonly isGiven: boolean; readonly host: string },
): RemoteStep => {
  if (typeof reply === "string") return { do: "retry" };
  const { status, body } = reply;
  if (status === 200 && body !== undefined)
    return body.value.status === "pending_approval" ? { do: "look", isAsking: true } : { do: "read", body };
  if (status === 202) return { do: "look", isAsking: false };
  if (status === 429) {
    const after_s = reply.retry_after_s;
    return { do: "wait", after_s: after_s && Math.min(after_s, WEBLISK_RETRY_AFTER_MAX_S) };
  }
  if (status >= 500) return { do: "retry" };
  if (status === 404 && isGiven) return { do: "give" };
  return { do: "fail", error: refusedBy(host, reply) };
};

export type RemoteResult = Pick<
  ReturnType<typeof readAs<typeof TaskResult>>,
  "status" | "output" | "changes" | "observations" | "duration_ms"
>;

/** A result that its agent has signed, for this task. Throws PEER_UNTRUSTED for any other, or a WebliskRefusal. */
export const provenResult = (
  body: WireBody,
  order: RemoteTaskOrder,
  verifier: Verifier,
  host: string,
): RemoteResult => {
  const said = readAs(TaskResult, body.value);
  const proofs = [body.value.signature, body.value.signature_jcs];
  if (!proofs.some((proof) => profileOfSignature(verifier, "result", body, proof) !== undefined))
    throw untrusted(host, `the result is not signed by the key that ${order.agent} showed first.`);
  if (wireId(said.task_id) !== order.task_id) throw untrusted(host, "the result is that of another task.");
  const why = contradictionIn(said.output, body.value, order);
  if (why !== undefined) throw untrusted(host, why);
  return said;
};

/** The document's signature covers the output alone, so an output may tell what else holds (a peer of this project does). */
const contradictionIn = (
  { agent_name, request_digest, digests }: JsonObject,
  whole: JsonObject,
  order: RemoteTaskOrder,
): string | undefined => {
  if (asString(agent_name) !== undefined && agent_name !== order.agent)
    return "the result is that of another agent.";
  if (
    asString(request_digest) !== undefined &&
    request_digest !== requestDigest(order.agent, requestOf(order))
  )
    return "the result is that of another request.";
  const changed = Object.entries(asObject(digests) ?? {}).find(
    ([name, digest]) => digest !== digestOf(whole[name] ?? []),
  );
  return changed && `its ${changed[0].slice(0, 64)} are not those that were signed.`;
};
