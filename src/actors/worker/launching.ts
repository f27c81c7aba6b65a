/**
 * Begins an incarnation: its record, its launch (bounded in time; it leaves no process that nobody holds), and its run.
 */

import { basename, join } from "node:path";
import { Effect, Result, Schedule } from "effect";
import { type AgentAdapter, type LaunchPlan, type Opening, variablesOf } from "../../adapters/adapter.ts";
import { launchScriptsIn } from "../../adapters/process/launch-scripts.ts";
import { PLACED_MARKER, placedMarkerOf } from "../../adapters/process/placed-marker.ts";
import type { LaunchRequest, Run } from "../../adapters/spawner.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { CLUSTER_TICK_MS, LAUNCH_MAX_MS, SHORTAGE_RETRY_MS } from "../../base/limits.ts";
import { askedSession } from "../../protocol/asked-session.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { addedDirectories } from "../../protocol/extensions.ts";
import { mcpVariables } from "../../protocol/mcp-references.ts";
import { type RecordDraft, workerStream } from "../../protocol/records.ts";
import {
  isSecretName,
  makeRedactor,
  type Redactor,
  redactError,
  secretArguments,
} from "../../protocol/redact.ts";
import { RUNTIME_DEFAULT } from "../../protocol/words.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { SpawnedProcess } from "../../supervisor/child/inputs.ts";
import { ON_RECORD } from "../deciding/journal.ts";
import type { NextInput } from "../deciding/worker-decider.ts";
import { incarnate } from "../intake/incarnation.ts";
import { attemptAsync, typed } from "../machine/attempt.ts";
import type { Services } from "../ports.ts";
import { runtimeNamed } from "../runtimes.ts";
import type { Confine, SandboxedLaunch } from "../workspaces.ts";
import { timeoutOf } from "./limiting.ts";
import { refusalAtLast } from "./session-holding.ts";
import { spanned } from "./spans.ts";
import type { LiveWorker } from "./worker.ts";
import { readyWorkspace } from "./workspaces.ts";

interface StartedRun {
  readonly run: Run;
  readonly argv: readonly string[];
  readonly opening: Opening;
}

export const launch = (worker: LiveWorker, incarnation: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { journal, shared } = worker;
    worker.startError = undefined;
    const resumes = isBegun(worker, incarnation)
      ? (journal.child().resumes ?? undefined)
      : yield* begin(worker, incarnation);
    // The worker was killed before this incarnation began.
    if (!journal.child().open) return;
    // Other workers may have spent the budget meanwhile.
    shared.accounts.look(worker);
    worker.activityClock.begin(incarnation, journal.now());
    const started = yield* Effect.result(typed(start(worker, incarnation, resumes)));
    if (Result.isFailure(started)) {
      worker.startError = redactError(started.failure, worker.redact);
      worker.tell({ type: "EXITED" });
      return;
    }
    const { run, argv, opening } = started.success;
    const { redact } = worker;
    crashPoint("launch-before-record");
    yield* journal.fact({ type: "launched", spawned: spawnedOf(worker, run, argv) });
    crashPoint("launch-after-record");
    const timeout_ms = timeoutOf(worker);
    // Set this before the machine is told: it may be waiting to stop the run.
    const begun = { run, redact, program: programOf(argv), exit: undefined, signals: [] };
    worker.incarnation = incarnate(worker, opening, begun);
    worker.listen(worker.incarnation);
    if (worker.mail !== undefined) worker.fork(worker.mail.attach(run));
    worker.starting = undefined;
    worker.tell({ type: "LAUNCHED", timeout_ms });
    worker.pauseAgain();
  }).pipe(spanned("launch", worker.id));

/** True if the beginning went on record with the end of the incarnation before it. */
const isBegun = ({ journal }: LiveWorker, incarnation: number): boolean => {
  const child = journal.child();
  return child.open && child.incarnation === incarnation;
};

