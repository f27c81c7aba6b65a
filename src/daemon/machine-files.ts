/** Small files that tell of the machine: /proc, logind's configuration. Daemon and client read them. */
import { readFileSync } from "node:fs";

/** The text of the file; undefined where it cannot be read, for whatever reason. */
export const textAt = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
};

/** A soft limit as /proc/PID/limits tells it; what is not limited, or not told, is infinite. Node has raised its own of open files to the hard one. */
export const softLimitOf = (limits: string, what: "Max open files" | "Max processes"): number => {
  const [, soft] = new RegExp(`^${what}\\s+(\\d+|unlimited)`, "m").exec(limits) ?? [];
  return soft === undefined || soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
};
