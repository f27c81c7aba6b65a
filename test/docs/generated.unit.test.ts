/** The pages that are made from the code are what the code makes of them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PAGES } from "../../scripts/docs.ts";
import { roff } from "../../scripts/page-man.ts";
import { recordRows } from "../../scripts/page-records.ts";
import * as limits from "../../src/base/limits.ts";
import { COMMANDS } from "../../src/commands/commands.ts";
import { ERROR_CATALOGUE } from "../../src/protocol/errors.ts";

const root = join(import.meta.dirname, "../..");

it.each(Object.entries(PAGES))("%s is up to date (npm run docs)", (name, page) => {
  expect(readFileSync(join(root, name), "utf8")).toBe(page());
});

describe("the pages", () => {
  const cli = PAGES["docs/reference/commands.md"]!();
  const man = PAGES["man/agent.1"]!();

  it.each(COMMANDS.map((command) => [command.words.join(" "), command] as const))(
    "have agent %s with all its flags",
    (name, { flags }) => {
      expect(cli).toContain(`\n### agent ${name}\n`);
      expect(man).toContain(`\n.SS agent ${roff(name)}`);
      for (const flag of flags) {
        expect(cli).toContain(`--${flag.name}`);
        expect(man).toContain(roff(`--${flag.name}`));
      }
    },
  );

  it("have every error", () => {
    for (const code of Object.keys(ERROR_CATALOGUE))
      expect(PAGES["docs/reference/errors.md"]!()).toContain(`| \`${code}\` |`);
  });

  it("have every limit, and a meaning of every record", () => {
    const page = PAGES["docs/reference/limits.md"]!();
    for (const name of Object.keys(limits)) expect(page).toContain(`| \`${name}\` |`);
    expect(recordRows().length).toBeGreaterThan(40);
    expect(recordRows().filter(({ words, members }) => words === "" || members === "")).toEqual([]);
  });

  it("have no line in roff that is a request by accident", () => {
    const requests = man.split("\n").filter((line) => /^[.']/.test(line));
    expect(requests.filter((line) => !/^\.(TH|SH|SS|TP|PP|\\") ?/.test(line))).toEqual([]);
    expect(roff(".x\n'y a-b \\")).toBe("\\&.x\n\\&'y a\\-b \\e");
  });
});
