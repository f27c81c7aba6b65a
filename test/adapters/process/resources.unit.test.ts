import { expect, test } from "vitest";
import { unitsIn, usedIn } from "../../../src/adapters/process/resources.ts";

const UNITS = { ticks_per_s: 250, page_bytes: 16_384 };

/** Fields of proc_pid_stat(5) for a command whose name has what separates them. */
const STAT =
  "4242 (a) b (c) S 1 4242 4242 0 -1 4194560 10 20 30 40 500 250 25 25 20 0 1 0 987654 123456789 300 18446744073709551615";

test("the use of a process counts its children that have ended, in the machine's own units", () => {
  expect(usedIn(STAT, "987654", UNITS)).toEqual({ cpu_ms: 3_200, memory_bytes: 300 * 16_384 });
});

test("a process with another start time is another one", () => {
  expect(usedIn(STAT, "987655", UNITS)).toBeUndefined();
});

test("units come from the auxiliary vector, and are the usual ones where it has none", () => {
  const auxv = Buffer.alloc(4 * 16);
  for (const [at, [type, value]] of [
    [33, 7],
    [6, 65_536],
    [17, 1_000],
  ].entries()) {
    auxv.writeBigUInt64LE(BigInt(type!), at * 16);
    auxv.writeBigUInt64LE(BigInt(value!), at * 16 + 8);
  }
  expect(unitsIn(auxv)).toEqual({ ticks_per_s: 1_000, page_bytes: 65_536 });
  expect(unitsIn(Buffer.alloc(0))).toEqual({ ticks_per_s: 100, page_bytes: 4_096 });
});
