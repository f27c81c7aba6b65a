/** `npm run docs`: writes the pages that are made from the code and from the tables of tests. A test fails where one of them differs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { page as adaptersPage } from "../test/docs/adapters.ts";
import { page as conformancePage } from "../test/docs/conformance.ts";
import { page as reliabilityPage } from "../test/docs/reliability.ts";
import { page as secretsPage } from "../test/docs/secrets.ts";
import { page as otpPage } from "../test/supervisor/otp/page.ts";
import { cliPage } from "./page-cli.ts";
import { errorsPage } from "./page-errors.ts";
import { machinePage } from "./page-machine.ts";
import { manPage } from "./page-man.ts";
import { validationPage } from "./page-validation.ts";

export const PAGES: Readonly<Record<string, () => string>> = {
  "docs/adapters.md": adaptersPage,
  "docs/cli.md": cliPage,
  "docs/conformance.md": conformancePage,
  "docs/errors.md": errorsPage,
  "docs/machine.md": machinePage,
  "docs/otp-cases.md": otpPage,
  "docs/reliability.md": reliabilityPage,
  "docs/secrets.md": secretsPage,
  "docs/validation.md": validationPage,
  "man/agent.1": manPage,
};

if (process.argv[1] === import.meta.filename) {
  for (const [name, page] of Object.entries(PAGES)) {
    const file = join(import.meta.dirname, "..", name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, page());
  }
}
