/** Every example is run, and prints what its header says. They import the built package, as their reader would. */
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { program } from "./support.ts";

const folder = resolve(import.meta.dirname, "../../examples");

const prints: Record<string, readonly RegExp[]> = {
  "fan-out.ts": ["lint", "types", "unit tests", "docs", "changelog"].map(
    (question) => new RegExp(`^${question}: looks fine$`),
  ),
  "chaos.ts": [
    ...[1, 2, 3, 4, 5].flatMap((n) => [
      new RegExp(`^\\d+  incarnation ${n} ended: SIGKILL$`),
      new RegExp(`^\\d+  restart ${n} of 5, in \\d+ ms$`),
    ]),
    /^\d+ {2}incarnation 6 ended: SIGTERM$/,
    /^\d+ {2}ended: cancelled, the show is over$/,
  ],
};

describe("examples", () => {
  test("are all known here", () => {
    // test/tree-file reads those of `tree`.
    expect(readdirSync(folder).sort()).toEqual([...Object.keys(prints), "tree"].sort());
  });

  test.each(Object.entries(prints))(
    "%s runs, ends by itself, and prints what it should",
    async (name, lines) => {
      const { code, stdout, stderr } = await program(join(folder, name)).ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const printed = stdout.trimEnd().split("\n");
      expect(printed).toHaveLength(lines.length);
      for (const [index, line] of printed.entries()) expect(line).toMatch(lines[index] as RegExp);
    },
  );
});
