/**
 * Turns a request into a spec that can be started: completely checked, with its environment, and with a second copy that
 * has its secrets masked.
 */

import { createHash } from "node:crypto";
import { Effect } from "effect";
import { attempt, attemptAsync, typed } from "../actors/machine/attempt.ts";
import type { PreparedLaunch, Probe } from "../actors/ports.ts";
import { runtimeNamed, unableTo } from "../actors/runtimes.ts";
import { confine } from "../actors/worker/launching.ts";
import type { Repository, SandboxedLaunch } from "../actors/workspaces.ts";
import type { AgentAdapter } from "../adapters/adapter.ts";
import { refusal, refused } from "../adapters/spec-refusal.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import { addedDirectories, missingDirectory } from "../protocol/extensions.ts";
import { FEDERATED } from "../protocol/peer.ts";
import { isTellable, makeRedactor, NOT_TELLABLE, type Redactor, redactError } from "../protocol/redact.ts";
import { WorkerSpec, type WorkerSpecInput } from "../protocol/worker.ts";
import type { Core } from "./core.ts";
import type { SpawnReply } from "./replies.ts";

export interface StartableSpec {
  /** The spec as it is kept in the run directory, without keys that its kind does not use. */
  readonly kept: WorkerSpec;
  /** The spec as it is recorded. */
  readonly masked: WorkerSpec;
  readonly shown: NonNullable<SpawnReply["plan"]>;
}

export interface Specs {
  /** Checks a spec. Fails with every mistake at once. */
  checked(
    given: WorkerSpecInput,
  ): Effect.Effect<{ readonly spec: WorkerSpec; readonly adapter: AgentAdapter }, HoldfastError>;
  /** Fails with start errors that are already certain, before anything is recorded. */
  startable(spec: WorkerSpec, adapter: AgentAdapter): Effect.Effect<StartableSpec, HoldfastError>;
}

export const makeSpecs = (core: Core): Specs => ({
  checked: (given) => checked(core, given),
  startable: (spec, adapter) => startable(core, spec, adapter),
});

const checked: (
  core: Core,
  given: WorkerSpecInput,
) => Effect.Effect<{ readonly spec: WorkerSpec; readonly adapter: AgentAdapter }, HoldfastError> = (
  { adapterOf, services },
  given,
) =>
  Effect.gen(function* () {
    const adapter = yield* adapterOf(String(given.kind));
    const parsed = WorkerSpec.safeParse({ ...given, kind: adapter.kind });
    if (!parsed.success) {
      const { issues } = parsed.error;
      const problems = issues.map((issue) => `${issue.path.join(".") || "spec"}: ${issue.message}`);
      return yield* Effect.fail(refused(problems, []) as HoldfastError);
    }
    const spec = parsed.data;
    const runtime = yield* attempt(() => runtimeNamed(services, spec.runtime));
    const isBackwards = spec.backoff_max_ms < spec.backoff_min_ms;
    const more = [
      ...(isBackwards ? ["backoff: the longest delay is shorter than the shortest."] : []),
      ...(isTellable(spec.name ?? "") ? [] : [`name: ${NOT_TELLABLE}.`]),
      ...(spec.passivate_ms > 0 && !canRest(spec, adapter) ? [CANNOT_REST] : []),
      ...unableTo(runtime, spec, adapter),
    ];
    const refusedFor = yield* attempt(() => refusal(adapter, spec, more));
    return refusedFor === undefined ? { spec, adapter } : yield* Effect.fail(refusedFor);
  });

