/**
 * Flags of Node for a daemon, which is idle most of the time, beside agents that need the memory
 * (docs/decisions/0041).
 */
import { SEMI_SPACE_MAX_MIB, V8_THREADS } from "../base/limits.ts";

export const DAEMON_NODE_FLAGS: readonly string[] = [
  `--max-semi-space-size=${SEMI_SPACE_MAX_MIB}`,
  "--expose-gc",
  // Else V8 may allocate the objects of a busy loop as old ones, which keep all that they name until the whole heap is collected.
  "--no-allocation-site-pretenuring",
  `--v8-pool-size=${V8_THREADS}`,
];

/** Node's own variable: the directory where it keeps what V8 has compiled. Meant for the daemon alone, which removes it. */
export const COMPILE_CACHE_VARIABLE = "NODE_COMPILE_CACHE";
