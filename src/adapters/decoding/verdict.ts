/**
 * The verdict of every kind on an exit, once its own terminal event had its say (agent-clis.md §11: the event first, the exit
 * code second). The sentences name the program and the fact, never what the program printed.
 */
import type { AgentCompletion } from "../../protocol/completion.ts";
import type { IncarnationOutcome } from "../../protocol/incarnation.ts";
import type { WorkerError } from "../../protocol/records.ts";
import type { AgentAdapter, ExitFacts } from "../adapter.ts";
import { classifyText } from "./classify.ts";
import type { KindEvents } from "./events.ts";
import { rejectedFlag } from "./rejections.ts";

/** Signals after which an exit code means nothing: claude exits 0 after INT, codex 1 (agent-clis.md §6). */
const ENDING = new Set(["SIGHUP", "SIGINT", "SIGQUIT", "SIGKILL", "SIGTERM"]);

/** The last signal of ours that was meant to end the process. Such an end is no error of the agent. */
const stoppedBy = ({ signals_sent }: ExitFacts): string | undefined =>
  signals_sent.findLast((signal) => ENDING.has(signal));

const nameOf = ({ program }: ExitFacts, otherwise: string): string =>
  program === undefined ? otherwise : `\`${program}\``;

/** Why the process did not end by itself and well; undefined for exit code 0. */
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

/** A kind whose exit is all that it says. */
export const byExit = (voice: KindEvents, exit: ExitFacts): FinishVerdict => {
  const error = exitError(exit);
  const told = error === undefined || stoppedBy(exit) !== undefined;
  return { outcome: outcomeOf({ status: exit.status }, error), records: told ? [] : [voice.error(error)] };
};

/** The knowledge of a decoder at the end, for a kind with a terminal event. */
export interface DecoderSummary {
  /** Every turn that was started has ended. */
  readonly settled: boolean;
  /** The agent was spoken with, and waits for messages until its input is ended. */
  readonly interactive?: boolean;
  /** How the last turn failed, where it did. */
  readonly failed: WorkerError | null;
  /** An error that was told and not yet followed by the end of its turn. */
  readonly reported: WorkerError | null;
  /** A line over the limit was skipped, in which an answer or a turn's end may have been. */
  readonly skipped: boolean;
  /** The meaning of an end without a turn's end, where the kind can tell: by its exit code, or by what was printed last. */
  readonly meaning?: WorkerError | undefined;
}

/** The terminal event decides; without one the exit does, and exit code 0 is then a failure too. */
export const byTurnEnd = (
  voice: KindEvents,
  known: DecoderSummary,
  completion: AgentCompletion,
  exit: ExitFacts,
): FinishVerdict => {
  if (known.settled && !isDeserted(known, exit)) {
    const failed = known.failed ?? undefined;
    // Its turn ended well, and what it ended with is gone: that is not what was asked for.
    if (failed !== undefined || !known.skipped || completion.final_text !== undefined)
      return { outcome: outcomeOf(completion, failed), records: [] };
    return { outcome: outcomeOf(completion, ANSWER_SKIPPED), records: [voice.error(ANSWER_SKIPPED)] };
  }
  const error = unsettled(known, exit, voice);
  const told = stoppedBy(exit) !== undefined || known.reported?.code === error.code;
  return { outcome: outcomeOf(completion, error), records: told ? [] : [voice.error(error)] };
};

/**
 * The process ended between two turns of a conversation whose input nobody had ended: the next message needed it. A turn that
 * failed may be why it exited, and says more than the exit; a signal never comes from a turn.
 */
const isDeserted = ({ interactive, failed }: DecoderSummary, { input_ended, status }: ExitFacts): boolean =>
  interactive === true && input_ended !== true && (failed === null || status.signal !== null);

/** If the process failed, its words on stderr may say why. */
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
  message: "A line of the agent was over the limit and skipped, and with it how its turn ended.",
};

const ANSWER_SKIPPED: WorkerError = {
  code: "OUTPUT_TOO_LARGE",
  message: "A line of the agent was over the limit and skipped, and with it its answer.",
};

const noTerminalEvent = (exit: ExitFacts): WorkerError => ({
  code: "NO_TERMINAL_EVENT",
  message: `${nameOf(exit, "The agent")} exited without saying how its turn ended.`,
});

const deserted = (exit: ExitFacts): WorkerError => ({
  code: "AGENT_FAILED",
  message: `${nameOf(exit, "The agent")} exited between two turns, and nobody had ended its input.`,
});
