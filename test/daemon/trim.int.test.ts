import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { REST_COLLECT_HEAP_MAX_BYTES, REST_COLLECT_MIN_BYTES } from "../../src/base/limits.ts";
import { makeTrim } from "../../src/daemon/trim.ts";

it("does nothing if the C library has no such call", () => {
  let looked = 0;
  const load = () => {
    looked += 1;
    throw new Error("malloc_trim: undefined symbol");
  };
  const trim = makeTrim({ load, collect: undefined, heap: () => 0 });
  trim();
  trim();
  expect(looked).toBe(1);
});

it("garbage is collected where the heap has grown, and not where it is so large that it would take long", () => {
  const heaps: number[] = [];
  let collections = 0;
  const collect = () => {
    collections += 1;
  };
  const trim = makeTrim({ load: () => () => 0, collect, heap: () => heaps.shift()! });
  const after = (...sizes: readonly number[]): number => {
    heaps.push(...sizes);
    trim();
    expect(heaps).toEqual([]);
    return collections;
  };
  const small = 20 * 1024 * 1024;
  expect(after(small + REST_COLLECT_MIN_BYTES, small)).toBe(1);
  expect(after(small + REST_COLLECT_MIN_BYTES - 1)).toBe(1);
  expect(after(small + REST_COLLECT_MIN_BYTES, small)).toBe(2);
  expect(after(REST_COLLECT_HEAP_MAX_BYTES + 1)).toBe(2);
});

const isGnu = (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header
  .glibcVersionRuntime;

/** Says in KB how much less memory the process has after a trim, where much was compiled before it. */
const PROGRAM = `
import { readFileSync } from "node:fs";
import { Script } from "node:vm";
import { makeTrim } from "./src/daemon/trim.ts";
const used = () => Number(/^Private_Dirty:\\s+(\\d+)/m.exec(readFileSync("/proc/self/smaps_rollup", "utf8"))[1]);
const trim = makeTrim();
trim();
new Script(Array.from({ length: 20_000 }, (_, n) => "const name" + n + " = { key: [" + n + ", 'text'] };").join("\\n"));
const before = used();
trim();
console.log(before - used());
`;

it.runIf(isGnu)("gives back what the compiler has freed", () => {
  const root = join(import.meta.dirname, "../..");
  const told = execFileSync(process.execPath, ["--input-type=module", "-e", PROGRAM], {
    cwd: root,
    encoding: "utf8",
  });
  expect(Number(told)).toBeGreaterThan(2_000);
});
