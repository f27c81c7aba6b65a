/** After the exit: sweep what it left, read what it wrote, hear the adapter's verdict, let the supervisor decide. */
import { crashPoint } from "../../base/crash-point.ts";
import { STDERR_TAIL_BYTES } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import {
  errorOf,
  failedToStart,
  honest,
  NOT_STARTED,
  RUN_GONE,
  UNKNOWN_EXIT,
} from "../../supervisor/child/exits.ts";
import { keptAnswer } from "../intake/answer-artifact.ts";
import { durationOf } from "./limiting.ts";
import { openTurn } from "./open-turn.ts";
import { restOrWake } from "./passivating.ts";
import type { Shell } from "./worker.ts";

export const settle = async (shell: Shell): Promise<void> => {
  const duration_ms = durationOf(shell);
  const { run, intake, journal, program } = shell;
  const agent_kind = shell.adapter.kind;
  if (run === undefined || intake === undefined) {
    // Its launch is on record and its directory is not there: an older log was put back, or somebody has tidied.
    const isGone = shell.startError === undefined && journal.child().spawned;
    const error = isGone
      ? RUN_GONE
      : errorOf(shell.startError ?? new HoldfastError("WORKER_LOST", "The agent was never started."));
    const exit = isGone ? UNKNOWN_EXIT : NOT_STARTED;
    await journal.fact(
      { type: "exited", exit, outcome: failedToStart(error), duration_ms, error, agent_kind },
      [],
      shell.forgetCheckpoints(),
    );
    return;
  }
  if (journal.child().stop !== null) intake.cut();
  crashPoint("exit-before-sweep");
  const sweep = await shell.call("the sweep", () => run.sweep(), undefined);
  const reading = intake.drain();
  if (reading !== undefined) await reading;
  const stderr_tail = await shell.call("reading stderr", () => run.tail("stderr", STDERR_TAIL_BYTES), "");
  const exit = shell.exit ?? UNKNOWN_EXIT;
  const ending = intake.finish({
    status: { code: exit.exit_code, signal: exit.signal },
    signals_sent: shell.signals,
    stderr_tail,
    ...(shell.mail !== undefined && run.isStdinClosed() ? { input_ended: true } : {}),
    ...(program === undefined ? {} : { program }),
  });
  const { drafts, unended, fault, outcome } = ending instanceof Promise ? await ending : ending;
  shell.detach();
  run.dispose();
  const artifact = await keptAnswer(shell, drafts, outcome.completion);
  // A worker that has no turns is not kept waiting.
  const hasTurns = shell.adapter.sessions_under !== undefined;
  const interrupted = hasTurns ? await openTurn(shell, drafts) : undefined;
  const unfinished = intake.spending();
  const told = {
    exit,
    ...(interrupted === undefined ? {} : { interrupted }),
    ...(artifact === undefined ? {} : { artifact }),
    outcome: honest(outcome, exit),
    output_bytes: intake.read(),
    ...(unfinished === undefined ? {} : { unfinished }),
    ...(fault === undefined ? {} : { fault }),
    agent_kind,
    ...(sweep === undefined ? {} : { sweep }),
  };
  crashPoint("exit-before-record");
  const last = [...drafts, ...unended];
  await journal.fact({ type: "exited", ...told, duration_ms }, last, shell.forgetCheckpoints());
  if (journal.child().state === "waiting") await restOrWake(shell);
  crashPoint("exit-after-record");
};
