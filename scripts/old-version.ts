/**
 * `node scripts/old-version.ts NAME COMMIT`: writes test/fixtures/versions/NAME.json.br, the client and the daemon of an
 * older commit, built by that commit's own scripts/build.ts, so that a clone without a history can test a takeover from it.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { transformSync } from "esbuild";

const root = join(import.meta.dirname, "..");
const [name, commit] = process.argv.slice(2);
if (name === undefined || commit === undefined) throw new Error("usage: old-version.ts NAME COMMIT");
const git = (...args: readonly string[]): string =>
  execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();

const parent = mkdtempSync(join(tmpdir(), "holdfast-old-"));
const tree = join(parent, "tree");
git("worktree", "add", "--detach", tree, commit);
try {
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  execFileSync(process.execPath, ["scripts/build.ts"], { cwd: tree, stdio: "inherit" });
  const files: Record<string, string> = { "bin/agent": readFileSync(join(tree, "bin/agent"), "utf8") };
  // The early versions had whole programs; now most of a program is in files that it shares.
  const programs = readdirSync(join(tree, "dist")).filter((each) => /\.c?js$/.test(each));
  for (const file of programs.map((program) => `dist/${program}`)) {
    const code = readFileSync(join(tree, file), "utf8");
    // Names stay, because errors and traces tell them.
    const small = { minifyWhitespace: true, minifySyntax: true, legalComments: "inline" } as const;
    files[file] = transformSync(code, { ...small, target: "node22.19" }).code;
  }
  const text = JSON.stringify({ commit: git("rev-parse", commit), files });
  const packed = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } });
  writeFileSync(join(root, "test/fixtures/versions", `${name}.json.br`), packed);
} finally {
  git("worktree", "remove", "--force", tree);
  rmSync(parent, { recursive: true });
}
