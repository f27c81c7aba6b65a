/** The tables of the pages of the tree file and the library that tell of the fields of a worker's spec; the rest of these pages is written by hand. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FIELDS, type Field, shownDefault, specKeys } from "../src/protocol/spec-fields.ts";
import { WorkerKeys } from "../src/tree-file/schema.ts";
import { table } from "./markdown.ts";

/** The page with a table between the two comments that name it. */
const withTable = (page: string, name: string, text: string): string => {
  const [before, rest] = readFileSync(join(import.meta.dirname, "../docs/reference", page), "utf8").split(
    `<!-- ${name}: npm run docs -->\n`,
  );
  const [, after] = rest?.split(`<!-- end of ${name} -->`) ?? [];
  if (after === undefined) throw new Error(`${page} has no place for ${name}.`);
  return `${before}<!-- ${name}: npm run docs -->\n\n${text}\n\n<!-- end of ${name} -->${after}`;
};

const link = ({ page }: Field): string =>
  page === undefined ? "" : ` ([${page.replace(/#.*|.*\//g, "")}](${page}))`;

/** A star of help is no emphasis. */
const plain = (text: string): string => text.replace(/Bash\(git status\*\)/g, "`$&`");

export const treePage = (): string => {
  const known = new Map(specKeys().map(({ key, ...about }) => [key, about]));
  const rows = Object.entries(WorkerKeys.shape).map(([key, schema]) => {
    const { field, shown = "" } = known.get(key) ?? {};
    const [about = ""] = (schema.description ?? "").split("; default: ");
    return [`\`${key}\``, `${plain(about)}${field === undefined ? "" : link(field)}`, shown];
  });
  return withTable("tree-file.md", "keys of a worker", table(["key", "", "default"], rows));
};

export const libraryPage = (): string => {
  const rows = FIELDS.flatMap(([name, field]) =>
    field.isAmbient ? [] : [[`\`${name}\``, `${plain(field.help)}${link(field)}`, shownDefault(field) ?? ""]],
  );
  return withTable("library.md", "options of spawn", table(["option", "", "default"], rows));
};
