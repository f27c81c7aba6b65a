/**
 * Closes inherited descriptors except stdio, before the daemon opens any. Otherwise a lock of the user's
 * shell could be held for days, and an agent in a sandbox could reach an open directory. Node opens its own
 * files with close-on-exec, so descriptors without it are not Node's.
 */
import { closeSync, readdirSync, readFileSync } from "node:fs";

/** O_CLOEXEC, as /proc shows it in octal. */
const CLOSE_ON_EXEC = 0o2000000;

export const isInherited = (fdinfo: string): boolean => {
  const flags = /^flags:\s*([0-7]+)$/m.exec(fdinfo)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
};

/** Must run before anything of ours is open. */
export const closeInherited = (): void => {
  if (process.platform !== "linux") return;
  for (const name of readdirSync("/proc/self/fd")) {
    const fd = Number(name);
    if (fd <= 2) continue;
    try {
      if (isInherited(readFileSync(`/proc/self/fdinfo/${name}`, "latin1"))) closeSync(fd);
    } catch {
      // Gone: this was the descriptor of the listing itself.
    }
  }
};
