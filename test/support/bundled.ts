/**
 * A program of the tests as one file, in a folder laid out as the package is. From the sources each start of a daemon
 * loads some thousand modules, which takes three times as long.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { assertBuilt } from "./built.ts";

const root = resolve(import.meta.dirname, "../..");
/** How a program of the tests becomes one file, beside `node_modules`. */
export const AS_ONE_FILE = {
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node22.19",
  external: ["better-sqlite3", "koffi"],
  banner: {
    js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
  },
  logLevel: "warning",
} satisfies BuildOptions;

export interface Bundle {
  readonly program: string;
  remove(): void;
}

export const bundled = async (source: string): Promise<Bundle> => {
  assertBuilt();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bundled-"));
  const dist = join(folder, "dist");
  mkdirSync(dist);
  for (const name of ["node_modules", "bin"]) symlinkSync(join(root, name), join(folder, name));
  for (const name of readdirSync(join(root, "dist"))) symlinkSync(join(root, "dist", name), join(dist, name));
  const program = join(dist, "program.js");
  await build({ ...AS_ONE_FILE, entryPoints: [source], outfile: program });
  return { program, remove: () => rmSync(folder, { recursive: true, force: true }) };
};
