/**
 * Closes what the daemon has inherited beside stdio, before it opens anything: a lock of the user's shell would be held for days, and an
 * agent in a sandbox would find a directory in it. Node opens all of its own files with close-on-exec, so what has not got that is not Node's.
 */
import { closeSync, readdirSync, readFileSync } from "node:fs";

/** O_CLOEXEC, as /proc shows it in octal. */
const CLOSE_ON_EXEC = 0o2000000;

export const isInherited = (fdinfo: string): boolean => {
  const flags = /^flags:\s*([0-7]+)$/m.exec(fdinfo)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
};

/** Before anything of ours is open. */
export const closeInherited = (): void => {
  if (process.platform !== "linux") return;
  for (const name of readdirSync("/proc/self/fd")) {
    const fd = Number(name);
    if (fd <= 2) continue;
    try {
      if (isInherited(readFileSync(`/proc/self/fdinfo/${name}`, "latin1"))) closeSync(fd);
    } catch {
      // Gone: it was of this look itself.
    }
  }
};
