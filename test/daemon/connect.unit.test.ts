import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** Everything that a module loads at run time, by its import statements. */
const loads = (url: URL, seen = new Set<string>()): Set<string> => {
  const source = readFileSync(fileURLToPath(url), "utf8");
  for (const [, types, from] of source.matchAll(
    /^(?:import|export) (type )?(?:[^;]*? from )?"([^"]+)";/gms,
  )) {
    if (types !== undefined) continue;
    if (!from!.startsWith(".")) seen.add(from!);
    else if (!seen.has(new URL(from!, url).href)) {
      seen.add(new URL(from!, url).href);
      loads(new URL(from!, url), seen);
    }
  }
  return seen;
};

test("a client finds and starts its daemon with Node's own modules alone", () => {
  const packages = [...loads(new URL("../../src/daemon/connect.ts", import.meta.url))].filter(
    (one) => !/^(file|node):/.test(one),
  );
  expect(packages).toEqual([]);
});
