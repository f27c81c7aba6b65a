/** The status for each state. Apart from the schemas, because code that folds a log needs no zod. */
import type { WorkerState, WorkerStatus } from "./worker.ts";

export const statusOf = (state: WorkerState): WorkerStatus => {
  switch (state) {
    case "ready":
    case "waiting":
    case "lost":
      return "running";
    case "backing_off":
      return "pending";
    case "parked":
      return "failed";
    default:
      return state;
  }
};

/** The reason shown for a worker in a dialogue between two turns. */
export const WAITS_FOR_MESSAGE = "waits for a message";
