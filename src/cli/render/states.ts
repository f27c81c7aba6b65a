/** States as people read them: their words, and their colours. */
import type { WorkerState } from "../../protocol/worker.ts";
import type { Tone } from "./terminal.ts";

export const toneOf = (state: WorkerState | string | undefined): Tone => {
  switch (state) {
    case "running":
    case "ready":
    case "completed":
      return "good";
    case "failed":
    case "terminated":
    case "parked":
    case "lost":
      return "bad";
    case "cancelled":
      return "dim";
    case "waiting":
    case "restarting":
    case "backing_off":
    case "stopping":
      return "warn";
    default:
      return "plain";
  }
};

export const stateWord = (state: string): string => state.replaceAll("_", " ");
