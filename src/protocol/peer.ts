/** A peer of this hub: its state, folded from its records. Pure. */
import {
  FEDERATED_TASK_MAX_MS,
  FINGERPRINT_TASKS_KEPT,
  PEER_RATE_PERIOD_MS,
  PEER_REFUSALS_PERIOD_MS,
} from "../base/limits.ts";
import { ulidOf } from "./ids.ts";
import {
  type PeerAdded,
  type PeerMet,
  type PeerTaskAdmitted,
  type PeerTaskSettled,
  type PeerTerms,
  peerNameOf,
  TOLD_CHANGE,
} from "./peer-records.ts";
import type { LogRecord } from "./records.ts";
import type { AlgorithmName, PeerTier, TaskDirection } from "./words.ts";

/** Names of workers that do tasks of peers begin so: what such an agent makes is not passed on to another peer. */
export const FEDERATED = "federated-";

/** The worker of a federated task: the same one, however often the task arrives. */
export const federatedWorker = (hub_id: string, task_id: string): string =>
  `${FEDERATED}${ulidOf(`${hub_id} ${task_id}`).toLowerCase()}`;

/** A federated task that has no result yet. */
export interface OpenTask {
  readonly task_id: string;
  readonly direction: TaskDirection;
  readonly capability: string;
  readonly digest: string;
  readonly at: string;
}

/** weblisk.txt, Peering Handshake: "response patterns, capability stability, error rates". */
export interface Fingerprint {
  /** Since when the peer has had this key and these capabilities; null before the first handshake. */
  readonly since: string | null;
  /** The newest tasks, oldest first: `s` succeeded, `f` failed, `o` succeeded and was odd. */
  readonly recent: string;
  /** The first answer for each capability. */
  readonly first: { readonly [capability: string]: { readonly fields: string; readonly ms: number } };
}

export interface FederatedPeer extends PeerTerms {
  readonly hub_id: string;
  readonly url: string;
  readonly tier: PeerTier;
  /** Null until the handshake, unless the operator has named the key. */
  readonly public_key: string | null;
  readonly algorithm: AlgorithmName | null;
  readonly capabilities: readonly string[];
  /** Epoch seconds of the newest handshake, as the peer has signed them. */
  readonly timestamp: number | null;
  readonly session: string | null;
  readonly added_at: string;
  readonly met_at: string | null;
  readonly fingerprint: Fingerprint;
  readonly open: readonly OpenTask[];
  /** When its tasks of the last hour were admitted: epoch milliseconds, oldest first. */
  readonly admitted: readonly number[];
  /** When it was last refused, by the reason: epoch milliseconds. */
  readonly refused: { readonly [reason: string]: number };
}

const RECORDS = [
  "peer_added",
  "peer_met",
  "peer_key_changed",
  "peer_tier_changed",
  "peer_trusted",
  "peer_revoked",
  "peer_task_admitted",
  "peer_task_refused",
  "peer_task_settled",
] as const;
type PeerRecord = Extract<LogRecord, { type: (typeof RECORDS)[number] }>;
const IS_OF_PEER: ReadonlySet<string> = new Set(RECORDS);

export const isOfPeer = (record: LogRecord): record is PeerRecord => IS_OF_PEER.has(record.type);

/** The names of the members of an answer as one text: its shape. */
export const shapeOf = (fields: readonly string[]): string => [...fields].sort().join(" ");

const NEW_FINGERPRINT: Fingerprint = { since: null, recent: "", first: {} };

const added = (
  peer: FederatedPeer | undefined,
  hub_id: string,
  { by: _, at, ...terms }: PeerAdded,
): FederatedPeer => {
  if (peer !== undefined) {
    const { trust_tier, source } = terms;
    const tier = trust_tier === "known" && peer.tier !== "anonymous" ? "known" : peer.tier;
    return { ...peer, ...terms, trust_tier, source, tier, public_key: terms.public_key ?? peer.public_key };
  }
  return {
    ...terms,
    hub_id,
    tier: "anonymous",
    algorithm: null,
    capabilities: [],
    timestamp: null,
    session: null,
    added_at: at,
    met_at: null,
    fingerprint: NEW_FINGERPRINT,
    open: [],
    admitted: [],
    refused: {},
  };
};

