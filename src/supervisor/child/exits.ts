/** Ends that no adapter can report: a failed start, an unseen exit, or a failure of our own. */

import { LIFELINE_RENEW_MS } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { type IncarnationOutcome, type RunExit, UNKNOWN_EXIT } from "../../protocol/incarnation.ts";
import type { WorkerError } from "../../protocol/records.ts";

export const NOT_STARTED: RunExit = { ...UNKNOWN_EXIT, reason: "start_failed" };

/** The error itself may quote the agent, so only the operator sees it, and the record has this one. */
export const ABANDONED: WorkerError = {
  code: "INTERNAL",
  message: "Holdfast itself failed while it supervised this worker.",
};

export const RUN_GONE: WorkerError = {
  code: "WORKER_LOST",
  message: "Its run directory is gone, so it is unknown how its agent ended.",
};

export const errorOf = ({ code, message }: HoldfastError): WorkerError => ({ code, message });

export const failedToStart = (error: WorkerError): IncarnationOutcome => ({
  status: "failed",
  completion: { status: { code: null, signal: null } },
  error,
});

/** The outcome after an unseen exit: the agent's own terminal event still counts; without one, the outcome is unknown. */
export const honest = (outcome: IncarnationOutcome, exit: RunExit): IncarnationOutcome => {
  // It was ended during its work, even if it ended in order.
  if (exit.cause === "supervisor_died") return { ...outcome, status: "failed", error: DIED_WITH_SUPERVISOR };
  if (exit.cause === "lease_lost") return { ...outcome, status: "failed", error: ENDED_WITH_LEASE };
  if (exit.cause === "out_of_memory" && outcome.status === "failed")
    return { ...outcome, error: OUT_OF_MEMORY };
  if (exit.reason !== "unknown" || outcome.status !== "failed") return outcome;
  return { ...outcome, error: exit.cause === "machine_restarted" ? RESTARTED_UNDER : LOST };
};

const DIED_WITH_SUPERVISOR: WorkerError = {
  code: "SUPERVISOR_DIED",
  message: `The daemon died, no other one took over within ${LIFELINE_RENEW_MS / 1_000} s, and the worker was to die with it.`,
};

const ENDED_WITH_LEASE: WorkerError = {
  code: "WORKER_LOST",
  message: "Its node of the cluster had no lease any more, so its agent was ended there.",
};

const OUT_OF_MEMORY: WorkerError = {
  code: "OUT_OF_MEMORY",
  message: "It was killed by the kernel: out of memory (inferred).",
};

const RESTARTED_UNDER: WorkerError = {
  code: "WORKER_LOST",
  message: "The machine was restarted while the agent ran.",
};

const LOST: WorkerError = {
  code: "WORKER_LOST",
  message: "The agent ended and nobody saw how: its launcher was killed too.",
};
