/** What the error of an incarnation says that we stopped. */
import { formatDuration, formatSize } from "../protocol/durations.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import type { WorkerError } from "../protocol/records.ts";
import type { StopReason } from "./inputs.ts";

/** The error of an incarnation that we stopped: ours overrides what the agent says of its own death. */
export const stopError = (stop: StopReason | null): WorkerError | undefined => {
  if (stop === null) return undefined;
  if (stop.kind === "kill")
    return {
      code: "WORKER_CANCELLED",
      message: stop.reason === "killed" ? `Killed by ${stop.by}.` : `Killed by ${stop.by}: ${stop.reason}.`,
    };
  if (stop.kind === "restart")
    return { code: "WORKER_CANCELLED", message: `Stopped by ${stop.by}, to be started again.` };
  if (stop.kind === "shutdown") return { code: "WORKER_CANCELLED", message: `Stopped by ${stop.by}.` };
  return limitError(stop.limit, stop.bound);
};

export const limitError = (
  limit: Extract<StopReason, { kind: "limit" }>["limit"],
  bound: number,
): WorkerError => {
  const [code, message]: [ErrorCode, string] = (() => {
    switch (limit) {
      case "timeout":
        return ["TIMEOUT", `It ran longer than ${formatDuration(bound)}`];
      case "stall":
        return ["IDLE_TIMEOUT", `It made no progress for ${formatDuration(bound)}`];
      case "ready":
        return ["TIMEOUT", `It was not ready within ${formatDuration(bound)}`];
      case "tool":
        return ["TIMEOUT", `A tool ran longer than ${formatDuration(bound)}`];
      case "output":
        return ["OUTPUT_TOO_LARGE", `Its output took more than ${formatSize(bound)} of the disk`];
      case "wall":
        return ["BUDGET_EXCEEDED", `It spent its budget of ${formatDuration(bound)}`];
      case "turns":
        return ["MAX_TURNS", `It used its ${bound} turns`];
      case "tokens":
        return ["BUDGET_EXCEEDED", `It spent its budget of ${bound} tokens`];
      case "usd":
        return ["BUDGET_EXCEEDED", `It spent its budget of ${bound} dollars`];
    }
  })();
  return { code, message };
};
