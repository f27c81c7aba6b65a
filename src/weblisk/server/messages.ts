/** Messages to a served agent (weblisk.txt, What Gets Signed): it tells what it can do; work is a task. Pure. */
import type { JsonObject } from "../../base/json.ts";
import type { AcceptedProfile } from "../../protocol/words.ts";
import { type IdentityKey, verifierOf } from "../identity/algorithms.ts";
import { profileOfSignature, signedBy } from "../signing/operations.ts";
import { readAs } from "../types/read.ts";
import { AgentMessage } from "../types/talk.ts";
import type { WireBody } from "../wire/body.ts";
import { WebliskRefusal } from "../wire/refusal.ts";
import type { ServedAgent } from "./ports.ts";
import type { WireCaller } from "./registry.ts";

export interface MessageFacts {
  readonly served: ServedAgent;
  /** The key of the served agent. */
  readonly key: IdentityKey;
  readonly caller: WireCaller;
  /** The id of the answer. */
  readonly id: string;
  readonly trace: string;
  /** Epoch seconds. */
  readonly now: number;
  /** The profile in which it must be signed. */
  readonly signing: AcceptedProfile | undefined;
}

/** The signed answer. Throws INVALID_SIGNATURE for a signature of somebody else, and FORBIDDEN for another's name. */
export const answerMessage = (
  body: WireBody,
  { served, key, caller, id, trace, now, signing }: MessageFacts,
): JsonObject => {
  const { from, to, action, signature } = readAs(AgentMessage, body.value);
  const { name, algorithm, public_key, profile } = caller.agent;
  if (from !== name)
    throw new WebliskRefusal("FORBIDDEN", `The token is ${name}'s; send in that name.`, {
      reason: "another_name",
    });
  if (to !== served.name)
    throw new WebliskRefusal("INVALID_REQUEST", `This is ${served.name}; send to it.`, {
      reason: "another_agent",
    });
  const verifier = verifierOf({ algorithm, publicKey: public_key });
  const isForged =
    signature !== undefined &&
    (verifier === undefined ||
      profileOfSignature(verifier, "message", body, signature, signing) === undefined);
  if (isForged)
    throw new WebliskRefusal("INVALID_SIGNATURE", "The message was not signed by its sender's key.", {
      reason: "message_signature",
    });
  const payload = payloadOf(action, served);
  const answer = { from: served.name, to: from, action, payload };
  return {
    id,
    ...answer,
    type: "response",
    ...signedBy(key, "message", answer, profile),
    timestamp: now,
    trace_id: trace,
  };
};

const payloadOf = (action: string, { capabilities, max_concurrent }: ServedAgent): JsonObject => {
  if (action === "get_capabilities")
    return { capabilities: capabilities.map((name) => ({ name })), max_concurrent };
  throw new WebliskRefusal(
    "NOT_FOUND",
    "The action is unknown; get_capabilities is known, and work is a task.",
    {
      reason: "action_unknown",
    },
  );
};
