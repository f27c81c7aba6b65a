/** Our own recordings are told as the second reader derives it from their lines, and that reader is one of its own. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterFor } from "../../../src/adapters/registry.ts";
import { readLines } from "./expected/printed.ts";
import { RECORDED } from "./expected/readers.ts";
import { exit, run } from "./support.ts";
import { isFinalText, toldAs, toldOf } from "./told.ts";
import { built, openingFor, ownRuns, titleOf } from "./transcripts.ts";

describe.each(built.map((of) => [titleOf(of), of] as const))("%s", (_title, of) => {
  const runs = ownRuns(of).map((one) => [one.name, one] as const);
  test.each(runs)("%s is told as its lines say", (_name, { stdout, asked }) => {
    const expected = of.read(readLines(stdout), asked);
    const { records, outcome } = run(adapterFor(of.kind)!, stdout, exit(), openingFor(of, asked));
    expect(toldOf(records)).toEqual(toldAs(expected));
    expect(outcome.status === "completed").toBe(expected.ending === "well");
    expect(isFinalText(outcome.completion.final_text, expected.final)).toBe(true);
  });
});

describe("the second readers", () => {
  const folder = join(import.meta.dirname, "expected");

  test("import nothing but each other", () => {
    for (const file of readdirSync(folder)) {
      const imports = [...readFileSync(join(folder, file), "utf8").matchAll(/from "([^"]+)"|import\("/g)];
      expect(imports.map(([, from]) => from).filter((from) => !from?.startsWith("./"))).toEqual([]);
    }
  });

  test("read anything", () => {
    const odd = ["", "null", "7", "[]", "{}", "{", '{"type":7}', '{"type":{}}', "x\u2028"];
    for (const { read } of RECORDED)
      expect(toldAs(read(readLines(odd.join("\n"))))).toMatchObject({ turns: 0, answer: "", unknown: 8 });
  });
});