const met = (peer: FederatedPeer, { by: _, at, ...declared }: PeerMet): FederatedPeer => {
  const isSame =
    peer.met_at !== null &&
    peer.public_key === declared.public_key &&
    shapeOf(peer.capabilities) === shapeOf(declared.capabilities);
  return {
    ...peer,
    ...declared,
    met_at: at,
    ...(isSame ? {} : { tier: "known", fingerprint: { ...NEW_FINGERPRINT, since: at } }),
  };
};

const admitted = (
  peer: FederatedPeer,
  { task_id, direction, capability, digest, at }: PeerTaskAdmitted,
): FederatedPeer => {
  const now = Date.parse(at);
  const open = peer.open.filter((task) => now - Date.parse(task.at) < FEDERATED_TASK_MAX_MS);
  const recent = peer.admitted.filter((one) => now - one < PEER_RATE_PERIOD_MS);
  return {
    ...peer,
    open: [...open, { task_id, direction, capability, digest, at }],
    admitted: direction === "in" ? [...recent, now] : recent,
  };
};

/** Requests of a peer are judged as its answers are: its mistakes count. */
const observed = (fingerprint: Fingerprint, letter: "s" | "f" | "o"): Fingerprint => ({
  ...fingerprint,
  recent: `${fingerprint.recent}${letter}`.slice(-FINGERPRINT_TASKS_KEPT),
});

const letterOf = ({ status, is_odd, direction }: PeerTaskSettled): "s" | "f" | "o" => {
  if (direction === "in") return "s";
  if (status === "failed") return "f";
  return is_odd ? "o" : "s";
};

const settled = (peer: FederatedPeer, payload: PeerTaskSettled): FederatedPeer => {
  const { task_id, direction, capability, status, fields, duration_ms } = payload;
  const open = peer.open.filter((task) => task.task_id !== task_id || task.direction !== direction);
  if (status === "cancelled") return { ...peer, open };
  const fingerprint = observed(peer.fingerprint, letterOf(payload));
  const isFirst = direction === "out" && status === "success" && fingerprint.first[capability] === undefined;
  const first = isFirst
    ? { ...fingerprint.first, [capability]: { fields: shapeOf(fields), ms: duration_ms } }
    : fingerprint.first;
  return { ...peer, open, fingerprint: { ...fingerprint, first } };
};

/** Refusals for which the peer is to blame; the others tell of this hub's bounds. */
const IS_MISTAKE: ReadonlySet<string> = new Set([
  "CAPABILITY_DENIED",
  "BOUNDARY_VIOLATION",
  "PEER_UNTRUSTED",
]);

/** The peer after one of its records; undefined if it is no peer. */
export const foldPeer = (peer: FederatedPeer | undefined, record: PeerRecord): FederatedPeer | undefined => {
  if (record.type === "peer_added") return added(peer, peerNameOf(record.stream) ?? "", record.payload);
  if (peer === undefined) return undefined;
  switch (record.type) {
    case "peer_met":
      return met(peer, record.payload);
    case "peer_key_changed": {
      const { public_key, algorithm, at } = record.payload;
      return {
        ...peer,
        public_key,
        algorithm,
        tier: "known",
        fingerprint: { ...NEW_FINGERPRINT, since: at },
      };
    }
    case "peer_tier_changed": {
      const { tier, reason, at } = record.payload;
      // Its deeds before the change say nothing of it now.
      const fingerprint = reason === TOLD_CHANGE ? { ...NEW_FINGERPRINT, since: at } : peer.fingerprint;
      return { ...peer, tier, fingerprint };
    }
    case "peer_trusted":
      return { ...peer, tier: "trusted" };
    case "peer_revoked":
      return undefined;
    case "peer_task_admitted":
      return admitted(peer, record.payload);
    case "peer_task_settled":
      return settled(peer, record.payload);
    case "peer_task_refused": {
      const { reason, at } = record.payload;
      const refused = { ...peer.refused, [reason]: Date.parse(at) };
      const fingerprint = IS_MISTAKE.has(reason) ? observed(peer.fingerprint, "f") : peer.fingerprint;
      return { ...peer, refused, fingerprint };
    }
  }
};

/** Whether the same refusal was told a moment ago. */
export const wasJustRefused = (peer: FederatedPeer, reason: string, now_ms: number): boolean =>
  now_ms - (peer.refused[reason] ?? Number.NEGATIVE_INFINITY) < PEER_REFUSALS_PERIOD_MS;
