/**
 * Hubs with which this one federates, as records tell them (weblisk.txt, Federation). The records hold names and digests of what
 * crosses the boundary, and never a value.
 */
import type { AlgorithmName, PeerTier, TaskDirection } from "./words.ts";

/** The agreement with a peer, with the names of weblisk.txt, Data Boundary Contracts. */
export interface PeerTerms {
  /** The capabilities that the peer may ask for. */
  readonly shared_capabilities: readonly string[];
  readonly data_boundary: DataBoundary;
  /** Requests of the peer in any hour. */
  readonly rate_limit: number;
  /** The highest tier that the peer gets by its behaviour; without it, verified. */
  readonly trust_tier?: "known" | "verified" | undefined;
  /** The place of the terms; without it, flags of a command. */
  readonly source?: "configuration" | undefined;
}

export interface DataBoundary {
  /** Members of the payload that may cross; empty: all that are not denied. */
  readonly allow_fields: readonly string[];
  /** Members that never cross, at any depth. */
  readonly deny_fields: readonly string[];
  /** Bytes of the payload, after fields were stripped. */
  readonly max_payload_size: number;
  /** `none`, or for how many hours an answer may be kept, as `24h`. */
  readonly retention: string;
}

export interface PeerAdded extends PeerTerms {
  readonly url: string;
  /** The key that the peer must have; null: the first one that it shows. */
  readonly public_key: string | null;
  readonly by: string;
  readonly at: string;
}

export interface PeerMet {
  readonly public_key: string;
  readonly algorithm: AlgorithmName;
  readonly url: string;
  /** The capabilities that it says it shares. */
  readonly capabilities: readonly string[];
  /** Epoch seconds, as the peer has signed them. */
  readonly timestamp: number;
  /** Part of each token for the peer, so that they end with this acquaintance. */
  readonly session: string;
  readonly by: string;
  readonly at: string;
}

export interface PeerKeyChanged {
  readonly public_key: string;
  readonly algorithm: AlgorithmName;
  readonly by: string;
  readonly at: string;
}

interface AboutTask {
  /** 32 hexadecimal digits. */
  readonly task_id: string;
  readonly direction: TaskDirection;
  readonly capability: string;
}

/** Names of members, and the digest of the payload. */
interface CrossingNames {
  /** Names of members that crossed. */
  readonly fields: readonly string[];
  /** Names of members that were stripped. */
  readonly stripped: readonly string[];
  /** SHA-256 of the payload's canonical JSON, after fields were stripped. */
  readonly digest: string;
  readonly bytes: number;
}

export interface PeerTaskAdmitted extends AboutTask, CrossingNames {
  readonly by: string;
  readonly at: string;
}

export interface PeerTaskRefused extends AboutTask {
  /** The code of the error. */
  readonly reason: string;
  readonly by: string;
  readonly at: string;
}

export interface PeerTaskSettled extends AboutTask, CrossingNames {
  readonly status: "success" | "failed" | "cancelled";
  readonly duration_ms: number;
  /** Unlike the peer's earlier answers for this capability: other members, or far slower. */
  readonly is_odd: boolean;
  readonly by: string;
  readonly at: string;
}

/** The payloads of records about peers, by their types: part of `RecordPayloads`. */
export interface PeerRecords {
  /** The operator agrees to federate with a hub; the stream has its name. Again: other terms. */
  peer_added: PeerAdded;
  /** A handshake in which both sides proved their keys: the peer is at least known from now on. */
  peer_met: PeerMet;
  /** Both keys have signed the change. The peer is known again, and earns the rest anew. */
  peer_key_changed: PeerKeyChanged;
  /** The peer's behaviour was judged. */
  peer_tier_changed: {
    readonly tier: Exclude<PeerTier, "trusted">;
    readonly reason: string;
    readonly at: string;
  };
  /** The operator grants a verified peer that it may act as a delegate. */
  peer_trusted: { readonly by: string; readonly at: string };
  /** The peer is out of the registry, and its tokens are void. */
  peer_revoked: { readonly reason: string; readonly by: string; readonly at: string };
  /** A federated task may begin. */
  peer_task_admitted: PeerTaskAdmitted;
  /** A federated task was refused. The same refusals of one minute are told once. */
  peer_task_refused: PeerTaskRefused;
  /** A federated task has ended. */
  peer_task_settled: PeerTaskSettled;
  /** One entry of the audit chain, with what the records of its commit say. */
  audit_entry: AuditEntry;
}

/** weblisk.txt, Audit trail; notes 4: AuditEntry. */
export interface AuditEntry {
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** Epoch seconds. */
  readonly timestamp: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly detail: { readonly [name: string]: string | number | boolean | readonly string[] };
  readonly status: "ok" | "denied" | "failed";
  /** The SHA-256 of the canonical JSON of the entry before, in hexadecimal digits; 64 zeros in the first one. */
  readonly previous_hash: string;
}

/** The reason of a tier that a peer has lost because it told of a change of itself. */
export const TOLD_CHANGE = "change_told";

const PEER_STREAM = "peer:";
export const peerStream = (hub_id: string): string => `${PEER_STREAM}${hub_id}`;
/** The inverse of `peerStream`; undefined for a stream of something else. */
export const peerNameOf = (stream: string): string | undefined =>
  stream.startsWith(PEER_STREAM) ? stream.slice(PEER_STREAM.length) : undefined;
/** The stream of all audit entries. */
export const AUDIT_STREAM = "audit";
