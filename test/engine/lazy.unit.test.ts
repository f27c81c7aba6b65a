/** Nothing of the engine is loaded by a program that does not use it. */
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, it } from "vitest";

const src = resolve(import.meta.dirname, "../../src");

/** The files that loading a file loads: imports of values, and none that is made by a call of `import`. */
const loadedBy = (entry: string): ReadonlySet<string> => {
  const loaded = new Set<string>();
  const waiting = [join(src, entry)];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (loaded.has(file) || !file.endsWith(".ts")) continue;
    loaded.add(file);
    const text = readFileSync(file, "utf8");
    for (const [, from] of text.matchAll(/^(?:import|export)\s(?!type\s)[^;]*?from\s+"(\.[^"]+)"/gms))
      waiting.push(resolve(dirname(file), from!));
    for (const [, from] of text.matchAll(/^import\s+"(\.[^"]+)"/gm))
      waiting.push(resolve(dirname(file), from!));
  }
  return loaded;
};

it.each([
  ["daemon/entry.ts", []],
  ["cli/main.ts", []],
  // The function that names the types of a tool.
  ["library/index.ts", ["engine/functions.ts"]],
])("%s loads of the engine %j", (entry, expected) => {
  const loaded = [...loadedBy(entry)].map((file) => relative(src, file));
  expect(loaded.length, "the imports were found").toBeGreaterThan(10);
  expect(loaded.filter((file) => file.startsWith("engine/"))).toEqual(expected);
});

it("the program of kind llm loads no provider before it is asked for one", () => {
  const loaded = [...loadedBy("engine/child.ts")].map((file) => relative(src, file));
  expect(loaded).toContain("engine/native.ts");
  expect(loaded.filter((file) => /^engine\/(?:providers|tools)\//.test(file))).toEqual([]);
});
