/** The mutants themselves are run by hand (`npm run mutants`): here it is only seen that each can still be made, and has its test. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { MUTANTS } from "./table.ts";

const root = join(import.meta.dirname, "../..");

it.each(MUTANTS)("$file: $why", ({ file, find, by }) => {
  expect(readFileSync(join(root, file), "utf8").split(find)).toHaveLength(2);
  expect(existsSync(join(root, by)), by).toBe(true);
});
