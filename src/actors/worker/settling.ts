/**
 * Settles an incarnation after the exit: sweeps what the agent left, reads its output, asks the adapter for its
 * verdict, and lets the supervisor decide.
 */
import { Effect } from "effect";
import type { SweepOptions } from "../../adapters/posix.ts";
import { launchScriptsIn } from "../../adapters/process/launch-scripts.ts";
import type { Run } from "../../adapters/spawner.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { STDERR_TAIL_BYTES } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { UNKNOWN_EXIT } from "../../protocol/incarnation.ts";
import type { SweepReport } from "../../protocol/records.ts";
import { errorOf, failedToStart, honest, NOT_STARTED, RUN_GONE } from "../../supervisor/child/exits.ts";
import { keptAnswer } from "../intake/answer-artifact.ts";
import type { Incarnation } from "../intake/incarnation.ts";
import { goingOn } from "./launching.ts";
import { durationOf } from "./limiting.ts";
import { openTurn } from "./open-turn.ts";
import { restOrWake } from "./passivating.ts";
import { spanned } from "./spans.ts";
import type { LiveWorker } from "./worker.ts";

export const settle = (worker: LiveWorker): Effect.Effect<void> =>
  Effect.suspend(() =>
    worker.incarnation === undefined ? unstarted(worker) : settled(worker, worker.incarnation),
  ).pipe(spanned("settle", worker.id));

/** Settles an incarnation without a run: no process was started, or its run directory is gone. */
const unstarted = (worker: LiveWorker): Effect.Effect<void> => {
  const { journal, startError, adapter } = worker;
  // The launch is on record, but the directory is gone: an older log was put back, or somebody removed the directory.
  const isGone = startError === undefined && journal.child().spawned;
  const error = isGone
    ? RUN_GONE
    : errorOf(startError ?? new HoldfastError("WORKER_LOST", "The agent was never started."));
  const exit = isGone ? UNKNOWN_EXIT : NOT_STARTED;
  const told = { exit, outcome: failedToStart(error), error, agent_kind: adapter.kind };
  return journal.fact(
    { type: "exited", ...told, duration_ms: durationOf(worker) },
    [],
    worker.forgetCheckpoints(),
  );
};

/** Only what is a process of this machine can leave something behind that must be searched for. */
const swept = (
  worker: LiveWorker,
  { posix }: Run,
  options: SweepOptions,
): Effect.Effect<SweepReport | undefined> =>
  posix === undefined ? Effect.undefined : worker.call("the sweep", () => posix.sweep(options), undefined);

/** The text of the file that the agent's CLI writes at its end. */
const leftBy = (worker: LiveWorker, { incarnation }: Run): Effect.Effect<string | undefined> => {
  const { services, adapter, spec, id } = worker;
  const name = adapter.leaves?.(spec, incarnation);
  if (name === undefined) return Effect.undefined;
  const dir = launchScriptsIn(services.workerDir(id));
  return worker.call("reading what the agent left", () => services.files.left(dir, name), undefined);
};

const settled = (worker: LiveWorker, incarnation: Incarnation): Effect.Effect<void> =>
  Effect.gen(function* () {
    const duration_ms = durationOf(worker);
    const { journal } = worker;
    const { run, intake, program } = incarnation;
    const agent_kind = worker.adapter.kind;
    const isStopped = journal.child().stop !== null;
    if (isStopped) intake.cut();
    crashPoint("exit-before-sweep");
    const sweep = yield* swept(worker, run, { trustsLauncher: !isStopped });
    yield* intake.drain();
    const stderr_tail = yield* worker.call(
      "reading stderr",
      () => run.source("stderr").tail(STDERR_TAIL_BYTES),
      "",
    );
    const left = yield* leftBy(worker, run);
    const exit = incarnation.exit ?? UNKNOWN_EXIT;
    const { drafts, unended, fault, outcome } = yield* intake.finish({
      status: { code: exit.exit_code, signal: exit.signal },
      signals_sent: incarnation.signals,
      stderr_tail,
      ...(left === undefined ? {} : { left }),
      ...(worker.mail !== undefined && run.input?.isStdinClosed() === true ? { input_ended: true } : {}),
      ...(program === undefined ? {} : { program }),
    });
    worker.detach();
    run.dispose();
    const artifact = yield* keptAnswer(worker, drafts, outcome.completion);
    const interrupted = yield* openTurn(worker, drafts);
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
    const exited = { type: "exited", ...told, duration_ms } as const;
    yield* journal.fact(exited, last, worker.forgetCheckpoints(), goingOn(worker));
    if (journal.child().state === "waiting") yield* restOrWake(worker);
    crashPoint("exit-after-record");
  });
