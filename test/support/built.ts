/** The command and the daemon as they are shipped, for tests that start them. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isBuilt } from "../../scripts/sources.ts";

const root = resolve(import.meta.dirname, "../..");

export const AGENT = join(root, "bin/agent");
export const DAEMON = join(root, "dist/daemon.js");

const { XDG_CACHE_HOME, NODE_COMPILE_CACHE } = process.env;
/** For a command with an environment of its own: what V8 has compiled for the commands of this run (once.ts). */
export const CACHE: Readonly<Record<string, string>> = XDG_CACHE_HOME === undefined ? {} : { XDG_CACHE_HOME };
/** The same for a daemon that a test starts by itself: from the command it would have it. */
export const COMPILED: Readonly<Record<string, string>> =
  NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };

let isKnownNew = false;

/** Fails where a source is newer than the build: a test of an older build would prove nothing about the sources. */
export const assertBuilt = (): void => {
  if (isKnownNew) return;
  if (!existsSync(DAEMON)) throw new Error("Build first: this test runs what is shipped. npm run build");
  const builtAt = statSync(DAEMON).mtimeMs;
  const newer = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .find((file) => statSync(file).mtimeMs > builtAt);
  if (newer !== undefined && !isBuilt(root))
    throw new Error(`Build again: ${newer} is newer than the build. npm run build`);
  isKnownNew = true;
};
