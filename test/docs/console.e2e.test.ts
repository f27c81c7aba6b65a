/** A new user types the commands of a page, from its first to its last, and sees what the page shows. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Block, blocksOf, type Command, commandsOf, missingIn } from "./blocks.ts";
import { BEFORE, NOT_RUN } from "./not-run.ts";
import { pages } from "./pages.ts";
import { Shell } from "./shell.ts";

const PAGE_MAX_MS = 300_000;
/** Lines that a page shows come within this; until then a command that only looks, or answers, is typed again. */
const SHOWN_WITHIN_MS = 15_000;
const AGAIN_MS = 200;
const LOOKS =
  /^agent (answer|approvals|board (?:list|show)|changes|inbox|info|list|logs|messages|output|tree|usage|why)\b/;
/** A block whose first line is its own name is a file that later commands read. */
const NAMED = /^(?:#|\/\/) ([\w.-]+\.\w+)\n/;

const isRun = (command: Command): boolean =>
  !(`${command.page}: ${command.text}` in NOT_RUN) && !(command.page in NOT_RUN);

const type = async (shell: Shell, command: Command): Promise<void> => {
  const deadline = performance.now() + SHOWN_WITHIN_MS;
  const mayFail = command.shows.some((line) => /^(\{"ok":false|error:)/.test(line));
  for (;;) {
    const { exit, output } = await shell.run(command.text);
    const missing = missingIn(command, output);
    const fails = exit !== 0 && !mayFail;
    if (!fails && missing === undefined) return;
    if (!LOOKS.test(command.text) || performance.now() > deadline) {
      const what = missing === undefined ? `ends with code ${exit}` : `does not show "${missing}"`;
      throw new Error(`${command.page}:${command.line}: "${command.text}" ${what}:\n${output}`);
    }
    await new Promise((go) => setTimeout(go, AGAIN_MS));
  }
};

const blocks = pages.flatMap(blocksOf);
const withCommands = pages.filter((page) =>
  blocks.some(
    (block) => block.page === page && block.language === "console" && commandsOf(block).some(isRun),
  ),
);

describe.concurrent("the commands of", () => {
  it.each(withCommands)(
    "%s",
    async (page) => {
      const shell = new Shell();
      const write = ({ text }: Block): void => {
        const [, name] = NAMED.exec(text) ?? [];
        if (name !== undefined) writeFileSync(join(shell.cwd, name), text);
      };
      try {
        for (const text of BEFORE[page] ?? []) await shell.run(text);
        for (const block of blocks.filter((each) => each.page === page))
          if (block.language === "console")
            for (const command of commandsOf(block).filter(isRun)) await type(shell, command);
          else write(block);
      } finally {
        shell.close();
      }
    },
    PAGE_MAX_MS,
  );
});

describe("not run", () => {
  const all = new Set(
    blocks.flatMap((block) => [
      block.page,
      ...commandsOf(block).map(({ page, text }) => `${page}: ${text}`),
      ...block.text.split("\n").map((line) => `${block.page}: ${line}`),
    ]),
  );
  it.each(Object.entries(NOT_RUN))("%s, because %s", (what) => {
    expect(all).toContain(what);
  });
});
