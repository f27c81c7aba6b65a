/**
 * Puts the CLIs of this folder's lock file into `.cache/agents`, which git ignores. They are fetched by the developer's
 * own npm, by integrity hash, and none of their install scripts runs.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const CACHE = join(import.meta.dirname, "../../.cache/agents");
const INSTALL_MAX_MS = 10 * 60_000;
const MANIFESTS = ["package.json", "package-lock.json"];
/** Holds the hash of the lock that was installed; written last. */
const DONE = join(CACHE, "installed");

export const BINARIES = {
  claude: join(CACHE, "node_modules/@anthropic-ai/claude-code-linux-x64/claude"),
  codex: join(CACHE, "node_modules/codex-linux/vendor/x86_64-unknown-linux-musl/bin/codex"),
} as const;

const hashOfLock = (): string =>
  createHash("sha256")
    .update(readFileSync(join(import.meta.dirname, "package-lock.json")))
    .digest("hex");

export const areInstalled = (): boolean => existsSync(DONE) && readFileSync(DONE, "utf8") === hashOfLock();

/** Why the CLIs cannot be had; undefined when they are there. */
export const install = (): string | undefined => {
  if (areInstalled()) return undefined;
  mkdirSync(CACHE, { recursive: true });
  rmSync(DONE, { force: true });
  for (const name of MANIFESTS) copyFileSync(join(import.meta.dirname, name), join(CACHE, name));
  const { status, error } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: CACHE,
    stdio: ["ignore", "inherit", "inherit"],
    timeout: INSTALL_MAX_MS,
  });
  if (error !== undefined) return `npm ci did not run: ${error.message}`;
  if (status !== 0) return `npm ci ended with code ${status}`;
  const missing = Object.values(BINARIES).find((path) => !existsSync(path));
  if (missing !== undefined) return `the packages hold no ${missing}`;
  writeFileSync(DONE, hashOfLock());
  return undefined;
};
