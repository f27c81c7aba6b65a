import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { inSources } from "../../scripts/positions.ts";
import { assertBuilt, DAEMON } from "../support/built.ts";

beforeAll(assertBuilt);

const TEXT = "No target of notifications is configured.";

/** The build breaks long lines, in the middle of a text too. */
const ANYWHERE = new RegExp([...TEXT].map((one) => (one === "." ? "\\." : one)).join("(?:\\\\\n)?"));

/** The place of this text in the daemon's program, or in a file that it shares, as a stack says it. */
const position = (): string => {
  const dist = dirname(DAEMON);
  for (const name of readdirSync(dist).filter((each) => each.endsWith(".js"))) {
    const code = readFileSync(join(dist, name), "utf8");
    const at = ANYWHERE.exec(code)?.index;
    if (at === undefined) continue;
    const before = code.slice(0, at).split("\n");
    return `${name}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
  }
  throw new Error("The text is in no file of the build.");
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
