/** The identities of a state directory, as the command line loads them. */
import { createHash } from "node:crypto";
import type { AlgorithmName } from "../../protocol/words.ts";
import { type IdentityKey, publicTextOf } from "./algorithms.ts";

export { ensureIdentity, ORCHESTRATOR, privateBytes, readIdentity, rotateIdentity } from "./key-files.ts";
export { rotationOf } from "./rotation.ts";

/** The part of an identity that everybody may know. */
export interface PublicIdentity {
  readonly name: string;
  readonly algorithm: AlgorithmName;
  readonly public_key: string;
  /** SHA-256 of the bytes of the public key, for people who compare two of them. */
  readonly fingerprint: string;
}

export const publicPart = (name: string, key: IdentityKey): PublicIdentity => ({
  name,
  algorithm: key.algorithm.name,
  public_key: publicTextOf(key),
  fingerprint: createHash("sha256").update(key.publicKey).digest("hex"),
});
