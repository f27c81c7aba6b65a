/** Decides who is a peer of this hub, and how far it is trusted (weblisk.txt, Federation). Pure. */
import { FEDERATED_PAYLOAD_DEFAULT_BYTES, PEER_RATE_DEFAULT, PEERS_MAX } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { ConfiguredTerms } from "../../protocol/federation-configuration.ts";
import { type FederatedPeer, shapeOf } from "../../protocol/peer.ts";
import {
  type DataBoundary,
  type PeerMet,
  type PeerTerms,
  peerStream,
  TOLD_CHANGE,
} from "../../protocol/peer-records.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import type { AlgorithmName, PeerChangeClass } from "../../protocol/words.ts";
import { ENDPOINT_TIERS, reaches } from "./access.ts";
import {
  noPeer,
  notKnown,
  notMet,
  oldDeclaration,
  otherKey,
  tierTooLow,
  tooManyPeers,
  writtenElsewhere,
} from "./refusals.ts";

/** The name of the one who decides, and the time. */
export interface Deciding {
  readonly by: string;
  readonly wall_ms: number;
}

export type PeerDrafts = readonly RecordDraft[] | HoldfastError;

export interface AskedPeer extends PeerTerms {
  readonly hub_id: string;
  readonly url: string;
  /** Null: the first key that it shows. */
  readonly public_key: string | null;
}

/** Terms of weblisk.txt, Data Boundary Contracts, where nobody says other ones. */
const USUAL_TERMS: PeerTerms = {
  shared_capabilities: [],
  data_boundary: {
    allow_fields: [],
    deny_fields: [],
    max_payload_size: FEDERATED_PAYLOAD_DEFAULT_BYTES,
    retention: "none",
  },
  rate_limit: PEER_RATE_DEFAULT,
};

/** Terms of a command. Those that it does not say stay as they are. */
export interface SaidTerms {
  readonly shared_capabilities?: readonly string[] | undefined;
  readonly data_boundary?:
    | { readonly [Name in keyof DataBoundary]?: DataBoundary[Name] | undefined }
    | undefined;
  readonly rate_limit?: number | undefined;
}

/**
 * The terms of a peer are written in one place: those of the configuration hold, and no others beside them. `agreed`: those
 * until now.
 */
export const termsOf = (
  hub_id: string,
  { shared_capabilities, data_boundary, rate_limit }: SaidTerms,
  configured: ConfiguredTerms,
  agreed: PeerTerms = USUAL_TERMS,
): PeerTerms | HoldfastError => {
  if (configured === null) return notKnown(hub_id);
  const given = [shared_capabilities, data_boundary, rate_limit].some((term) => term !== undefined);
  const written = Object.hasOwn(configured, hub_id) ? configured[hub_id] : undefined;
  if (written !== undefined)
    return given ? writtenElsewhere(hub_id) : { ...written, source: "configuration" };
  return {
    shared_capabilities: shared_capabilities ?? agreed.shared_capabilities,
    data_boundary: {
      allow_fields: data_boundary?.allow_fields ?? agreed.data_boundary.allow_fields,
      deny_fields: data_boundary?.deny_fields ?? agreed.data_boundary.deny_fields,
      max_payload_size: data_boundary?.max_payload_size ?? agreed.data_boundary.max_payload_size,
      retention: data_boundary?.retention ?? agreed.data_boundary.retention,
    },
    rate_limit: rate_limit ?? agreed.rate_limit,
  };
};

const isoOf = ({ wall_ms }: Deciding): string => new Date(wall_ms).toISOString();
const stamped = (deciding: Deciding) => ({ by: deciding.by, at: isoOf(deciding) });

/** Nothing if the same is agreed already. */
export const decideAdd = (
  there: readonly FederatedPeer[],
  { hub_id, ...asked }: AskedPeer,
  deciding: Deciding,
): PeerDrafts => {
  const peer = there.find((one) => one.hub_id === hub_id);
  if (peer === undefined && there.length >= PEERS_MAX) return tooManyPeers();
  if (peer !== undefined && asked.public_key !== null && peer.public_key !== null)
    if (asked.public_key !== peer.public_key) return otherKey(hub_id);
  const payload = { ...asked, ...stamped(deciding) };
  if (peer !== undefined && isAgreed(peer, asked)) return [];
  return [{ stream: peerStream(hub_id), type: "peer_added", payload }];
};