/** Waits for its turn and records the beginning; returns the session that it resumes. */
const begin = (worker: LiveWorker, incarnation: number): Effect.Effect<string | undefined> =>
  Effect.gen(function* () {
    yield* inTurn(worker);
    const resumes = yield* sessionSoFar(worker);
    const reason = incarnation === 1 ? "spawn" : "restart";
    const going_on = resumes === undefined ? {} : { resumes };
    yield* worker.journal.fact({ type: "begin", incarnation, reason, ...going_on });
    return resumes;
  });

/**
 * Begins an immediate restart in the transaction of the end before it: one wait for the disk, not two. Applies only if
 * there is nothing to wait for or look up in between: a slot, the budget, or the session of a conversation.
 */
export const goingOn =
  (worker: LiveWorker): NextInput =>
  ({ commands }) => {
    const { journal, adapter, shared, turn } = worker;
    const isAtOnce = commands.some((command) => command.type === "restart_after" && command.delay_ms <= 0);
    const mayBegin =
      adapter.sessions_under === undefined && (turn?.isFree() ?? true) && shared.accounts.isFree(worker);
    if (!isAtOnce || !mayBegin) return undefined;
    return { type: "begin", incarnation: journal.child().incarnation + 1, reason: "restart" };
  };

/** Waits for a slot, for memory and for the budget. */
const inTurn = (worker: LiveWorker): Effect.Effect<void> =>
  Effect.gen(function* () {
    const turn = worker.turn?.();
    if (turn !== undefined) yield* Effect.promise(() => turn);
    const paid = worker.shared.accounts.gate(worker);
    if (paid !== undefined) yield* Effect.promise(() => paid);
  });

/** The session of the earlier incarnations. */
const sessionSoFar = ({ journal, adapter, id }: LiveWorker): Effect.Effect<string | undefined> =>
  adapter.sessions_under === undefined
    ? Effect.undefined
    : journal.ask(({ views }) => views.worker(id)?.session_id ?? undefined);

/** The last turn has no end on record, here or on the node that ran the worker before. */
const wasInterrupted = ({ journal, adapter, id, spec }: LiveWorker): Effect.Effect<boolean> =>
  adapter.sessions_under === undefined
    ? Effect.succeed(false)
    : Effect.map(
        journal.ask(({ views }) => views.turns(id, 1)),
        ([turn]) =>
          turn === undefined ? spec.placed?.brought?.interrupted !== undefined : turn.ended_at === null,
      );

const start = (
  worker: LiveWorker,
  incarnation: number,
  session: string | undefined,
): Effect.Effect<StartedRun, HoldfastError> =>
  Effect.gen(function* () {
    const { services, shared, journal, adapter, spec, id } = worker;
    const isStopped = (): boolean => journal.child().stop !== null;
    const elsewhere = yield* refusalAtLast(worker, session ?? askedSession(spec), isStopped);
    if (elsewhere !== undefined) return yield* Effect.fail(elsewhere);
    yield* leased(worker);
    if (worker.beginning.unlaunchable !== undefined) return yield* Effect.fail(worker.beginning.unlaunchable);
    const refused = shared.sessions.claim(worker, session ?? askedSession(spec));
    if (refused !== undefined) return yield* Effect.fail(refused);
    const workspace = spec.worktree === undefined ? undefined : yield* readyWorkspace(worker, incarnation);
    const situated = workspace === undefined ? spec : { ...spec, cwd: workspace.cwd };
    const prepared = yield* services.prepare(
      adapter,
      situated,
      incarnation,
      session,
      id,
      yield* wasInterrupted(worker),
    );
    const { argv, stdin } = prepared.plan;
    worker.redact = redactorOf(prepared.secrets);
    if (isStopped()) return yield* Effect.fail(stoppedBefore());
    const warned = warningsOf(id, incarnation, adapter.kind, prepared.plan.warnings);
    if (warned.length > 0) yield* journal.note(warned, ON_RECORD);
    const { env, scripts = {} } = prepared;
    const scripts_dir = launchScriptsIn(services.workerDir(id));
    const hasScripts = Object.keys(scripts).length > 0;
    const leaves = adapter.leaves?.(spec, incarnation) !== undefined;
    if (hasScripts || leaves) yield* attemptAsync(() => services.files.saveScripts(scripts_dir, scripts));
    const confined =
      spec.sandbox === undefined
        ? undefined
        : yield* attemptAsync(() =>
            confine(
              services,
              { spec, adapter, env, workspace, isStart: true, readable: hasScripts ? [scripts_dir] : [] },
              argv,
            ),
          );
    const run = yield* made(worker, {
      worker_id: id,
      incarnation,
      argv: confined?.argv ?? argv,
      cwd: situated.cwd,
      env: { ...(confined?.container?.env ?? env), ...markOf(spec) },
      isMonitor: confined !== undefined && confined.container === undefined,
      isContainer: confined?.container !== undefined,
      stdin,
      limits: spec.limits,
      ...litterOf(adapter, situated, env, confined),
      ...(spec.on_supervisor_death === "die" ? { lifeline: { grace_ms: graceOf(spec) } } : {}),
      ...(isBuiltIn(spec) ? {} : { parent: spec.parent, tools: services.toolsOf?.(spec) }),
    });
    return { run, argv, opening: { spec: situated, incarnation, session, scripts_dir } };
  });

