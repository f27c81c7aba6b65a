/**
 * Puts the CLIs of this folder's lock file into `.cache/agents`, which git ignores. They are fetched by the developer's
 * own npm, by integrity hash, and none of their install scripts runs. With HOLDFAST_AGENTS=all those of `devDependencies`
 * come too: they are slow or large, and not every change is tested with them. The `overrides` stand for optional packages
 * of Qwen Code that no registry has, without which npm would find the lock file incomplete.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const CACHE = join(import.meta.dirname, "../../.cache/agents");
const INSTALL_MAX_MS = 10 * 60_000;
const MANIFESTS = ["package.json", "package-lock.json"];
/** Holds the hash of the lock that was installed, and how much of it; written last. */
const DONE = join(CACHE, "installed");
const ALL = process.env.HOLDFAST_AGENTS === "all";

/** Parts that gemini can do without are left out: native modules, which install scripts would build. */
const INSTALL = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=optional"];

const USUAL = {
  claude: join(CACHE, "node_modules/@anthropic-ai/claude-code-linux-x64/claude"),
  codex: join(CACHE, "node_modules/codex-linux/vendor/x86_64-unknown-linux-musl/bin/codex"),
  gemini: join(CACHE, "node_modules/@google/gemini-cli/bundle/gemini.js"),
} as const;
const MORE = {
  opencode: join(CACHE, "node_modules/opencode-linux-x64/bin/opencode"),
  copilot: join(CACHE, "node_modules/@github/copilot-linux-x64/copilot"),
  // Bridges to ACP, each without a second copy of its agent.
  claudeBridge: join(CACHE, "node_modules/.bin/claude-agent-acp"),
  codexBridge: join(CACHE, "node_modules/.bin/codex-acp"),
  qwen: join(CACHE, "node_modules/@qwen-code/qwen-code/cli-entry.js"),
  kilo: join(CACHE, "node_modules/@kilocode/cli-linux-x64/bin/kilo"),
  kimi: join(CACHE, "node_modules/@moonshot-ai/kimi-code/dist/main.mjs"),
  cline: join(CACHE, "node_modules/@cline/cli-linux-x64/bin/cline"),
  auggie: join(CACHE, "node_modules/@augmentcode/auggie/augment.mjs"),
} as const;

export const BINARIES = { ...USUAL, ...MORE } as const;
export type AgentName = keyof typeof BINARIES;

const hashOfLock = (): string =>
  createHash("sha256")
    .update(readFileSync(join(import.meta.dirname, "package-lock.json")))
    .digest("hex");

const areInstalled = (): boolean => {
  const done = existsSync(DONE) ? readFileSync(DONE, "utf8") : "";
  return done === `${hashOfLock()} all` || (!ALL && done === `${hashOfLock()} usual`);
};

/** Whether tests are to run it: it is there, and was asked for. */
export const isUnderTest = (name: AgentName): boolean => (name in USUAL || ALL) && areInstalled();

/** Why the CLIs cannot be had; undefined when they are there. */
export const install = (): string | undefined => {
  if (areInstalled()) return undefined;
  mkdirSync(CACHE, { recursive: true });
  rmSync(DONE, { force: true });
  for (const name of MANIFESTS) copyFileSync(join(import.meta.dirname, name), join(CACHE, name));
  const { status, error } = spawnSync("npm", ALL ? INSTALL : [...INSTALL, "--omit=dev"], {
    cwd: CACHE,
    stdio: ["ignore", "inherit", "inherit"],
    timeout: INSTALL_MAX_MS,
  });
  if (error !== undefined) return `npm ci did not run: ${error.message}`;
  if (status !== 0) return `npm ci ended with code ${status}`;
  const missing = Object.values(ALL ? BINARIES : USUAL).find((path) => !existsSync(path));
  if (missing !== undefined) return `the packages hold no ${missing}`;
  writeFileSync(DONE, `${hashOfLock()} ${ALL ? "all" : "usual"}`);
  return undefined;
};
