/** How an incarnation begins: its record, its launch (bounded in time, and without a process that nobody holds), its run. */
import { basename, join } from "node:path";
import { type AgentAdapter, type LaunchPlan, type Opening, variablesOf } from "../../adapters/adapter.ts";
import type { LaunchRequest, Run } from "../../adapters/spawner.ts";
import type { Sandboxed } from "../../adapters/workspace/sandbox/sandbox.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { LAUNCH_MAX_MS, SHORTAGE_RETRY_MS } from "../../base/limits.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { addedDirectories } from "../../protocol/extensions.ts";
import { type RecordDraft, workerStream } from "../../protocol/records.ts";
import {
  isSecretName,
  makeRedactor,
  type Redactor,
  redactError,
  secretArguments,
} from "../../protocol/redact.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { Spawned } from "../../supervisor/child/inputs.ts";
import { askedSession } from "../../supervisor/sessions/asked-session.ts";
import { forEver, ON_RECORD } from "../deciding/journal.ts";
import type { Services } from "../ports.ts";
import type { Confine } from "../workspaces.ts";
import { timeoutOf } from "./limiting.ts";
import type { Shell } from "./worker.ts";
import { readyWorkspace } from "./workspaces.ts";

interface Started {
  readonly run: Run;
  readonly argv: readonly string[];
  readonly opening: Opening;
}

export const launch = async (shell: Shell, incarnation: number): Promise<void> => {
  const { journal } = shell;
  const turn = shell.turn?.();
  if (turn !== undefined) await turn;
  const paid = shell.bridge.accounts.gate(shell);
  if (paid !== undefined) await paid;
  shell.forget();
  const known = sessionSoFar(shell);
  const resumes = known instanceof Promise ? await known : known;
  const reason = incarnation === 1 ? "spawn" : "restart";
  await journal.fact({ type: "begin", incarnation, reason, ...(resumes === undefined ? {} : { resumes }) });
  // Killed before it began.
  if (!journal.child().open) return;
  // The money that others have spent meanwhile.
  shell.bridge.accounts.look(shell);
  shell.vitals.begin(incarnation, journal.now());
  let started: Started;
  try {
    started = await start(shell, incarnation, resumes);
  } catch (cause) {
    shell.startError = redactError(asHoldfastError(cause), shell.redact);
    shell.tell({ type: "EXITED" });
    return;
  }
  const { run, argv, opening } = started;
  crashPoint("launch-before-record");
  await journal.fact({ type: "launched", spawned: spawnedOf(run, argv, shell.redact) });
  crashPoint("launch-after-record");
  if (journal.isClosed()) return;
  const timeout_ms = timeoutOf(shell);
  // Before the machine is told: it may be waiting to stop what runs.
  shell.attach(run, opening);
  shell.listen();
  if (shell.mail !== undefined) shell.fork(shell.mail.attach(run));
  shell.starting = undefined;
  shell.tell({ type: "LAUNCHED", timeout_ms });
  shell.pauseAgain();
};

/** In which an earlier incarnation was. */
const sessionSoFar = ({ journal, adapter, id }: Shell): string | undefined | Promise<string | undefined> => {
  if (adapter.sessions_under === undefined) return undefined;
  return journal.ask((log) => log.worker(id)?.session_id ?? undefined);
};

const start = async (shell: Shell, incarnation: number, session: string | undefined): Promise<Started> => {
  const { services, bridge, journal, adapter, spec, id } = shell;
  if (shell.beginning.unlaunchable !== undefined) throw shell.beginning.unlaunchable;
  const refused = bridge.sessions.claim(shell, session ?? askedSession(spec));
  if (refused !== undefined) throw refused;
  const workspace = spec.worktree === undefined ? undefined : await readyWorkspace(shell, incarnation);
  const placed = workspace === undefined ? spec : { ...spec, cwd: workspace.cwd };
  const asked = bridge.run(services.prepare(adapter, placed, incarnation, session, id));
  const prepared = asked instanceof Promise ? await asked : asked;
  const { argv, stdin } = prepared.plan;
  shell.redact = redactorOf(prepared.secrets);
  shell.program = programOf(argv);
  if (journal.child().stop !== null) throw stoppedBefore();
  // Let go meanwhile: whoever supervises it next starts it.
  if (journal.isClosed()) return forEver();
  const warned = warningsOf(id, incarnation, adapter.kind, prepared.plan.warnings);
  if (warned.length > 0) await journal.note(warned, ON_RECORD);
  const { env } = prepared;
  const confined =
    spec.sandbox === undefined
      ? undefined
      : await confine(services, { spec, adapter, env, workspace, isStart: true }, argv);
  const request: LaunchRequest = {
    worker_id: id,
    incarnation,
    argv: confined?.argv ?? argv,
    cwd: placed.cwd,
    env,
    isMonitor: confined !== undefined,
    stdin,
    limits: spec.limits,
    ...litterOf(adapter, placed, env, confined),
    ...(spec.on_supervisor_death === "die" ? { lifeline: { grace_ms: graceOf(spec) } } : {}),
  };
  shell.starting = patiently(shell, request);
  const run = await inTime(shell, shell.starting);
  return { run, argv, opening: { spec: placed, incarnation, session } };
};