/** A worker of a cluster starts only while its node holds the lease; without it, it waits here until it is stopped. */
const leased = ({ spec: { placed }, services, journal }: LiveWorker): Effect.Effect<void, HoldfastError> =>
  Effect.gen(function* () {
    if (placed === undefined) return;
    while (services.leases?.holds(placed) !== true) {
      if (journal.child().stop !== null) return yield* Effect.fail(stoppedBefore());
      yield* Effect.sleep(CLUSTER_TICK_MS);
    }
  });

const markOf = ({ placed }: WorkerSpec): Readonly<Record<string, string>> =>
  placed === undefined ? {} : { [PLACED_MARKER]: placedMarkerOf(placed) };

/**
 * Recorded before there is a process, so that warnings come before all output, and once even if the daemon dies in
 * between.
 */
const warningsOf = (
  worker_id: string,
  incarnation: number,
  agent_kind: string,
  warnings: LaunchPlan["warnings"] = [],
): readonly RecordDraft[] =>
  warnings.map((message) => ({
    type: "agent.event",
    stream: workerStream(worker_id),
    worker_id,
    incarnation,
    payload: { agent_kind, kind: "Status", channel: "status", message },
  }));
/**
 * Confines an agent in its sandbox. Fails with SANDBOX_UNAVAILABLE if this runtime has none: no agent runs unconfined
 * instead.
 */
export const confine = (
  services: Pick<Services, "confine">,
  ...asked: Parameters<Confine>
): ReturnType<Confine> => {
  if (services.confine !== undefined) return services.confine(...asked);
  throw new HoldfastError("SANDBOX_UNAVAILABLE", "This runtime has no sandbox.");
};

const stoppedBefore = (): HoldfastError =>
  new HoldfastError("WORKER_CANCELLED", "The worker was stopped before its agent was started.");

/** The grace is the bound even for `shutdown: infinity`: after the daemon's death nobody is left to wait longer. */
const graceOf = ({ shutdown, grace_ms }: WorkerSpec): number => (shutdown === "brutal_kill" ? 0 : grace_ms);

/** A rejection, too, if the runtime is not there any more. */
const launchedBy = async ({ services, spec }: LiveWorker, request: LaunchRequest): Promise<Run> =>
  runtimeNamed(services, spec.runtime).launch(request);

/**
 * Launches the agent within LAUNCH_MAX_MS and leaves no process that nobody holds. A lack of descriptors, processes or
 * memory is not the agent's fault: the launch is tried again until that time is up.
 */
