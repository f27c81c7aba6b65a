import { describe, expect, it, test } from "vitest";
import { SIGNING_ALGORITHMS } from "../../../src/protocol/words.ts";
import {
  ALGORITHMS,
  isSignedBy,
  keyOfSeed,
  newKey,
  publicTextOf,
  signText,
} from "../../../src/weblisk/identity/algorithms.ts";

/** RFC 8032, 7.1, tests 1 to 3: seed, public key, message, signature. */
const RFC_8032 = [
  [
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "",
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  ],
  [
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "72",
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  ],
] as const;

test.each(RFC_8032)("RFC 8032: the seed %s", (seed, publicKey, message, signature) => {
  const key = keyOfSeed(ALGORITHMS.Ed25519, Buffer.from(seed, "hex"));
  expect(publicTextOf(key)).toBe(publicKey);
  const text = Buffer.from(message, "hex").toString("latin1");
  expect(signText(key, text)).toBe(signature);
  expect(isSignedBy({ algorithm: "Ed25519", publicKey }, text, signature)).toBe(true);
});

test.each([
  ["01", "4cb5abf6ad79fbf5abbccafcc269d85cd2651ed4b885b5869f241aedf0a5ba29"],
  ["02", "7422b9887598068e32c4448a949adb290d0f4e35b9e01b0ee5f1a1e600fe2674"],
  ["03", "f381626e41e7027ea431bfe3009e94bdd25a746beec468948d6c3c7c5dc9a54b"],
])("the test key of upstream that ends with %s", (last, publicKey) => {
  const seed = Buffer.from(last.padStart(64, "0"), "hex");
  expect(publicTextOf(keyOfSeed(ALGORITHMS.Ed25519, seed))).toBe(publicKey);
});

describe.each(SIGNING_ALGORITHMS)("%s", (name) => {
  const algorithm = ALGORITHMS[name];
  const key = newKey(algorithm);
  const known = { algorithm: name, publicKey: publicTextOf(key) };
  const signature = signText(key, "héllo");

  it("has keys and signatures of its lengths", () => {
    expect(key.publicKey).toHaveLength(algorithm.publicKeyBytes);
    expect(algorithm.bytesOf(signature, algorithm.signatureBytes)).toHaveLength(algorithm.signatureBytes);
    expect(keyOfSeed(algorithm, key.seed).publicKey).toEqual(key.publicKey);
  });

  it("accepts its signature of these bytes alone, by this key alone", () => {
    expect(isSignedBy(known, "héllo", signature)).toBe(true);
    expect(isSignedBy(known, "hello", signature)).toBe(false);
    expect(isSignedBy({ ...known, publicKey: publicTextOf(newKey(algorithm)) }, "héllo", signature)).toBe(
      false,
    );
  });

  it("refuses a signature or a key in any other form", () => {
    const flipped = algorithm.textOf(
      algorithm.bytesOf(signature, algorithm.signatureBytes)!.map((byte, at) => (at === 9 ? byte ^ 1 : byte)),
    );
    for (const wrong of ["", flipped, signature.slice(1), `${signature}0`, ` ${signature}`, `${signature}=`])
      expect(isSignedBy(known, "héllo", wrong), wrong.slice(0, 20)).toBe(false);
    expect(isSignedBy({ ...known, publicKey: known.publicKey.slice(1) }, "héllo", signature)).toBe(false);
  });

  it("is bound to the key: the other algorithm takes nothing of it", () => {
    const other = SIGNING_ALGORITHMS.find((one) => one !== name)!;
    expect(isSignedBy({ ...known, algorithm: other }, "héllo", signature)).toBe(false);
    const theirs = newKey(ALGORITHMS[other]);
    expect(isSignedBy(known, "héllo", signText(theirs, "héllo"))).toBe(false);
  });
});

/** Points of small order: a signature of zeros with the identity's R holds for many messages under some of them. */
const IDENTITY_R = `01${"00".repeat(31)}`;
test.each([
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
])("no signature holds under the weak key %s", (publicKey) => {
  const forged = IDENTITY_R + "00".repeat(32);
  const accepted = Array.from({ length: 64 }, (_, at) => `message ${at}`).filter((text) =>
    isSignedBy({ algorithm: "Ed25519", publicKey }, text, forged),
  );
  expect(accepted).toEqual([]);
});
