import { expect, it } from "vitest";
import { RANDOM_POOL_BYTES } from "../../src/base/limits.ts";
import { makeRandomPool } from "../../src/base/random-pool.ts";

it("gives no byte twice, whatever the sizes, also those beyond its pool", () => {
  const pool = makeRandomPool();
  const pieces = Array.from({ length: 2_000 }, (_, at) => pool(16 + (at % 5)));
  expect(pieces.map(({ length }) => length)).toEqual(pieces.map((_, at) => 16 + (at % 5)));
  expect(new Set(pieces.map((piece) => piece.toString("hex"))).size).toBe(pieces.length);
  expect(pool(RANDOM_POOL_BYTES + 1)).toHaveLength(RANDOM_POOL_BYTES + 1);
});

it("gives each piece memory of its own", () => {
  const pool = makeRandomPool();
  const piece = pool(16);
  piece.fill(0);
  expect(pool(16).equals(piece)).toBe(false);
});
