/** docs/reference/adapters.md says only what was seen: its tables of types are those of the recordings and, where they are at hand, of the transcripts. */
import { describe, expect, it } from "vitest";
import { adapterFor } from "../../src/adapters/registry.ts";
import { observe, observed, toldOfLine } from "../adapters/conformance/observe.ts";
import { built, openingFor, present, titleOf } from "../adapters/conformance/transcripts.ts";
import { kinds } from "./adapters.ts";
import { DOCUMENTED } from "./adapters-data.ts";

const RECORD = "run `node test/adapters/conformance/observe.ts --record` where the transcripts are";

describe.each(built.map((of) => [titleOf(of), of] as const))("%s", (_title, of) => {
  it.skipIf(!present)("the file has the findings of its recorded runs", () => {
    expect(observed(of), RECORD).toEqual(observe(of, true));
  });

  it("the file has the findings of our own recordings", () => {
    const all = observed(of);
    const own = observe(of, false);
    expect(all.recordings, RECORD).toBe(own.recordings);
    for (const [name, { told, runs }] of Object.entries(own.types)) {
      expect(all.types[name]?.told, `${name}: ${RECORD}`).toEqual(expect.arrayContaining([...told]));
      expect(all.types[name]?.runs).toBeGreaterThanOrEqual(runs);
    }
  });
});

it.each(kinds().map(([adapter, facts]) => [adapter.kind, adapter, facts] as const))(
  "%s: what is documented is known to it, and what it cannot do is said",
  (_kind, adapter, { documented, spoken = [], limits }) => {
    for (const line of documented)
      expect(toldOfLine(adapter, line), JSON.stringify(line)).not.toContain("Unknown");
    const dialogue = built.find(({ kind, way }) => way !== undefined && adapterFor(kind) === adapter);
    for (const line of spoken)
      expect(toldOfLine(adapter, line, openingFor(dialogue!)), JSON.stringify(line)).not.toContain("Unknown");
    expect(limits.length).toBeGreaterThan(0);
  },
);

it("nothing is said of a kind that there is not", () => {
  expect(kinds().map(([{ kind }]) => kind)).toEqual(expect.arrayContaining(Object.keys(DOCUMENTED)));
});
