/** `npm run docs`: writes the pages that are made from the code. A test fails where one of them differs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cliPage } from "./page-cli.ts";
import { errorsPage } from "./page-errors.ts";
import { manPage } from "./page-man.ts";

export const PAGES: Readonly<Record<string, () => string>> = {
  "docs/cli.md": cliPage,
  "docs/errors.md": errorsPage,
  "man/agent.1": manPage,
};

if (process.argv[1] === import.meta.filename) {
  for (const [name, page] of Object.entries(PAGES)) {
    const file = join(import.meta.dirname, "..", name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, page());
  }
}
