/** A state as a word, a sign and a tone, so that it is told by more than its colour. Pure. */
import { toneOf } from "../../cli/render/states.ts";
import type { Tone } from "../../cli/render/terminal.ts";

export interface StateSign {
  readonly sign: string;
  readonly word: string;
  readonly tone: Tone;
}

const SIGNS: Readonly<Record<string, string>> = {
  pending: "◌",
  starting: "◔",
  ready: "●",
  running: "●",
  waiting: "◐",
  stopping: "◕",
  restarting: "↻",
  backing_off: "↻",
  parked: "■",
  terminated: "■",
  lost: "?",
  completed: "✓",
  failed: "✕",
  cancelled: "–",
};

export const PAUSED = "paused";

/** A paused worker is still running in its records. */
export const signOf = (state: string, isPaused = false): StateSign =>
  isPaused
    ? { sign: "‖", word: PAUSED, tone: "warn" }
    : { sign: SIGNS[state] ?? "·", word: state.replaceAll("_", " "), tone: toneOf(state) };
