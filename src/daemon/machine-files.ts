/** Small files with facts about the machine: /proc, logind's configuration. Daemon and client read them. */
import { readFileSync } from "node:fs";

/** The text of the file; undefined if it cannot be read for any reason. */
export const textAt = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
};

/**
 * A soft limit from /proc/PID/limits; infinite if it is unlimited or missing. Node raises its own limit of
 * open files to the hard one.
 */
export const softLimitOf = (limits: string, what: "Max open files" | "Max processes"): number => {
  const [, soft] = new RegExp(`^${what}\\s+(\\d+|unlimited)`, "m").exec(limits) ?? [];
  return soft === undefined || soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
};
