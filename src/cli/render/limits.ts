/** Limits as text: those of a worker in `agent info`, and that of the disk. */
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { DiskView } from "../../runtime/replies.ts";
import { budgetWords } from "./budgets.ts";
import { bytes, count, duration } from "./units.ts";

export const limitsOf = (spec: WorkerSpec): string => limitWords(spec).join(", ");

const limitWords = ({
  grace_ms,
  timeout_ms,
  deadline_at,
  stall_ms,
  tool_timeout_ms,
  max_depth,
  max_concurrency,
  output_quota_bytes,
  on_output_quota,
  budget,
  on_supervisor_death,
  limits,
}: WorkerSpec): readonly string[] => [
  `grace ${duration(grace_ms)}`,
  timeout_ms ? `timeout ${duration(timeout_ms)}` : "no timeout",
  ...(deadline_at === undefined ? [] : [`deadline ${deadline_at}`]),
  stall_ms ? `stall ${duration(stall_ms)}` : "no stall limit",
  ...(tool_timeout_ms ? [`tool ${duration(tool_timeout_ms)}`] : []),
  ...(limits.memory_bytes === undefined ? [] : [`memory ${bytes(limits.memory_bytes)}`]),
  ...(limits.pids === undefined ? [] : [count(limits.pids, "process", "processes")]),
  ...(limits.cpu === undefined ? [] : [`${limits.cpu} CPU`]),
  ...(on_supervisor_death === "die" ? ["dies with the daemon"] : []),
  ...(max_depth === undefined ? [] : [`depth ${max_depth}`]),
  ...(max_concurrency === undefined ? [] : [`${max_concurrency} at once below it`]),
  ...(output_quota_bytes
    ? [`output ${bytes(output_quota_bytes)}${on_output_quota === "pause" ? ", then paused" : ""}`]
    : []),
  ...budgetWords(budget),
];

/** Undefined if the free space is unknown. */
export const diskWords = ({ free_bytes, floor_bytes, low }: DiskView): string | undefined => {
  if (free_bytes === null) return undefined;
  const free = `${bytes(free_bytes)} free`;
  return low ? `${free}: nothing is started below ${bytes(floor_bytes)}` : free;
};
