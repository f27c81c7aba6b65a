/**
 * `npm run docs`: writes the pages that are made from the code and from the tables of tests, and puts each sentence of the other pages on
 * a line of its own; into two of these it writes a table. A test fails where a page differs.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { page as adaptersPage } from "../test/docs/adapters.ts";
import { page as conformancePage } from "../test/docs/conformance.ts";
import { prose, root } from "../test/docs/pages.ts";
import { page as reliabilityPage } from "../test/docs/reliability.ts";
import { page as secretsPage } from "../test/docs/secrets.ts";
import { page as otpPage } from "../test/supervisor/otp/page.ts";
import { builtInSkillsPage } from "./page-built-in-skills.ts";
import { cliPage } from "./page-cli.ts";
import { errorsPage } from "./page-errors.ts";
import { limitsPage } from "./page-limits.ts";
import { machinePage } from "./page-machine.ts";
import { manPage } from "./page-man.ts";
import { performancePage, withPerformance } from "./page-performance.ts";
import { recordsPage } from "./page-records.ts";
import { libraryPage, treePage } from "./page-spec.ts";
import { validationPage } from "./page-validation.ts";
import { withSentencesOnLines } from "./sentences.ts";

const GENERATED: Readonly<Record<string, () => string>> = {
  "docs/explanation/machine.md": machinePage,
  "docs/reference/adapters.md": adaptersPage,
  "docs/reference/built-in-skills.md": builtInSkillsPage,
  "docs/reference/commands.md": cliPage,
  "docs/reference/conformance.md": conformancePage,
  "docs/reference/errors.md": errorsPage,
  "docs/reference/library.md": libraryPage,
  "docs/reference/limits.md": limitsPage,
  "docs/reference/otp-cases.md": otpPage,
  "docs/reference/performance.md": performancePage,
  "docs/reference/records.md": recordsPage,
  "docs/reference/reliability.md": reliabilityPage,
  "docs/reference/secrets.md": secretsPage,
  "docs/reference/tree-file.md": treePage,
  "docs/reference/validation.md": validationPage,
  ...Object.fromEntries(
    ["README.md", "docs/compared.md"].map((file) => [
      file,
      () => withPerformance(file, readFileSync(join(root, file), "utf8")),
    ]),
  ),
  "man/agent.1": manPage,
};

export const PAGES: Readonly<Record<string, () => string>> = Object.fromEntries(
  Object.entries(GENERATED).map(([name, page]) => [
    name,
    name.endsWith(".md") ? () => withSentencesOnLines(page()) : page,
  ]),
);

if (process.argv[1] === import.meta.filename) {
  const texts = {
    ...Object.fromEntries(
      prose.map((name) => [name, () => withSentencesOnLines(readFileSync(join(root, name), "utf8"))]),
    ),
    ...PAGES,
  };
  for (const [name, text] of Object.entries(texts)) {
    const file = join(root, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text());
  }
}
