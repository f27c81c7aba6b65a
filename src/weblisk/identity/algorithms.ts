/**
 * Signature algorithms of Weblisk identities (weblisk.txt, Identity and Algorithm Agility). The algorithm of a key is bound to
 * the stored key: a signature of another one is never accepted for it. Nothing of the cryptography is made here.
 */
import {
  createPrivateKey,
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from "node:crypto";
import type { AlgorithmName } from "../../protocol/words.ts";
import { base64urlOf, bytesOfBase64url, bytesOfHex, hexOf } from "./forms.ts";

/** Both algorithms derive everything from 32 random bytes (RFC 8032, 5.1.5; FIPS 204, algorithm 1). */
export const SEED_BYTES = 32;

export interface SigningAlgorithm {
  readonly name: AlgorithmName;
  readonly publicKeyBytes: number;
  readonly signatureBytes: number;
  /** The form of keys and signatures in texts. */
  readonly textOf: (bytes: Uint8Array) => string;
  readonly bytesOf: (text: string, length: number) => Buffer | undefined;
  /** PKCS #8 up to the seed. */
  readonly seedPrefix: string;
  readonly publicJwk: (publicKey: Uint8Array) => JsonWebKey;
  /** Public keys under which a signature proves nothing. */
  readonly isWeak: (publicKey: Uint8Array) => boolean;
}

/**
 * The encodings of points of small order on Curve25519: a signature under such a key holds for many messages, and node:crypto
 * accepts it. The last six are not canonical.
 */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0000000000000000000000000000000000000000000000000000000000000080",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000080",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
]);

export const ALGORITHMS: Readonly<Record<AlgorithmName, SigningAlgorithm>> = {
  Ed25519: {
    name: "Ed25519",
    publicKeyBytes: 32,
    signatureBytes: 64,
    textOf: hexOf,
    bytesOf: bytesOfHex,
    seedPrefix: "302e020100300506032b657004220420",
    publicJwk: (key) => ({ kty: "OKP", crv: "Ed25519", x: base64urlOf(key) }),
    isWeak: (key) => SMALL_ORDER.has(hexOf(key)),
  },
  "ML-DSA-65": {
    name: "ML-DSA-65",
    publicKeyBytes: 1_952,
    signatureBytes: 3_309,
    textOf: base64urlOf,
    bytesOf: bytesOfBase64url,
    seedPrefix: "3034020100300b060960864801650304031204228020",
    publicJwk: (key) => ({ kty: "AKP", alg: "ML-DSA-65", pub: base64urlOf(key) }),
    isWeak: () => false,
  },
};

/** A key pair. The private part never leaves the object but through `seed`. */
export interface IdentityKey {
  readonly algorithm: SigningAlgorithm;
  readonly seed: Buffer;
  readonly publicKey: Buffer;
  readonly privateKey: KeyObject;
}

/** Throws if this Node does not have the algorithm. */
export const keyOfSeed = (algorithm: SigningAlgorithm, seed: Buffer): IdentityKey => {
  const der = Buffer.concat([Buffer.from(algorithm.seedPrefix, "hex"), seed]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const { x, pub } = createPublicKey(privateKey).export({ format: "jwk" }) as JsonWebKey;
  return {
    algorithm,
    seed,
    privateKey,
    publicKey: Buffer.from((x ?? pub) as string, "base64url"),
  };
};

export const newKey = (algorithm: SigningAlgorithm): IdentityKey =>
  keyOfSeed(algorithm, randomBytes(SEED_BYTES));

export const publicTextOf = ({ algorithm, publicKey }: IdentityKey): string => algorithm.textOf(publicKey);

/** The signature of the bytes of a text in UTF-8. */
export const signBytes = ({ privateKey }: IdentityKey, text: string): Buffer =>
  sign(null, Buffer.from(text), privateKey);

/** The same as text. */
export const signText = (key: IdentityKey, text: string): string =>
  key.algorithm.textOf(signBytes(key, text));

/** A public key, and the one algorithm whose signatures it takes. */
export interface PublicKeyRecord {
  readonly algorithm: AlgorithmName;
  /** In the algorithm's text form. */
  readonly publicKey: string;
}

/** A public key that is ready to check signatures. */
export interface Verifier {
  readonly algorithm: SigningAlgorithm;
  readonly key: KeyObject;
}

/** Undefined for a key that is malformed, weak, or no point of its curve. Throws nothing. */
export const verifierOf = ({ algorithm: name, publicKey }: PublicKeyRecord): Verifier | undefined => {
  const algorithm = ALGORITHMS[name];
  const bytes = algorithm.bytesOf(publicKey, algorithm.publicKeyBytes);
  if (bytes === undefined || algorithm.isWeak(bytes)) return undefined;
  try {
    return { algorithm, key: createPublicKey({ key: algorithm.publicJwk(bytes), format: "jwk" }) };
  } catch {
    return undefined;
  }
};

/** Whether a signature in its text form is the one of these bytes by this key. False for whatever is malformed. */
export const holds = ({ algorithm, key }: Verifier, text: string, signature: string): boolean => {
  const bytes = algorithm.bytesOf(signature, algorithm.signatureBytes);
  if (bytes === undefined) return false;
  try {
    return verify(null, Buffer.from(text), key, bytes);
  } catch {
    return false;
  }
};

/** The same for a key that is used once. False for a weak key. */
export const isSignedBy = (record: PublicKeyRecord, text: string, signature: string): boolean => {
  const verifier = verifierOf(record);
  return verifier !== undefined && holds(verifier, text, signature);
};
