/** The daemon's own limits, from its environment. They bound everything that it supervises. */

import { formatSize, parseDuration, parseSize } from "../base/durations.ts";
import {
  CONNECTIONS_DEFAULT,
  CONNECTIONS_MAX,
  DEPTH_MAX,
  DESCRIPTORS_KEPT,
  RETENTION_SIZE_MIN_BYTES,
  WORKERS_LIVE_MAX,
} from "../base/limits.ts";
import { type OutputLimits, outputLimits } from "../protocol/artifactize.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { Limits } from "../runtime/open.ts";
import type { Environment } from "./paths.ts";

/** HOLDFAST_MAX_CONNECTIONS, reduced so that some descriptors are left for other uses. */
export const connectionsOf = (env: Environment, descriptors: number): number =>
  Math.max(
    1,
    Math.min(
      whole(env, "HOLDFAST_MAX_CONNECTIONS", 1, CONNECTIONS_MAX) ?? CONNECTIONS_DEFAULT,
      descriptors - DESCRIPTORS_KEPT,
    ),
  );

/**
 * HOLDFAST_MAX_RUNNING, HOLDFAST_MAX_DEPTH, HOLDFAST_MEM_MIN and HOLDFAST_DISK_MIN (`256M`). Unset or empty
 * ones have their defaults.
 */
export const limitsOf = (env: Environment): Partial<Limits> => {
  const running_max = whole(env, "HOLDFAST_MAX_RUNNING", 1, WORKERS_LIVE_MAX);
  const depth_max = whole(env, "HOLDFAST_MAX_DEPTH", 0, DEPTH_MAX);
  const mem_min_bytes = size(env, "HOLDFAST_MEM_MIN");
  const disk_min_bytes = size(env, "HOLDFAST_DISK_MIN");
  return {
    ...(running_max === undefined ? {} : { running_max }),
    ...(depth_max === undefined ? {} : { depth_max }),
    ...(mem_min_bytes === undefined ? {} : { mem_min_bytes }),
    ...(disk_min_bytes === undefined ? {} : { disk_min_bytes }),
  };
};

/** HOLDFAST_RETENTION (`30d`, or `forever`). */
export const retentionOf = (env: Environment): number | undefined => {
  const text = env.HOLDFAST_RETENTION;
  if (text === undefined || text === "") return undefined;
  if (text === "forever") return Number.POSITIVE_INFINITY;
  const value = parseDuration(text);
  if (value !== undefined) return value;
  throw wrong("HOLDFAST_RETENTION", text, "a duration such as 30d, or forever");
};

/**
 * HOLDFAST_RETENTION_SIZE (`10G`): above this size of the log, the oldest output is removed. Unset or empty:
 * no bound.
 */
export const retentionSizeOf = (env: Environment): number | undefined => {
  const bytes = size(env, "HOLDFAST_RETENTION_SIZE");
  if (bytes === undefined || bytes >= RETENTION_SIZE_MIN_BYTES) return bytes;
  throw wrong(
    "HOLDFAST_RETENTION_SIZE",
    env.HOLDFAST_RETENTION_SIZE ?? "",
    `a size of at least ${formatSize(RETENTION_SIZE_MIN_BYTES)}, such as 10G`,
  );
};

/** HOLDFAST_INLINE_OUTPUT and HOLDFAST_MAX_CAPTURE. */
export const outputOf = (env: Environment): OutputLimits => {
  const { problems, ...limits } = outputLimits(env);
  if (problems[0] === undefined) return limits;
  throw new HoldfastError("INVALID_REQUEST", `${problems[0]}.`, {
    problems,
    phase: "validation",
    suggestion: "Correct it in the environment of the daemon, or unset it.",
  });
};

const wrong = (name: string, text: string, rule: string): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", `${name} is ${rule}, not "${text}".`, {
    phase: "validation",
    suggestion: `Correct ${name} in the environment of the daemon, or unset it.`,
  });

const whole = (env: Environment, name: string, least: number, most: number): number | undefined => {
  const text = env[name];
  if (text === undefined || text === "") return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw wrong(name, text, `a whole number from ${least} to ${most}`);
};

const size = (env: Environment, name: string): number | undefined => {
  const text = env[name];
  if (text === undefined || text === "") return undefined;
  const bytes = parseSize(text);
  if (bytes !== undefined) return bytes;
  throw wrong(name, text, "a size such as 256MB or 2G");
};