const startable = (
  { services }: Core,
  spec: WorkerSpec,
  adapter: AgentAdapter,
): Effect.Effect<StartableSpec, HoldfastError> =>
  Effect.gen(function* () {
    const prepared = yield* typed(services.prepare(adapter, spec, 1, undefined, ""));
    const { plan, env, client_env, secrets } = prepared;
    const redact = makeRedactor(secrets);
    if (redact.text(spec.name ?? "") !== (spec.name ?? ""))
      return yield* Effect.fail(refused([`name: ${NOT_TELLABLE}.`], []) as HoldfastError);
    const masking = <A>(work: () => Promise<A>): Effect.Effect<A, HoldfastError> =>
      Effect.mapError(attemptAsync(work), (error) => redactError(error, redact));
    const { argv } = plan;
    yield* masking(() =>
      runtimeNamed(services, spec.runtime).check({ argv, cwd: spec.cwd, env, limits: spec.limits }),
    );
    yield* masking(() => checkDirectories(spec, services.probe));
    const { workspaces } = services;
    const repository =
      spec.worktree === undefined || workspaces === undefined
        ? undefined
        : yield* attemptAsync(() => workspaces.look(spec));
    const asked = { spec, adapter, env, workspace: undefined, isStart: false, repository };
    const confined =
      spec.sandbox === undefined ? undefined : yield* masking(async () => confine(services, asked, argv));
    const shown = shownPlan(spec, prepared, redact, repository, confined);
    return { kept: { ...spec, client_env }, masked: maskedSpec(spec, redact), shown };
  });

/** The words of a peer of federation are on no record: their retention could not be kept there. */
const withoutWords = ({ name, prompt }: WorkerSpec): Pick<WorkerSpec, "prompt"> =>
  name?.startsWith(FEDERATED) === true && prompt !== undefined
    ? { prompt: `from another hub: sha256:${createHash("sha256").update(prompt).digest("hex")}` }
    : {};

/** The spec as it is recorded. Its names are known to hold no secret. */
const maskedSpec = (spec: WorkerSpec, redact: Redactor): WorkerSpec => {
  const { name, supervisor, parent, trace } = spec;
  const env = redact.env(spec.env);
  const argv = spec.argv.map(redact.text);
  return {
    ...redact.value(spec),
    ...withoutWords(spec),
    name,
    supervisor,
    parent,
    trace,
    env,
    client_env: {},
    argv,
  };
};

const shownPlan = (
  { cwd, worktree, mcp }: WorkerSpec,
  { plan, env }: PreparedLaunch,
  redact: Redactor,
  repository: Repository | undefined,
  confined: SandboxedLaunch | undefined,
): StartableSpec["shown"] => ({
  argv: plan.argv.map(redact.text),
  cwd,
  env: redact.env(env),
  stdin: plan.stdin.kind,
  ...(mcp === undefined ? {} : { mcp: Object.keys(mcp) }),
  ...(repository === undefined
    ? {}
    : {
        worktree: {
          repository: repository.repository,
          base_commit: repository.base_commit,
          branch: worktree?.branch ?? null,
        },
      }),
  ...(confined === undefined
    ? {}
    : {
        sandbox: {
          program: confined.program,
          net: confined.plan.net,
          writable: confined.plan.writable,
        },
      }),
});

/** Checks that additional directories exist when the worker is requested. If they disappear later, the agent reports it. */
const checkDirectories = async (spec: WorkerSpec, probe: Probe): Promise<void> => {
  const missing = async (paths: readonly string[], told: (path: string, at: number) => string) => {
    const there = await Promise.all(paths.map((path) => probe.isDirectory(path)));
    return there.flatMap((isThere, at) => (isThere ? [] : [told(paths[at]!, at)]));
  };
  const problems = [
    ...(await missing(addedDirectories(spec), (_, at) => missingDirectory(at))),
    ...(await missing(
      spec.sandbox?.writable ?? [],
      (path) => `sandbox.writable: ${path} is not an existing directory.`,
    )),
  ];
  const error = refused(problems, []);
  if (error !== undefined) throw error;
};

const CANNOT_REST =
  "passivate: only an --interactive worker can rest, of a kind that can continue its session.";

const canRest = ({ interactive }: WorkerSpec, { messages, sessions_under }: AgentAdapter): boolean =>
  interactive && messages?.acknowledges === true && sessions_under !== undefined;