const made = (worker: LiveWorker, request: LaunchRequest): Effect.Effect<Run, HoldfastError> => {
  const { services, journal } = worker;
  const since = journal.now();
  let tries = 0;
  const attempt = Effect.andThen(
    // Asked again right before each try, since time may have passed.
    leased(worker),
    Effect.suspend(() => {
      tries += 1;
      const launching = launchedBy(worker, request);
      worker.starting = launching;
      return attemptAsync(() => launching);
    }),
  );
  const isShort = (cause: HoldfastError): boolean => {
    // Report a shortage that lasts until the end as the cause of the failure.
    const isLate = journal.now() - since + SHORTAGE_RETRY_MS >= LAUNCH_MAX_MS;
    if (cause.code !== "UNAVAILABLE" || isLate || journal.child().stop !== null) return false;
    if (tries === 1) services.report(`worker ${request.worker_id} waits for its start: ${cause.message}`);
    return true;
  };
  const patiently = Effect.retry(attempt, {
    schedule: Schedule.spaced(SHORTAGE_RETRY_MS),
    while: isShort,
  });
  return Effect.timeoutOrElse(patiently, {
    duration: LAUNCH_MAX_MS,
    orElse: () =>
      Effect.suspend(() => {
        if (worker.starting !== undefined) discard(services, worker.starting);
        return Effect.fail(
          new HoldfastError("EXEC_FAILED", `The agent was not started within ${LAUNCH_MAX_MS / 1000} s.`),
        );
      }),
  });
};

/** Ends a run that came too late: nobody waits for it any more. */
export const discard = ({ report }: Services, late: Promise<Run>): void => {
  const end = async (run: Run): Promise<void> => {
    await run.kill();
    await run.posix?.sweep();
    run.dispose();
  };
  late
    .then(end, () => undefined)
    .catch((cause) => report("an agent that was started too late could not be ended", cause));
};

export const withoutSecrets = makeRedactor();
export const redactorOf = (secrets: readonly string[]): Redactor =>
  secrets.length === 0 ? withoutSecrets : makeRedactor(secrets);

const isBuiltIn = ({ runtime = RUNTIME_DEFAULT }: WorkerSpec): boolean => runtime === RUNTIME_DEFAULT;

const processesOf = ({ posix, ref }: Run): Omit<SpawnedProcess, "argv" | "backend_kind" | "runtime"> => {
  const named = ref === undefined ? {} : { ref };
  if (posix === undefined) return named;
  const { agent, launcher, pgid } = posix;
  return { ...named, pid: agent.pid, pgid, agent, launcher };
};

export const spawnedOf = (
  { services, spec, redact }: Pick<LiveWorker, "services" | "spec" | "redact">,
  run: Run,
  argv: readonly string[],
): SpawnedProcess => ({
  backend_kind: runtimeNamed(services, spec.runtime).backend_kind,
  ...(isBuiltIn(spec) ? {} : { runtime: spec.runtime }),
  ...processesOf(run),
  argv: argv.map((word) => redact.text(word)),
});

/**
 * Directories that the agent may leave behind empty: in its working directory, in added directories, and in those for
 * temporary files.
 */
const litterOf = (
  adapter: AgentAdapter,
  spec: WorkerSpec,
  { TMPDIR: temporary = "/tmp" }: LaunchRequest["env"],
  confined: Pick<SandboxedLaunch, "litter" | "made"> = {},
): Pick<LaunchRequest, "litter" | "made"> => {
  const names = adapter.litter?.(spec) ?? [];
  const dirs = new Set([spec.cwd, ...addedDirectories(spec), "/tmp", temporary]);
  const of_kind = [...dirs].flatMap((dir) => names.map((name) => join(dir, name)));
  const litter = [...of_kind, ...(confined.litter ?? [])];
  return litter.length === 0 ? {} : { litter, made: confined.made ?? [] };
};

/** The name of the agent's program, for sentences. */
export const programOf = (argv: readonly string[]): string | undefined =>
  argv[0] === undefined ? undefined : basename(argv[0]);

/**
 * Texts that must not be logged, for when the environment cannot be built again (a secret's file is gone): everything
 * that may be a secret.
 */
export const secretsOf = (spec: WorkerSpec, adapter: AgentAdapter): readonly string[] => {
  const { env, client_env, argv } = spec;
  const variables = variablesOf(adapter, spec);
  return [
    ...Object.entries({ ...client_env, ...env }).flatMap(([name, value]) =>
      variables.includes(name) || isSecretName(name) ? [value] : [],
    ),
    ...Object.values(env).flatMap((value) => client_env[/^@env:(.+)$/s.exec(value)?.[1] ?? ""] ?? []),
    ...mcpVariables(spec.mcp).flatMap((name) => client_env[name] ?? []),
    ...secretArguments(argv),
  ];
};
