/** The walks of docs/architecture.md: every file and every name is there, and a file imports or mentions what it is said to call. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./pages.ts";

const src = join(root, "src");
const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
const WANTED = [
  "One line, from a child's stdout to a watcher",
  "One kill, from the command to the sweep",
  "One `agent up`",
  "Adding a kind",
];

interface Step {
  readonly text: string;
  readonly from: { readonly file: string; readonly name: string };
  readonly verb: string;
  readonly to: { readonly file: string; readonly name: string };
}

const STEP = /^\d+\. `([\w./-]+\.ts)` `(\w+)` (calls|reads|is|sends to) `([\w./-]+\.ts)` `(\w+)`(?::.*|\.)$/;

const stepOf = (text: string): Step => {
  const [, file, name, verb, toFile, toName] = STEP.exec(text) ?? [];
  if (!file || !name || !verb || !toFile || !toName) throw new Error(`no step: ${text}`);
  return { text, from: { file, name }, verb, to: { file: toFile, name: toName } };
};

const walks = page
  .slice(page.indexOf("\n## 10. Walks"))
  .split(/^### /m)
  .slice(1)
  .map((part) => {
    const [title = "", ...lines] = part.split("\n");
    return [title, lines.filter((line) => /^\d+\. /.test(line)).map(stepOf)] as const;
  });

const textOf = (file: string): string => readFileSync(join(src, file), "utf8");
const has = (text: string, name: string): boolean => new RegExp(`\\b${name}\\b`).test(text);
const importsOf = (file: string): readonly string[] =>
  [...textOf(file).matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)].map(([, path = ""]) =>
    join(dirname(file), path),
  );

const mistakesOf = ({ from, verb, to }: Step): readonly string[] => {
  const mistakes: string[] = [];
  for (const { file, name } of [from, to])
    if (!existsSync(join(src, file))) mistakes.push(`${file} is not there`);
    else if (!has(textOf(file), name)) mistakes.push(`${file} has no ${name}`);
  if (mistakes.length > 0 || verb === "sends to" || from.file === to.file) return mistakes;
  if (!importsOf(from.file).includes(to.file) && !has(textOf(from.file), to.name))
    mistakes.push(`${from.file} neither imports ${to.file} nor mentions ${to.name}`);
  return mistakes;
};

it("has the walks that a newcomer needs", () => {
  expect(walks.map(([title]) => title)).toEqual(expect.arrayContaining(WANTED));
});

describe.each(walks)("%s", (_title, steps) => {
  it("names what is there", () => {
    expect(steps.flatMap((step) => mistakesOf(step).map((mistake) => `${step.text}: ${mistake}`))).toEqual(
      [],
    );
  });

  it("goes from file to file without a leap", () => {
    const reached = new Set([steps[0]?.from.file]);
    const leaps = steps.filter(({ from, to }) => {
      const goesOn = reached.has(from.file) || reached.has(to.file);
      reached.add(from.file).add(to.file);
      return !goesOn;
    });
    expect(leaps.map(({ text }) => text)).toEqual([]);
  });
});

describe("a walk that has gone wrong is told", () => {
  it.each([
    [
      "a file that has moved",
      "1. `actors/gone.ts` `x` calls `protocol/bounds.ts` `boundEvent`.",
      "actors/gone.ts is not there",
    ],
    [
      "a name that has changed",
      "1. `protocol/bounds.ts` `boundNothing` calls `base/limits.ts` `DATA_MAX_BYTES`.",
      "protocol/bounds.ts has no boundNothing",
    ],
    [
      "a call that is none",
      "1. `base/limits.ts` `NODE_MIN` calls `protocol/bounds.ts` `boundEvent`.",
      "base/limits.ts neither imports protocol/bounds.ts nor mentions boundEvent",
    ],
  ])("%s", (_what, step, mistake) => {
    expect(mistakesOf(stepOf(step))).toEqual([mistake]);
  });
});
