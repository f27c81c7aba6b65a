/** The README fits two screens: a reader sees what it is, the two commands, three stories and where to go on. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { recorded } from "../../bench/results.ts";
import { root } from "./pages.ts";

const LINES_MAX = 110;
const COLUMNS_MAX = 120;
const lines = readFileSync(join(root, "README.md"), "utf8").trimEnd().split("\n");

it("has at most 110 lines of at most 120 columns, but for those that links make longer", () => {
  expect(lines.length).toBeLessThanOrEqual(LINES_MAX);
  const shown = lines.map((line) => line.replace(/\]\([^)]*\)/g, "]"));
  expect(shown.filter((line) => line.length > COLUMNS_MAX)).toEqual([]);
});

it("says what it is and why in four lines", () => {
  expect(lines.slice(2, 6).every((line) => line !== "")).toBe(true);
  expect([lines[1], lines[6]]).toEqual(["", ""]);
});

it("has three stories, each with commands", () => {
  const text = lines.join("\n");
  const stories = text
    .slice(text.indexOf("## Three stories"), text.indexOf("## In your program"))
    .split(/^### /m);
  expect(stories.length - 1).toBe(3);
  for (const story of stories.slice(1)) expect(story).toContain("```console\n$ agent ");
});

it("shows how fast it is beside other supervisors, and which goals are missed", () => {
  const { rows } = recorded().peers!;
  const met = rows.filter((row) => row.at(-1) === "ok").length;
  const text = lines.join("\n");
  expect(text).toContain(`meets ${met} of its ${rows.length} goals beside other supervisors`);
  const [, idle] = /^\| idle with 200, .*\| ([\d.]+) \| [^|]+\| (?:yes|no) \|$/m.exec(text) ?? [];
  expect(idle).toBe(rows.find(([measure]) => measure?.startsWith("idle CPU"))?.[5]);
});
