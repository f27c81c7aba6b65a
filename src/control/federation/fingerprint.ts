/** Whether a peer behaves as it did (weblisk.txt, Peering Handshake, steps 5 and 6). Pure. */
import {
  FINGERPRINT_AGE_MIN_MS,
  FINGERPRINT_ERRORS_MAX_PERCENT,
  FINGERPRINT_LOST_PERCENT,
  FINGERPRINT_SLOW_MIN_MS,
  FINGERPRINT_SLOW_TIMES,
  FINGERPRINT_TASKS_MIN,
} from "../../base/limits.ts";
import { type FederatedPeer, type Fingerprint, shapeOf } from "../../protocol/peer.ts";

/** From when on a peer is verified, and until when it stays so. */
export interface FingerprintRules {
  /** Successful tasks. */
  readonly tasks_min: number;
  readonly age_min_ms: number;
  /** Failures, and odd answers, in a hundred of the newest tasks. */
  readonly errors_max_percent: number;
  /** More of them cost the tier. It is above the other bound, so that a peer does not go up and down. */
  readonly lost_percent: number;
}

export const FINGERPRINT_RULES: FingerprintRules = {
  tasks_min: FINGERPRINT_TASKS_MIN,
  age_min_ms: FINGERPRINT_AGE_MIN_MS,
  errors_max_percent: FINGERPRINT_ERRORS_MAX_PERCENT,
  lost_percent: FINGERPRINT_LOST_PERCENT,
};

const countOf = (recent: string, letter: string): number => recent.split(letter).length - 1;

/** The new tier of a peer, and the reason; undefined if it keeps its tier. */
export const judged = (
  {
    tier,
    trust_tier,
    fingerprint: { since, recent },
  }: Pick<FederatedPeer, "tier" | "trust_tier" | "fingerprint">,
  now_ms: number,
  rules: FingerprintRules = FINGERPRINT_RULES,
): { readonly tier: "known" | "verified"; readonly reason: string } | undefined => {
  if (since === null || tier === "anonymous") return undefined;
  const failed = (countOf(recent, "f") * 100) / Math.max(1, recent.length);
  const odd = (countOf(recent, "o") * 100) / Math.max(1, recent.length);
  if (tier === "known" && trust_tier === "known") return undefined;
  if (tier === "known") {
    const isEnough = countOf(recent, "s") + countOf(recent, "o") >= rules.tasks_min;
    const isOld = now_ms - Date.parse(since) >= rules.age_min_ms;
    const isGood = failed <= rules.errors_max_percent && odd <= rules.errors_max_percent;
    return isEnough && isOld && isGood ? { tier: "verified", reason: "fingerprint_matches" } : undefined;
  }
  if (recent.length < rules.tasks_min) return undefined;
  if (failed > rules.lost_percent) return { tier: "known", reason: "too_many_failures" };
  return odd > rules.lost_percent ? { tier: "known", reason: "answers_changed" } : undefined;
};

/** Whether an answer is unlike the first one for this capability: it has other members, or took far longer. */
export const isOdd = (
  { first }: Fingerprint,
  {
    capability,
    fields,
    ms,
  }: { readonly capability: string; readonly fields: readonly string[]; readonly ms: number },
): boolean => {
  const usual = Object.hasOwn(first, capability) ? first[capability] : undefined;
  if (usual === undefined) return false;
  const isSlow = ms >= FINGERPRINT_SLOW_MIN_MS && ms > FINGERPRINT_SLOW_TIMES * usual.ms;
  return isSlow || usual.fields !== shapeOf(fields);
};
