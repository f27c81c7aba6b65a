import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { inSources } from "../../scripts/positions.ts";
import { assertBuilt, DAEMON } from "../support/built.ts";

beforeAll(assertBuilt);

const TEXT = "No target of notifications is configured.";

/** The place of this text in the daemon's program, or in a file that it shares, as a stack says it. */
const position = (): string => {
  const dist = dirname(DAEMON);
  const files = readdirSync(dist).filter((name) => name.endsWith(".js"));
  const file = files
    .map((name) => join(dist, name))
    .find((each) => readFileSync(each, "utf8").includes(TEXT))!;
  const lines = readFileSync(file, "utf8").split("\n");
  const line = lines.findIndex((each) => each.includes(TEXT));
  return `${basename(file)}:${line + 1}:${(lines[line]?.indexOf(TEXT) ?? 0) + 1}`;
};

test("a stack of the packed daemon names the source, its line, and nothing else changes", () => {
  const stack = `Error: broken (at noon)\n    at a1 (file:///opt/holdfast/dist/${position()})\n    at node:net:5:1`;
  const [title, frame, last] = inSources(stack).split("\n");
  expect([title, last]).toEqual(["Error: broken (at noon)", "    at node:net:5:1"]);
  const [, source = "", line] = /^ {4}at a1 \((src\/[\w/.-]+\.ts):(\d+):\d+\)$/.exec(frame ?? "") ?? [];
  expect(readFileSync(source, "utf8").split("\n")[Number(line) - 1]).toContain(TEXT);
});

test("a program that has no map keeps its positions", () => {
  expect(inSources("at /x/dist/other.js:1:2")).toBe("at /x/dist/other.js:1:2");
});