/** On record before there is a process: they come before all that it prints, and once, whatever dies in between. */
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
/** It fails closed. */
export const confine = (
  services: Pick<Services, "confine">,
  ...asked: Parameters<Confine>
): ReturnType<Confine> => {
  if (services.confine !== undefined) return services.confine(...asked);
  throw new HoldfastError("SANDBOX_UNAVAILABLE", "This runtime has no sandbox.");
};

const stoppedBefore = (): HoldfastError =>
  new HoldfastError("WORKER_CANCELLED", "It was stopped before its agent was started.");

/** If nobody is left to wait for as long as it takes, the grace is its bound. */
const graceOf = ({ shutdown, grace_ms }: WorkerSpec): number => (shutdown === "brutal_kill" ? 0 : grace_ms);

/** Out of descriptors, processes or memory is no fault of the agent's: it is tried again, for as long as a launch may take. */
const patiently = async (shell: Shell, request: LaunchRequest): Promise<Run> => {
  const { services, bridge, journal } = shell;
  const since = journal.now();
  for (let tries = 1; ; tries += 1) {
    try {
      return await services.spawner.launch(request);
    } catch (cause) {
      const isShort = cause instanceof HoldfastError && cause.code === "UNAVAILABLE";
      const isLate = journal.now() - since + SHORTAGE_RETRY_MS >= LAUNCH_MAX_MS;
      if (!isShort || isLate || journal.child().stop !== null || journal.isClosed()) throw cause;
      if (tries === 1) services.report(`worker ${request.worker_id} waits for its start: ${cause.message}`);
      await new Promise<void>((resolve) => void bridge.alarms.after(SHORTAGE_RETRY_MS, resolve));
    }
  }
};

const inTime = ({ services, bridge }: Shell, launching: Promise<Run>): Promise<Run> =>
  new Promise((resolve, reject) => {
    const alarm = bridge.alarms.after(LAUNCH_MAX_MS, () => {
      discard(services, launching);
      reject(new HoldfastError("EXEC_FAILED", `The agent was not started within ${LAUNCH_MAX_MS / 1000} s.`));
    });
    launching.then(
      (run) => {
        alarm.disarm();
        resolve(run);
      },
      (cause) => {
        alarm.disarm();
        reject(cause);
      },
    );
  });

/** A run that is made after all is ended: nobody waits for it any more. */
export const discard = ({ report }: Services, late: Promise<Run>): void => {
  const end = async (run: Run): Promise<void> => {
    await run.kill();
    await run.sweep();
    run.dispose();
  };
  late
    .then(end, () => undefined)
    .catch((cause) => report("an agent that was started too late could not be ended", cause));
};

export const withoutSecrets = makeRedactor();
export const redactorOf = (secrets: readonly string[]): Redactor =>
  secrets.length === 0 ? withoutSecrets : makeRedactor(secrets);

export const spawnedOf = (run: Run, argv: readonly string[], redact: Redactor): Spawned => ({
  pid: run.agent.pid,
  pgid: run.pgid,
  agent: run.agent,
  launcher: run.launcher,
  argv: argv.map((word) => redact.text(word)),
});

/** In its working directory, in the others that it may work in, and in those of temporary files. */
const litterOf = (
  adapter: AgentAdapter,
  spec: WorkerSpec,
  { TMPDIR: temporary = "/tmp" }: LaunchRequest["env"],
  confined: Pick<Sandboxed, "litter" | "made"> = {},
): Pick<LaunchRequest, "litter" | "made"> => {
  const names = adapter.litter?.(spec) ?? [];
  const dirs = new Set([spec.cwd, ...addedDirectories(spec), "/tmp", temporary]);
  const of_kind = [...dirs].flatMap((dir) => names.map((name) => join(dir, name)));
  const litter = [...of_kind, ...(confined.litter ?? [])];
  return litter.length === 0 ? {} : { litter, made: confined.made ?? [] };
};

/** The agent's program as sentences name it. */
export const programOf = (argv: readonly string[]): string | undefined =>
  argv[0] === undefined ? undefined : basename(argv[0]);

/** Texts that must not be logged, where the environment cannot be built again (a secret's file is gone): all that may be one. */
export const secretsOf = (spec: WorkerSpec, adapter: AgentAdapter): readonly string[] => {
  const { env, client_env, argv } = spec;
  const variables = variablesOf(adapter, spec);
  return [
    ...Object.entries({ ...client_env, ...env }).flatMap(([name, value]) =>
      variables.includes(name) || isSecretName(name) ? [value] : [],
    ),
    ...Object.values(env).flatMap((value) => client_env[/^@env:(.+)$/s.exec(value)?.[1] ?? ""] ?? []),
    ...secretArguments(argv),
  ];
};
