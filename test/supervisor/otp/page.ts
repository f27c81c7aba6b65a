/** docs/otp-cases.md: which test stands for which case of OTP's and suture's suites. `node test/supervisor/otp/page.ts` writes it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { OTP_CASES, SUTURE_CASES } from "./cases.ts";

const docs = join(import.meta.dirname, "../../../docs");
export const PAGE = join(docs, "otp-cases.md");

interface Title {
  readonly name: string;
  readonly says: string;
  readonly file: string;
}

/** Tests whose title begins with the name of a case. */
export const titlesIn = (folder: string): readonly Title[] => {
  const dir = join(import.meta.dirname, "..", folder);
  return readdirSync(dir)
    .filter((file) => file.endsWith(".test.ts"))
    .flatMap((file) =>
      [...readFileSync(join(dir, file), "utf8").matchAll(/(?:\(|^ +)"(\w+): ([^"\n]+)",/gm)].map(
        ([, name = "", says = ""]) => ({
          name,
          // What a table of the test fills in.
          says: says.replace(/%\w|\$\w+/g, "…"),
          file: relative(docs, join(dir, file)),
        }),
      ),
    );
};

const rows = (cases: typeof OTP_CASES, titles: readonly Title[]): string =>
  Object.entries(cases)
    .map(([name, reason]) => {
      const { says, file } = titles.find((title) => title.name === name) ?? {};
      return reason === null ? `| ${name} | [${says}](${file}) |` : `| ${name} | – ${reason} |`;
    })
    .join("\n");

const table = (cases: typeof OTP_CASES, folder: string): string => {
  const all = Object.values(cases);
  const covered = all.filter((reason) => reason === null).length;
  return `${covered} of ${all.length} cases have a test; the others say why they do not apply.

| case | here |
|---|---|
${rows(cases, titlesIn(folder))}
`;
};

export const page = (): string => `# The cases of OTP and of suture

Holdfast's supervision trees are held against the case lists of two supervisors that the world trusts. Each name is a case of their
suites; the text is the title of our own test for it, on a test clock. No code of theirs is used.
Where we decided otherwise stands in [decision 0011](decisions/0011-trees-like-otp.md). This page is generated: \`node test/supervisor/otp/page.ts\`.

## Erlang/OTP, supervisor_SUITE

${table(OTP_CASES, "otp")}
## suture v4, suture_test.go

${table(SUTURE_CASES, "suture")}`;

if (process.argv[1] === import.meta.filename) writeFileSync(PAGE, page());