const isAgreed = (peer: FederatedPeer, { public_key, ...asked }: Omit<AskedPeer, "hub_id">): boolean => {
  const { url, shared_capabilities, data_boundary, rate_limit, trust_tier, source } = peer;
  const isPinned = public_key === null || public_key === peer.public_key;
  const terms = { url, shared_capabilities, data_boundary, rate_limit, trust_tier, source };
  return (
    isPinned &&
    Object.entries(terms).every(
      ([name, value]) => JSON.stringify(value) === JSON.stringify(asked[name as keyof typeof asked]),
    )
  );
};

/**
 * A handshake whose signatures were verified. The time in it must not go back, so that an older declaration moves nothing; the same
 * one again is a noop, which keeps the session.
 */
export const decideMeet = (
  peer: FederatedPeer | undefined,
  hub_id: string,
  declared: Omit<PeerMet, "by" | "at">,
  deciding: Deciding,
): PeerDrafts => {
  if (peer === undefined) return noPeer(hub_id);
  const isOtherKey = peer.public_key !== null && peer.public_key !== declared.public_key;
  const isOtherAlgorithm = peer.algorithm !== null && peer.algorithm !== declared.algorithm;
  if (isOtherKey || isOtherAlgorithm) return otherKey(hub_id);
  if (peer.timestamp !== null) {
    if (declared.timestamp < peer.timestamp) return oldDeclaration();
    const isSame = shapeOf(peer.capabilities) === shapeOf(declared.capabilities) && peer.url === declared.url;
    if (declared.timestamp === peer.timestamp) return isSame ? [] : oldDeclaration();
  }
  // The address is what the operator has agreed to, so that a peer cannot point this hub elsewhere.
  const payload = { ...declared, url: peer.url, ...stamped(deciding) };
  return [{ stream: peerStream(hub_id), type: "peer_met", payload }];
};

/** The step from verified to trusted is the operator's alone (weblisk.txt: "explicit trust grant by admin"). */
export const decideTrust = (
  peer: FederatedPeer | undefined,
  hub_id: string,
  deciding: Deciding,
): PeerDrafts => {
  if (peer === undefined) return noPeer(hub_id);
  if (peer.tier === "trusted") return [];
  if (!reaches(peer.tier, "verified")) return tierTooLow(peer.tier, "verified");
  return [{ stream: peerStream(hub_id), type: "peer_trusted", payload: stamped(deciding) }];
};

export const decideRevoke = (
  peer: FederatedPeer | undefined,
  hub_id: string,
  reason: string,
  deciding: Deciding,
): PeerDrafts =>
  peer === undefined
    ? noPeer(hub_id)
    : [{ stream: peerStream(hub_id), type: "peer_revoked", payload: { reason, ...stamped(deciding) } }];

/** A change that the peer tells of itself: one that may break what was agreed takes it back to known, and it earns the rest anew. */
export const decideNotify = (
  peer: FederatedPeer | undefined,
  hub_id: string,
  change: PeerChangeClass,
  { wall_ms }: Deciding,
): PeerDrafts => {
  if (peer === undefined) return noPeer(hub_id);
  if (peer.session === null) return notMet(hub_id);
  if (!reaches(peer.tier, ENDPOINT_TIERS["federation/notify"]))
    return tierTooLow(peer.tier, ENDPOINT_TIERS["federation/notify"]);
  if (change === "benign" || change === "notable") return [];
  const payload = { tier: "known", reason: TOLD_CHANGE, at: new Date(wall_ms).toISOString() } as const;
  return [{ stream: peerStream(hub_id), type: "peer_tier_changed", payload }];
};

/** A change of key that both keys have signed. */
export const decideKeyChange = (
  peer: FederatedPeer | undefined,
  hub_id: string,
  change: { readonly old_public_key: string; readonly public_key: string; readonly algorithm: AlgorithmName },
  deciding: Deciding,
): PeerDrafts => {
  if (peer === undefined) return noPeer(hub_id);
  const { old_public_key, ...next } = change;
  if (peer.public_key === next.public_key) return [];
  if (peer.public_key !== old_public_key) return otherKey(hub_id);
  return [
    { stream: peerStream(hub_id), type: "peer_key_changed", payload: { ...next, ...stamped(deciding) } },
  ];
};
