/** The programs of the pages run to their end, in a new user's shell; that they compile, `snippets.int.test.ts` says. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { blocksOf } from "./blocks.ts";
import { BEFORE, NOT_RUN } from "./not-run.ts";
import { pages, root } from "./pages.ts";
import { Shell } from "./shell.ts";

const PROGRAM_MAX_MS = 90_000;
/** Inside the package, so that its own name resolves. */
const folder = join(root, ".cache", "modules");
const programs = pages
  .flatMap(blocksOf)
  .filter(({ language }) => language === "ts")
  .filter(({ page, text }) => !text.split("\n").some((line) => `${page}: ${line}` in NOT_RUN))
  .map((block) => [`${block.page}:${block.line}`, block] as const);

describe.concurrent("the program of", () => {
  it.each(programs)(
    "%s",
    async (place, { page, text }) => {
      const shell = new Shell();
      mkdirSync(folder, { recursive: true });
      const file = join(folder, `${place.replaceAll(/[^\w-]/g, "-")}.ts`);
      // Places that a reader has, and a test has elsewhere.
      const here = text
        .replaceAll("/var/tmp/my-agents", shell.stateDir)
        .replaceAll('"/repo"', JSON.stringify(shell.cwd));
      writeFileSync(file, `${here}\nexport {};\n`);
      try {
        for (const command of BEFORE[page] ?? []) expect((await shell.run(command)).exit, command).toBe(0);
        const { exit, output } = await shell.run(`node ${file}`);
        expect(exit, output).toBe(0);
      } finally {
        shell.close();
        rmSync(file);
      }
    },
    PROGRAM_MAX_MS,
  );
});
