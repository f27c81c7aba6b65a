/** Why something about a peer is refused. Pure. */
import { FEDERATED_TASKS_MAX, PEERS_MAX } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { PeerTier, TaskDirection } from "../../protocol/words.ts";

export const noPeer = (hub_id: string): HoldfastError =>
  new HoldfastError("PEER_NOT_FOUND", `There is no peer "${hub_id}".`);

export const tooManyPeers = (): HoldfastError =>
  new HoldfastError("QUEUE_FULL", `There are ${PEERS_MAX} peers already.`, {
    suggestion: "Revoke those that nobody uses: agent peer list",
  });

export const writtenElsewhere = (hub_id: string): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", `The terms of "${hub_id}" are in config.yaml.`, {
    suggestion: `Change federation.peers.${hub_id} there and run: agent daemon upgrade --force; or leave the flags out.`,
  });

/** weblisk.txt, Trust Tiers: "explicit trust grant by admin". */
export const notByAgents = (what: string): HoldfastError =>
  new HoldfastError("POLICY_VIOLATION", `An agent may not ${what}, whatever its rights are.`, {
    suggestion: "Ask the person who runs the daemon to do it.",
  });

export const otherKey = (hub_id: string): HoldfastError =>
  new HoldfastError("PEER_UNTRUSTED", `The hub "${hub_id}" shows another key than the one that is known.`, {
    suggestion: `If its operator has changed the key: agent peer revoke ${hub_id}, and add it again.`,
  });

export const oldDeclaration = (): HoldfastError =>
  new HoldfastError(
    "NOT_AUTHORISED",
    "The timestamp of the declaration is older than that of the one before.",
    {
      suggestion: "Sign a new declaration.",
    },
  );

export const notMet = (hub_id: string): HoldfastError =>
  new HoldfastError("PEER_UNTRUSTED", `There was no handshake with "${hub_id}" yet.`);

export const tierTooLow = (tier: PeerTier, lowest: PeerTier): HoldfastError =>
  new HoldfastError("PEER_UNTRUSTED", `That needs the tier ${lowest}, and the peer is ${tier}.`, {
    suggestion: "See how it is judged: agent peer show",
    details: { tier, needs: lowest },
  });

export const notShared = (capability: string): HoldfastError =>
  new HoldfastError("CAPABILITY_DENIED", `The capability "${capability}" is not shared with this peer.`);

/** weblisk.txt, No transitive trust: a peer speaks for itself. */
export const notItself = (): HoldfastError =>
  new HoldfastError("PEER_UNTRUSTED", "A peer may ask in its own name only.", {
    suggestion: "Let the other hub ask itself: trust is not handed on.",
  });

export const handedOn = (): HoldfastError =>
  new HoldfastError("PEER_UNTRUSTED", "A task that came from a peer may not be passed on to another one.", {
    suggestion: "Let the hub that asks peer with the other one itself.",
  });

export const tooOften = (rate_limit: number, retry_after_ms: number): HoldfastError =>
  new HoldfastError("RATE_LIMITED", `A peer may ask ${rate_limit} times in an hour.`, {
    suggestion: "Wait until the oldest request is an hour old.",
    retry_after_s: Math.ceil(retry_after_ms / 1_000),
  });

export const tooManyAtOnce = (direction: TaskDirection): HoldfastError =>
  direction === "in"
    ? new HoldfastError("RATE_LIMITED", `${FEDERATED_TASKS_MAX} federated tasks are at work already.`, {
        suggestion: "Wait until one of them has ended.",
        retry_after_s: 1,
      })
    : new HoldfastError("RATE_LIMITED", `${FEDERATED_TASKS_MAX} tasks for this hub have no answer yet.`, {
        suggestion:
          "Ask for their answers, with the ids that `agent audit list` names: agent peer task --id ID. One that has none is forgotten after an hour.",
      });

export const notKnown = (hub_id: string): HoldfastError =>
  new HoldfastError(
    "INVALID_STATE",
    `config.yaml has mistakes, so it may have terms of ${hub_id} that nobody knows.`,
    {
      suggestion: "Correct it (agent doctor names the mistakes), then: agent daemon upgrade --force",
    },
  );

export const otherTask = (task_id: string): HoldfastError =>
  new HoldfastError("ALREADY_EXISTS", `The task ${task_id} was another one.`, {
    suggestion: "Give each task an id of its own: 16 random bytes, as 32 hexadecimal digits.",
  });
