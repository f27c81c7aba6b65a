/**
 * The verdict of every kind on an exit: the agent's own terminal event first, then the exit code.
 * The sentences name the program and the fact, and never quote what the program printed.
 */
import type { AgentCompletion } from "../../protocol/completion.ts";
import type { IncarnationOutcome } from "../../protocol/incarnation.ts";
import type { WorkerError } from "../../protocol/records.ts";
import type { AgentAdapter, ExitFacts } from "../adapter.ts";
import { classifyText } from "./classify.ts";
import type { KindEvents } from "./events.ts";
import { rejectedFlag } from "./rejections.ts";

/**
 * After one of these signals an exit code means nothing: after INT, claude exits with 0 and codex with 1.
 */
const ENDING = new Set(["SIGHUP", "SIGINT", "SIGQUIT", "SIGKILL", "SIGTERM"]);

/** The last signal of ours that was meant to end the process. An end by it is not an error of the agent. */
const stoppedBy = ({ signals_sent }: ExitFacts): string | undefined =>
  signals_sent.findLast((signal) => ENDING.has(signal));

const nameOf = ({ program }: ExitFacts, otherwise: string): string =>
  program === undefined ? otherwise : `\`${program}\``;

/** Why the process did not exit with code 0 by itself; undefined if it did. */
const exitError = (exit: ExitFacts): WorkerError | undefined => {
  const { status } = exit;
  const name = nameOf(exit, "The program");
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

export type FinishVerdict = ReturnType<AgentAdapter["finish"]>;

/** The verdict for a kind that reports nothing but its exit. */
export const byExit = (voice: KindEvents, exit: ExitFacts): FinishVerdict => {
  const error = exitError(exit);
  const told = error === undefined || stoppedBy(exit) !== undefined;
  return { outcome: outcomeOf({ status: exit.status }, error), records: told ? [] : [voice.error(error)] };
};

/** The decoder's knowledge at the exit, for a kind with a terminal event. */
export interface DecoderSummary {
  /** Every started turn has ended. */
  readonly settled: boolean;
  /** A dialogue: the agent waits for messages until its input is closed. */
  readonly interactive?: boolean;
  /** The error of the last turn, if it failed. */
  readonly failed: WorkerError | null;
  /** A reported error whose turn has not ended. */
  readonly reported: WorkerError | null;
  /** A line over the limit was skipped, perhaps with an answer or the end of a turn. */
  readonly skipped: boolean;
  /**
   * The error of an end without a turn's end, for a kind that can tell from the exit code or the last output.
   */
  readonly meaning?: WorkerError | undefined;
}

/** The terminal event decides. Without one the exit decides, and exit code 0 is then a failure too. */
export const byTurnEnd = (
  voice: KindEvents,
  known: DecoderSummary,
  completion: AgentCompletion,
  exit: ExitFacts,
): FinishVerdict => {
  if (known.settled && !isDeserted(known, exit)) {
    const failed = known.failed ?? undefined;
    // The turn ended well but its answer was skipped, so the result is incomplete.
    if (failed !== undefined || !known.skipped || completion.final_text !== undefined)
      return { outcome: outcomeOf(completion, failed), records: [] };
    return { outcome: outcomeOf(completion, ANSWER_SKIPPED), records: [voice.error(ANSWER_SKIPPED)] };
  }
  const error = unsettled(known, exit, voice);
  const told = stoppedBy(exit) !== undefined || known.reported?.code === error.code;
  return { outcome: outcomeOf(completion, error), records: told ? [] : [voice.error(error)] };
};

/**
 * The process ended between two turns although its input was open, so it cannot take the next message. If a
 * turn failed, that may be why it exited and says more than the exit; a signal never comes from a turn.
 */
const isDeserted = ({ interactive, failed }: DecoderSummary, { input_ended, status }: ExitFacts): boolean =>
  interactive === true && input_ended !== true && (failed === null || status.signal !== null);

/** If the process failed, its stderr may say why. */
const unsettled = (
  { settled, reported, skipped, meaning }: DecoderSummary,
  exit: ExitFacts,
  { agent_kind }: KindEvents,
): WorkerError => {
  const ended = exitError(exit);
  if (ended === undefined && settled) return deserted(exit);
  if (ended === undefined) return skipped ? SKIPPED : (meaning ?? noTerminalEvent(exit));
  if (stoppedBy(exit) !== undefined) return ended;
  const { stderr_tail } = exit;
  return reported ?? rejectedFlag(agent_kind, stderr_tail) ?? classifyText(stderr_tail) ?? meaning ?? ended;
};

const SKIPPED: WorkerError = {
  code: "OUTPUT_TOO_LARGE",
  message: "A line of the agent exceeded the limit and was skipped, so it is unknown how its turn ended.",
};

const ANSWER_SKIPPED: WorkerError = {
  code: "OUTPUT_TOO_LARGE",
  message: "A line of the agent exceeded the limit and was skipped, so its answer is missing.",
};

const noTerminalEvent = (exit: ExitFacts): WorkerError => ({
  code: "NO_TERMINAL_EVENT",
  message: `${nameOf(exit, "The agent")} exited without saying how its turn ended.`,
});

const deserted = (exit: ExitFacts): WorkerError => ({
  code: "AGENT_FAILED",
  message: `${nameOf(exit, "The agent")} exited between two turns although its input was open.`,
});
