/**
 * `npm pack` takes files as they lie there. `trim` makes of them what a package has, and `restore` puts them back after it:
 * package.json without what only a clone needs, so that an install asks nobody to trust a script that cannot run there; and pages without
 * links to sources, tests and decisions, which are not packed.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const kept = join(root, ".cache", "packed");
const OF_A_CLONE = ["scripts", "devDependencies", "allowScripts", "overrides"];
/** Packed whatever `files` says. */
const ALWAYS = ["package.json", "README.md", "LICENSE"];

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly files: readonly string[];
};
const packed = new Set([...manifest.files, ...ALWAYS]);
const isPacked = (path: string): boolean =>
  packed.has(path.split("/")[0] ?? "") &&
  !manifest.files.some((each) => each.startsWith("!") && `${path}/`.startsWith(`${each.slice(1)}/`));

const replace = (file: string, text: string): void => {
  const copy = join(kept, file);
  mkdirSync(dirname(copy), { recursive: true });
  copyFileSync(join(root, file), copy);
  writeFileSync(join(root, file), text);
};

const pages = (): readonly string[] => [
  "README.md",
  ...(readdirSync(join(root, "docs"), { recursive: true }) as string[])
    .map((file) => join("docs", file))
    .filter((file) => file.endsWith(".md") && isPacked(file)),
];

/** `[words](../src/a.ts)` becomes `words`. */
const withoutDeadLinks = (file: string, text: string): string =>
  text.replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (link, words: string, target: string) => {
    if (/^([a-z]+:|#)/.test(target)) return link;
    return isPacked(normalize(join(dirname(file), target.replace(/#.*/, "")))) ? link : words;
  });

const trim = (): void => {
  const fields = Object.entries(manifest).filter(([name]) => !OF_A_CLONE.includes(name));
  replace("package.json", `${JSON.stringify(Object.fromEntries(fields), null, 2)}\n`);
  for (const file of pages()) {
    const text = readFileSync(join(root, file), "utf8");
    const trimmed = withoutDeadLinks(file, text);
    if (trimmed !== text) replace(file, trimmed);
  }
};

const restore = (): void => {
  if (!existsSync(kept)) return;
  for (const file of readdirSync(kept, { recursive: true, withFileTypes: true }))
    if (file.isFile()) {
      const copy = join(file.parentPath, file.name);
      copyFileSync(copy, join(root, copy.slice(kept.length + 1)));
    }
  rmSync(kept, { recursive: true });
};

if (process.argv[2] === "restore") restore();
else if (existsSync(kept)) throw new Error("A packing was interrupted: node scripts/packed.ts restore");
else trim();
