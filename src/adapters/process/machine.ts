/** Facts of the machine: time since boot and free memory, from /proc. Undefined where there is none. */
import { readFileSync, statfsSync } from "node:fs";
import { MEMORY_READ_MS } from "../../base/limits.ts";

export interface Machine {
  /** Milliseconds since boot, sleep included. */
  uptimeMs(): number | undefined;
  /** Bytes that new processes may take without swapping: MemAvailable, which knows no limit of a container. */
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

/** Bytes that this user may still write on the disk of a directory; undefined where it cannot be asked. */
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
/** A thousand spawns at once read it once: what they start takes longer than that to take memory. */
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
