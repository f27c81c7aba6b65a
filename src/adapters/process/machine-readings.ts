/**
 * Facts about the machine, from /proc: time since boot and free memory. Undefined if the system does not
 * provide them.
 */
import { readFileSync, statfsSync } from "node:fs";
import { MEMORY_READ_MS } from "../../base/limits.ts";

export interface Machine {
  /** Milliseconds since boot, including sleep. */
  uptimeMs(): number | undefined;
  /** Bytes that new processes can use without swapping: MemAvailable, which ignores container limits. */
  memAvailableBytes(): number | undefined;
}

/** proc(5): uptime in seconds with two decimals, then idle time. */
export const uptimeOf = (text: string): number | undefined => {
  const seconds = /^(\d+(?:\.\d+)?)\s/.exec(text)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
};

/** proc(5): meminfo counts in units of 1,024 bytes. */
export const memAvailableOf = (text: string): number | undefined => {
  const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(text)?.[1];
  return kib === undefined ? undefined : Number(kib) * 1_024;
};

const read = (path: string): string => {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
};

/** Bytes that this user may still write on the disk of a directory; undefined if the system does not say. */
export const diskFreeBytes = (dir: string): number | undefined => {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize;
  } catch {
    return undefined;
  }
};

let readAt = Number.NEGATIVE_INFINITY;
let available: number | undefined;
/**
 * Cached for MEMORY_READ_MS, so that a thousand spawns at once read it once: what they start needs longer
 * than that to use memory.
 */
const memAvailable = (): number | undefined => {
  const now = performance.now();
  if (now - readAt >= MEMORY_READ_MS) {
    available = memAvailableOf(read("/proc/meminfo"));
    readAt = now;
  }
  return available;
};

export const thisMachine: Machine = {
  uptimeMs: () => uptimeOf(read("/proc/uptime")),
  memAvailableBytes: memAvailable,
};
