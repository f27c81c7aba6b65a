/**
 * The change of an identity's key, signed by the old key and by the new one. The signatures cover both keys, the time and a nonce,
 * so that a captured one moves no identity to another key (weblisk.txt, Identity). Pure.
 */
import { canonicalJson } from "../../protocol/canonical-json.ts";
import type { AlgorithmName } from "../../protocol/words.ts";
import { type IdentityKey, isSignedBy, publicTextOf, signText } from "./algorithms.ts";

export interface RotationClaim {
  readonly op: "rotate-key";
  /** The name of the identity. */
  readonly agent_id: string;
  readonly old_algorithm: AlgorithmName;
  readonly old_public_key: string;
  readonly new_algorithm: AlgorithmName;
  readonly new_public_key: string;
  /** Epoch seconds (weblisk.txt, Wire Format). */
  readonly timestamp: number;
  /** 16 random bytes, as 32 hex digits. */
  readonly nonce: string;
}

export interface KeyRotation extends RotationClaim {
  readonly current_signature: string;
  readonly new_signature: string;
}

export const rotationOf = (
  name: string,
  before: IdentityKey,
  after: IdentityKey,
  { timestamp, nonce }: Pick<RotationClaim, "timestamp" | "nonce">,
): KeyRotation => {
  const claim: RotationClaim = {
    op: "rotate-key",
    agent_id: name,
    old_algorithm: before.algorithm.name,
    old_public_key: publicTextOf(before),
    new_algorithm: after.algorithm.name,
    new_public_key: publicTextOf(after),
    timestamp,
    nonce,
  };
  const text = canonicalJson(claim);
  return { ...claim, current_signature: signText(before, text), new_signature: signText(after, text) };
};

/** The key that has not signed it; undefined if both have. */
export const unsignedKeyOf = ({
  current_signature,
  new_signature,
  ...claim
}: KeyRotation): "old" | "new" | undefined => {
  const text = canonicalJson(claim);
  const before = { algorithm: claim.old_algorithm, publicKey: claim.old_public_key };
  const after = { algorithm: claim.new_algorithm, publicKey: claim.new_public_key };
  if (!isSignedBy(before, text, current_signature)) return "old";
  return isSignedBy(after, text, new_signature) ? undefined : "new";
};

/** Whether both keys have signed it. */
export const isWholeRotation = (rotation: KeyRotation): boolean => unsignedKeyOf(rotation) === undefined;
