/** Random bytes in small pieces: asking the system for each of them takes longer than all that is made of it. */
import { randomBytes } from "node:crypto";
import { RANDOM_POOL_BYTES } from "./limits.ts";

/** As `randomBytes` of node:crypto. No byte is given twice. */
export const makeRandomPool = (): ((size: number) => Buffer) => {
  let pool = Buffer.alloc(0);
  return (size) => {
    if (size > RANDOM_POOL_BYTES) return randomBytes(size);
    if (pool.length < size) pool = randomBytes(RANDOM_POOL_BYTES);
    const piece = Buffer.from(pool.subarray(0, size));
    pool = pool.subarray(size);
    return piece;
  };
};
