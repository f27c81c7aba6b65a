/** docs/reference/conformance.md says only what is there: each name is declared in the file, each title stands in the test, to which it points. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { CONTRACTS } from "../conformance/contracts.ts";
import { sentencesOf } from "./conformance.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (file: string): string => {
  expect(existsSync(join(root, file)), file).toBe(true);
  return readFileSync(join(root, file), "utf8");
};

describe.each(CONTRACTS.map((contract) => [contract.title, contract] as const))("%s", (_title, contract) => {
  const sentences = sentencesOf(contract);

  it.each(sentences.flatMap(({ done }) => (done ? [done] : [])))("%s is declared in %s", (name, file) => {
    expect(read(`src/${file}.ts`)).toMatch(
      new RegExp(`\\b(const|class|interface|type|function) ${name}\\b|^ {2}${name}: `, "m"),
    );
  });

  it.each(sentences.flatMap(({ held }) => (held ? [held] : [])))("%s: a title in %s", (title, file) => {
    const source = read(`test/${file}.test.ts`);
    const stands = ['"', "`"].some((quote) => source.includes(`${quote}${title}${quote}`));
    expect(stands, title).toBe(true);
  });

  it("says of every sentence that a test holds it, that it is open, or that it is no matter of ours, and why", () => {
    const unclear = sentences.filter(
      ({ done, held, open, apart }) =>
        [held, open, apart].filter((how) => how !== undefined && how.length > 0).length !== 1 ||
        (held !== undefined && done === undefined),
    );
    expect(unclear).toEqual([]);
    expect(contract.deviations.length).toBeGreaterThan(0);
  });
});

it("every sentence is told once in its section", () => {
  for (const { sentences } of CONTRACTS)
    for (const all of Object.values(sentences))
      expect(new Set(all.map(({ says }) => says)).size).toBe(all.length);
});
