import { expect, it } from "vitest";
import { ALGORITHMS, keyOfSeed } from "../../../src/weblisk/identity/algorithms.ts";
import { isWholeRotation, type KeyRotation, rotationOf } from "../../../src/weblisk/identity/rotation.ts";

const key = (byte: number) => keyOfSeed(ALGORITHMS.Ed25519, Buffer.alloc(32, byte));
const when = { timestamp: 1_713_264_000, nonce: "0".repeat(32) };
const rotation = rotationOf("reviewer", key(1), key(2), when);

it("is whole as it was made, and over JSON with its members in another order", () => {
  expect(isWholeRotation(rotation)).toBe(true);
  const turned = Object.fromEntries(Object.entries(JSON.parse(JSON.stringify(rotation))).reverse());
  expect(isWholeRotation(turned as unknown as KeyRotation)).toBe(true);
});

const third = rotationOf("reviewer", key(1), key(3), when);
it.each<[string, Partial<KeyRotation>]>([
  ["another name", { agent_id: "writer" }],
  ["another time", { timestamp: when.timestamp + 1 }],
  ["another nonce", { nonce: "1".repeat(32) }],
  ["another new key, with its own signature", { ...third, current_signature: rotation.current_signature }],
  [
    "the signatures in each other's place",
    {
      current_signature: rotation.new_signature,
      new_signature: rotation.current_signature,
    },
  ],
  ["one signature for both", { new_signature: rotation.current_signature }],
])("is not whole with %s", (_, changed) => {
  expect(isWholeRotation({ ...rotation, ...changed })).toBe(false);
});
