/**
 * The token of a state directory: 32 random bytes in a file 0600, made once with O_EXCL. A client presents it
 * in `meta.token` of its first request. It is required if modes do not keep others from the socket (decision
 * 0018).
 */
import { lstatSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clearName, readRegular } from "../base/files/regular-file.ts";
import { HoldfastError } from "../protocol/errors.ts";

const tokenPath = (stateDir: string): string => join(stateDir, "daemon.token");

/** Undefined if there is none, or this user may not read it. */
export const readToken = (stateDir: string): string | undefined => {
  try {
    return readRegular(tokenPath(stateDir))?.toString("utf8").trim() || undefined;
  } catch {
    return undefined;
  }
};

/**
 * Makes the token if it is missing. Fails with PERMISSION_DENIED if another user's file or a link is in its
 * place.
 */
export const ensureToken = (stateDir: string): string => {
  const path = tokenPath(stateDir);
  const { randomBytes } = process.getBuiltinModule("node:crypto");
  try {
    writeFileSync(path, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
  }
  const stats = lstatSync(path);
  const token = readToken(stateDir);
  if (!stats.isFile() || stats.uid !== (process.getuid?.() ?? stats.uid) || token === undefined)
    throw new HoldfastError("PERMISSION_DENIED", `${path} is not the token that a daemon made.`, {
      suggestion: "Remove it; the next daemon makes another one.",
    });
  return token;
};

/** Keeps the token of this daemon in its file. True if it had to be written again. */
export const keepToken = (stateDir: string, token: string): boolean => {
  if (readToken(stateDir) === token) return false;
  clearName(tokenPath(stateDir));
  rmSync(tokenPath(stateDir), { force: true });
  writeFileSync(tokenPath(stateDir), `${token}\n`, { mode: 0o600, flag: "wx" });
  return true;
};
