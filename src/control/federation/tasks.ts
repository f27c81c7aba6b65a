/** Decides whether a federated task may begin, and what its end says about the peer. Pure. */
import { FEDERATED_TASK_MAX_MS, FEDERATED_TASKS_MAX, PEER_RATE_PERIOD_MS } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { ulidOf } from "../../protocol/ids.ts";
import { type FederatedPeer, foldPeer, wasJustRefused } from "../../protocol/peer.ts";
import { type PeerTaskAdmitted, type PeerTaskSettled, peerStream } from "../../protocol/peer-records.ts";
import type { LogRecord, RecordDraft } from "../../protocol/records.ts";
import type { TaskDirection } from "../../protocol/words.ts";
import { reaches, taskTier } from "./access.ts";
import { FINGERPRINT_RULES, type FingerprintRules, isOdd, judged } from "./fingerprint.ts";
import {
  handedOn,
  notItself,
  notMet,
  notShared,
  otherTask,
  tierTooLow,
  tooManyAtOnce,
  tooOften,
} from "./refusals.ts";
import type { Deciding } from "./registry.ts";

export interface AskedTask extends Omit<PeerTaskAdmitted, "by" | "at"> {
  /** The hub in whose name a delegate asks. */
  readonly on_behalf_of?: string | undefined;
  /** The work itself came from a peer. */
  readonly is_federated?: boolean | undefined;
}

/** A record of the same task has the same id, whatever crashed in between. */
export const admissionId = (hub_id: string, direction: TaskDirection, task_id: string): string =>
  ulidOf(`federation admitted ${direction} ${hub_id} ${task_id}`);
const settlementId = (hub_id: string, direction: TaskDirection, task_id: string): string =>
  ulidOf(`federation settled ${direction} ${hub_id} ${task_id}`);

/** Why it is refused; undefined if it may begin. */
const refusalOf = (peer: FederatedPeer, asked: AskedTask, now_ms: number): HoldfastError | undefined => {
  const { direction, capability, on_behalf_of, is_federated } = asked;
  if (peer.session === null) return notMet(peer.hub_id);
  if (on_behalf_of !== undefined && on_behalf_of !== peer.hub_id) return notItself();
  if (direction === "out" && is_federated === true) return handedOn();
  const lowest = taskTier(capability, on_behalf_of !== undefined);
  if (!reaches(peer.tier, lowest)) return tierTooLow(peer.tier, lowest);
  const shared = direction === "in" ? peer.shared_capabilities : peer.capabilities;
  if (!shared.includes(capability)) return notShared(capability);
  return pressureOf(peer, direction, now_ms);
};

const pressureOf = (
  peer: FederatedPeer,
  direction: TaskDirection,
  now_ms: number,
): HoldfastError | undefined => {
  const within = peer.admitted.filter((at) => now_ms - at < PEER_RATE_PERIOD_MS);
  const over = within.length - peer.rate_limit;
  // The window slides: the oldest request that has to leave it says how long that takes.
  if (direction === "in" && over >= 0)
    return tooOften(peer.rate_limit, (within[over] ?? now_ms) + PEER_RATE_PERIOD_MS - now_ms);
  const open = peer.open.filter(
    (task) => task.direction === direction && now_ms - Date.parse(task.at) < FEDERATED_TASK_MAX_MS,
  );
  return open.length >= FEDERATED_TASKS_MAX ? tooManyAtOnce(direction) : undefined;
};

/** Without records, the task was admitted before, or the refusal has just been told. */
export interface TaskAdmission {
  readonly drafts: readonly RecordDraft[];
  readonly refused?: HoldfastError;
}

/** `earlier`: the admission of a task with this id. */
export const decideAdmit = (
  peer: FederatedPeer,
  asked: AskedTask,
  earlier: PeerTaskAdmitted | undefined,
  { by, wall_ms }: Deciding,
): TaskAdmission => {
  const { task_id, direction, capability, fields, stripped, digest, bytes } = asked;
  const at = new Date(wall_ms).toISOString();
  const stream = peerStream(peer.hub_id);
  const about = { task_id, direction, capability };
  if (earlier !== undefined) {
    const isSame = earlier.digest === digest && earlier.capability === capability;
    return isSame ? { drafts: [] } : { drafts: [], refused: otherTask(task_id) };
  }
  const refused = refusalOf(peer, asked, wall_ms);
  if (refused === undefined) {
    const payload = { ...about, fields, stripped, digest, bytes, by, at };
    const id = admissionId(peer.hub_id, direction, task_id);
    return { drafts: [{ stream, id, type: "peer_task_admitted", payload }] };
  }
  return { drafts: refusalDrafts(peer, about, refused, { by, wall_ms }), refused };
};

/** The record of a refusal, unless the same one was told a moment ago. */
const refusalDrafts = (
  peer: FederatedPeer,
  about: Pick<AskedTask, "task_id" | "direction" | "capability">,
  refused: HoldfastError,
  { by, wall_ms }: Deciding,
): readonly RecordDraft[] => {
  const reason = refused.code;
  if (wasJustRefused(peer, reason, wall_ms)) return [];
  const at = new Date(wall_ms).toISOString();
  const payload = { ...about, reason, by, at };
  return [
    { stream: peerStream(peer.hub_id), type: "peer_task_refused", payload },
    ...judgement(peer, payload, wall_ms),
  ];
};

/** A refusal may cost the peer its tier. */
const judgement = (
  peer: FederatedPeer,
  payload: Extract<RecordDraft, { type: "peer_task_refused" }>["payload"],
  wall_ms: number,
): readonly RecordDraft[] => {
  const stream = peerStream(peer.hub_id);
  const next = foldPeer(peer, { stream, type: "peer_task_refused", payload } as LogRecord & {
    type: "peer_task_refused";
  });
  return next === undefined ? [] : tierDrafts(next, wall_ms, FINGERPRINT_RULES);
};

const tierDrafts = (
  peer: FederatedPeer,
  wall_ms: number,
  rules: FingerprintRules,
): readonly RecordDraft[] => {
  const found = judged(peer, wall_ms, rules);
  if (found === undefined) return [];
  const payload = { ...found, at: new Date(wall_ms).toISOString() };
  return [{ stream: peerStream(peer.hub_id), type: "peer_tier_changed", payload }];
};

export type EndedTask = Omit<PeerTaskSettled, "by" | "at" | "is_odd" | "duration_ms" | "capability">;

/** Nothing if there is no such task at work. */
export const decideSettle = (
  peer: FederatedPeer,
  ended: EndedTask,
  { by, wall_ms }: Deciding,
  rules: FingerprintRules = FINGERPRINT_RULES,
): readonly RecordDraft[] => {
  const { task_id, direction, fields, status } = ended;
  const open = peer.open.find((task) => task.task_id === task_id && task.direction === direction);
  if (open === undefined) return [];
  const duration_ms = Math.max(0, wall_ms - Date.parse(open.at));
  const { capability } = open;
  const is_odd =
    direction === "out" &&
    status === "success" &&
    isOdd(peer.fingerprint, { capability, fields, ms: duration_ms });
  const at = new Date(wall_ms).toISOString();
  const payload: PeerTaskSettled = { ...ended, capability, duration_ms, is_odd, by, at };
  const stream = peerStream(peer.hub_id);
  const id = settlementId(peer.hub_id, direction, task_id);
  const draft = { stream, id, type: "peer_task_settled", payload } as const;
  const next = foldPeer(peer, draft as LogRecord & typeof draft);
  return [draft, ...(next === undefined ? [] : tierDrafts(next, wall_ms, rules))];
};
