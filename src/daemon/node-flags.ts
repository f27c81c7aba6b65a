/** How Node runs a daemon: as one that sleeps nearly always, beside agents that need the memory (docs/decisions/0041). */
import { SEMI_SPACE_MAX_MIB, V8_THREADS } from "../base/limits.ts";

export const DAEMON_NODE_FLAGS: readonly string[] = [
  `--max-semi-space-size=${SEMI_SPACE_MAX_MIB}`,
  "--expose-gc",
  `--v8-pool-size=${V8_THREADS}`,
];
