/**
 * What every kind says of an exit, once its own terminal event had its say (agent-clis.md §11: the event first, the exit
 * code second). The sentences name the program and the fact, never what the program printed.
 */
import type { AgentCompletion } from "../protocol/completion.ts";
import type { WorkerError } from "../protocol/records.ts";
import type { AgentAdapter, ExitFacts, IncarnationOutcome } from "./adapter.ts";
import { classifyText } from "./classify.ts";
import type { Voice } from "./events.ts";
import { rejectedFlag } from "./rejections.ts";

/** Signals after which an exit code means nothing: claude exits 0 after INT, codex 1 (agent-clis.md §6). */
const ENDING = new Set(["SIGHUP", "SIGINT", "SIGQUIT", "SIGKILL", "SIGTERM"]);

/** The last signal of ours that was meant to end the process. Such an end is no error of the agent. */
const stoppedBy = ({ signals_sent }: ExitFacts): string | undefined =>
  signals_sent.findLast((signal) => ENDING.has(signal));

/** Why the process did not end by itself and well; undefined for exit code 0. */
const exitError = (exit: ExitFacts): WorkerError | undefined => {
  const { status, program } = exit;
  const name = program === undefined ? "The program" : `\`${program}\``;
  const sent = stoppedBy(exit);
  if (sent !== undefined) return { code: "AGENT_FAILED", message: `${name} was stopped with ${sent}.` };
  if (status.signal !== null)
    return { code: "AGENT_FAILED", message: `${name} was ended by ${status.signal}.` };
  if (status.code === null) return { code: "WORKER_LOST", message: `${name} ended, and nobody saw how.` };
  if (status.code !== 0) return { code: "AGENT_FAILED", message: `${name} exited with code ${status.code}.` };
  return undefined;
};

const outcomeOf = (completion: AgentCompletion, error: WorkerError | undefined): IncarnationOutcome =>
  error === undefined ? { status: "completed", completion } : { status: "failed", completion, error };

export type Verdict = ReturnType<AgentAdapter["finish"]>;

/** A kind whose exit is all that it says. */
export const byExit = (voice: Voice, exit: ExitFacts): Verdict => {
  const error = exitError(exit);
  const told = error === undefined || stoppedBy(exit) !== undefined;
  return { outcome: outcomeOf({ status: exit.status }, error), records: told ? [] : [voice.error(error)] };
};

/** What a decoder of a kind with a terminal event knows at the end. */
export interface Known {
  /** Every turn that was started has ended. */
  readonly settled: boolean;
  /** How the last turn failed, where it did. */
  readonly failed: WorkerError | null;
  /** An error that was told and not yet followed by the end of its turn. */
  readonly reported: WorkerError | null;
  /** A line over the limit was skipped. */
  readonly skipped: boolean;
  /** What an end without a turn's end means, where the kind can tell: by its exit code, or by what was printed last. */
  readonly meaning?: WorkerError | undefined;
}

/** The terminal event decides; without one the exit does, and exit code 0 is then a failure too. */
export const byTurnEnd = (
  voice: Voice,
  known: Known,
  completion: AgentCompletion,
  exit: ExitFacts,
): Verdict => {
  if (known.settled) return { outcome: outcomeOf(completion, known.failed ?? undefined), records: [] };
  const error = unsettled(known, exit, voice);
  const told = stoppedBy(exit) !== undefined || known.reported?.code === error.code;
  return { outcome: outcomeOf(completion, error), records: told ? [] : [voice.error(error)] };
};

/** Where the process failed, what it printed to stderr may say why. */
const unsettled = (
  { reported, skipped, meaning }: Known,
  exit: ExitFacts,
  { agent_kind }: Voice,
): WorkerError => {
  const ended = exitError(exit);
  if (ended === undefined) return skipped ? SKIPPED : (meaning ?? noTerminalEvent(exit));
  if (stoppedBy(exit) !== undefined) return ended;
  const { stderr_tail } = exit;
  return reported ?? rejectedFlag(agent_kind, stderr_tail) ?? classifyText(stderr_tail) ?? meaning ?? ended;
};

const SKIPPED: WorkerError = {
  code: "OUTPUT_TOO_LARGE",
  message: "A line of the agent was over the limit and skipped, and with it how its turn ended.",
};

const noTerminalEvent = ({ program }: ExitFacts): WorkerError => ({
  code: "NO_TERMINAL_EVENT",
  message: `${program === undefined ? "The agent" : `\`${program}\``} exited without saying how its turn ended.`,
});
