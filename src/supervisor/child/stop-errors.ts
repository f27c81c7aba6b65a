/** Errors of incarnations that we stopped. */
import { formatDuration, formatSize } from "../../base/durations.ts";
import { sessionInUse } from "../../protocol/asked-session.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import type { WorkerError } from "../../protocol/records.ts";
import type { StopReason } from "./inputs.ts";

/** The error of an incarnation that we stopped; it overrides the agent's own account of its death. */
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
  if (stop.kind === "passivate")
    return { code: "WORKER_CANCELLED", message: "It had nothing to do, and rests until a message comes." };
  if (stop.kind === "session") {
    const { code, message } = sessionInUse(stop.session_id, stop.holder);
    return { code, message };
  }
  return limitError(stop);
};

type StopLimit = Extract<StopReason, { kind: "limit" }>["limit"];

/** `unpausable` explains why a spent budget that asks has ended the run. */
export const limitError = ({ unpausable, ...reached }: ReachedBound): WorkerError => {
  const { code, message } = boundError(reached);
  return { code, message: unpausable === true ? `${message}; ${CANNOT_PAUSE}` : message };
};

const CANNOT_PAUSE = "it was ended and not paused, because its runtime cannot pause a run";

type ReachedBound = Omit<Extract<StopReason, { kind: "limit" }>, "kind">;

const boundError = ({ limit, bound, owner }: ReachedBound): WorkerError => {
  const [code, message]: [ErrorCode, string] = (() => {
    switch (limit) {
      case "timeout":
        return ["TIMEOUT", `It ran longer than ${formatDuration(bound)}`];
      case "deadline":
        return ["DEADLINE_PASSED", `Its deadline has passed: ${new Date(bound).toISOString()}`];
      case "stall":
        return ["IDLE_TIMEOUT", `It made no progress for ${formatDuration(bound)}`];
      case "ready":
        return ["TIMEOUT", `It was not ready within ${formatDuration(bound)}`];
      case "tool":
        return ["TIMEOUT", `A tool ran longer than ${formatDuration(bound)}`];
      case "output":
        return ["OUTPUT_TOO_LARGE", `Its output took more than ${formatSize(bound)} of the disk`];
      case "turns":
        return owner === undefined
          ? ["MAX_TURNS", `It used its ${amountOf("turns", bound)}`]
          : ["BUDGET_EXCEEDED", breachSentence(owner, limit, bound)];
      default:
        return [
          "BUDGET_EXCEEDED",
          owner === undefined
            ? `It spent its budget of ${amountOf(limit, bound)}`
            : breachSentence(owner, limit, bound),
        ];
    }
  })();
  return { code, message };
};

/** `owner`: the owner of a shared budget. */
export const breachSentence = (owner: string | undefined, limit: StopLimit, bound: number): string =>
  `${owner === undefined ? "its budget" : `the budget of ${owner}`} is spent: ${amountOf(limit, bound)}`;

const amountOf = (limit: StopLimit, bound: number): string => {
  switch (limit) {
    case "usd":
      return bound === 1 ? "1 dollar" : `${bound} dollars`;
    case "wall":
      return formatDuration(bound);
    case "output_bytes":
      return `${formatSize(bound)} of output`;
    default:
      return `${bound} ${bound === 1 ? limit.replace(/s$/, "") : limit}`;
  }
};
