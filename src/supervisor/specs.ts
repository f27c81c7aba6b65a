/** What is asked for becomes what can be started: checked whole, its environment built, and a second copy with its secrets masked. */
import { Effect } from "effect";
import type { AgentAdapter } from "../adapters/adapter.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { makeRedactor, redactError } from "../protocol/redact.ts";
import { WorkerSpec, type WorkerSpecInput } from "../protocol/worker.ts";
import { attempt, attemptAsync, typed } from "./attempt.ts";
import type { Core } from "./core.ts";
import type { SpawnReply } from "./replies.ts";

export interface Startable {
  /** As it is kept in the run directory. Keys that its kind has no use for are not. */
  readonly kept: WorkerSpec;
  /** As it goes on record. */
  readonly masked: WorkerSpec;
  readonly shown: NonNullable<SpawnReply["plan"]>;
}

export interface Specs {
  /** Every mistake at once. */
  checked(
    given: WorkerSpecInput,
  ): Effect.Effect<{ readonly spec: WorkerSpec; readonly adapter: AgentAdapter }, HoldfastError>;
  /** Start errors that are certain now are told now, before anything is recorded. */
  startable(spec: WorkerSpec, adapter: AgentAdapter): Effect.Effect<Startable, HoldfastError>;
}

export const makeSpecs = ({ services, adapterOf }: Core): Specs => ({
  checked: (
    given: WorkerSpecInput,
  ): Effect.Effect<{ spec: WorkerSpec; adapter: AgentAdapter }, HoldfastError> =>
    Effect.gen(function* () {
      const adapter = yield* adapterOf(String(given.kind));
      const parsed = WorkerSpec.safeParse({ ...given, kind: adapter.kind });
      const problems = parsed.success
        ? [...(yield* attempt(() => adapter.validate(parsed.data)))]
        : parsed.error.issues.map((issue) => `${issue.path.join(".") || "spec"}: ${issue.message}`);
      if (parsed.success && parsed.data.backoff_max_ms < parsed.data.backoff_min_ms)
        problems.push("backoff: the longest delay is shorter than the shortest.");
      if (parsed.success && problems.length === 0) return { spec: parsed.data, adapter };
      return yield* Effect.fail(
        new HoldfastError("INVALID_REQUEST", problems.join(" "), { problems, phase: "validation" }),
      );
    }),
  startable: (spec, adapter) =>
    Effect.gen(function* () {
      const { plan, env, client_env, secrets } = yield* typed(
        services.prepare(adapter, spec, 1, undefined, ""),
      );
      const redact = makeRedactor(secrets);
      yield* Effect.mapError(
        attemptAsync(() =>
          services.spawner.check({ argv: plan.argv, cwd: spec.cwd, env, limits: spec.limits }),
        ),
        (error) => redactError(error, redact),
      );
      const { name, supervisor, parent } = spec;
      const masked = {
        ...redact.value(spec),
        name,
        supervisor,
        parent,
        env: redact.env(spec.env),
        client_env: {},
        argv: spec.argv.map(redact.text),
      };
      const shown = {
        argv: plan.argv.map(redact.text),
        cwd: spec.cwd,
        env: redact.env(env),
        stdin: plan.stdin.kind,
      };
      return { kept: { ...spec, client_env }, masked, shown };
    }),
});
