/** The sources of a build, as one digest: a build of the same sources need not be made again. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const OTHERS = [
  "scripts/build.ts",
  "scripts/chunks.ts",
  "scripts/compile-client.cjs",
  "scripts/programs.ts",
  "package-lock.json",
  "package.json",
  "tsconfig.json",
];
const stampOf = (root: string): string => join(root, "dist/sources.sha256");

const digestOf = (root: string): string => {
  const sources = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const hash = createHash("sha256").update(process.version);
  for (const file of [...sources.sort(), ...OTHERS.map((name) => join(root, name))])
    hash.update(`\0${file}\0`).update(readFileSync(file));
  return hash.digest("hex");
};

/** The last step of a build. */
export const stamp = (root: string): void => writeFileSync(stampOf(root), digestOf(root));

export const isBuilt = (root: string): boolean =>
  existsSync(stampOf(root)) && readFileSync(stampOf(root), "utf8") === digestOf(root);
