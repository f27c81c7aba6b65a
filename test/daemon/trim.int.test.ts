import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  REST_COLLECT_HEAP_MAX_BYTES,
  REST_COLLECT_LONG_MS,
  REST_COLLECT_MIN_BYTES,
} from "../../src/base/limits.ts";
import { makeTrim } from "../../src/daemon/trim.ts";

it("does nothing if the C library has no such call", () => {
  let looked = 0;
  const load = () => {
    looked += 1;
    throw new Error("malloc_trim: undefined symbol");
  };
  const trim = makeTrim({ load, collect: undefined, heap: () => 0, usedMs: () => 0 });
  trim();
  trim();
  expect(looked).toBe(1);
});

describe("a collection at rest", () => {
  const heaps: number[] = [];
  let collections = 0;
  let used_ms = 0;
  let takes_ms = 0;
  const make = () => {
    collections = 0;
    const collect = () => {
      collections += 1;
      used_ms += takes_ms;
    };
    return makeTrim({ load: () => () => 0, collect, heap: () => heaps.shift()!, usedMs: () => used_ms });
  };
  /** The number of collections after the heap had these sizes: at rest, and after the collection if there is one. */
  const collected = (trim: () => void, ...sizes: readonly number[]): number => {
    heaps.push(...sizes);
    trim();
    expect(heaps).toEqual([]);
    return collections;
  };
  const live = 20 * 1024 * 1024;

  it("comes where the heap has grown, and not where it is so large that it could take long", () => {
    takes_ms = REST_COLLECT_LONG_MS;
    const trim = make();
    expect(collected(trim, live + REST_COLLECT_MIN_BYTES, live)).toBe(1);
    expect(collected(trim, live + REST_COLLECT_MIN_BYTES - 1)).toBe(1);
    expect(collected(trim, live + REST_COLLECT_MIN_BYTES, live)).toBe(2);
    expect(collected(trim, REST_COLLECT_HEAP_MAX_BYTES, live)).toBe(3);
    expect(collected(trim, REST_COLLECT_HEAP_MAX_BYTES + 1)).toBe(3);
  });

  it("that took long is not repeated before the heap has doubled", () => {
    takes_ms = REST_COLLECT_LONG_MS + 1;
    const trim = make();
    expect(collected(trim, live + REST_COLLECT_MIN_BYTES, live)).toBe(1);
    expect(collected(trim, 2 * live - 1)).toBe(1);
    expect(collected(trim, 2 * live, live)).toBe(2);
  });
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
