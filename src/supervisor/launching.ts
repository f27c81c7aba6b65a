/** A launch and what is known from it: bounded in time, and without a process that nobody holds. */
import { basename } from "node:path";
import { Effect } from "effect";
import type { AgentAdapter } from "../adapters/adapter.ts";
import type { Run } from "../adapters/spawner.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { LAUNCH_MAX_MS } from "../protocol/limits.ts";
import { isSecretName, type Redactor } from "../protocol/redact.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import { attemptAsync } from "./attempt.ts";
import type { Spawned } from "./inputs.ts";
import type { Services } from "./services.ts";

/** What is made after all is ended: nobody waits for it any more. */
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

export const inTime = (services: Services, launching: Promise<Run>): Effect.Effect<Run, HoldfastError> =>
  Effect.timeoutOrElse(
    attemptAsync(() => launching),
    {
      duration: LAUNCH_MAX_MS,
      orElse: () => {
        discard(services, launching);
        return Effect.fail(
          new HoldfastError("EXEC_FAILED", `The agent was not started within ${LAUNCH_MAX_MS / 1000} s.`),
        );
      },
    },
  );

export const spawnedOf = (run: Run, argv: readonly string[], redact: Redactor): Spawned => ({
  pid: run.agent.pid,
  pgid: run.pgid,
  agent: run.agent,
  launcher: run.launcher,
  argv: argv.map((word) => redact.text(word)),
});

/** The agent's program as sentences name it. */
export const programOf = (argv: readonly string[]): string | undefined =>
  argv[0] === undefined ? undefined : basename(argv[0]);

/** What must not be logged, where the environment cannot be built again (a secret's file is gone): all that may be one. */
export const secretsOf = (
  { env, client_env }: WorkerSpec,
  { credentials }: AgentAdapter,
): readonly string[] =>
  Object.entries({ ...client_env, ...env }).flatMap(([name, value]) =>
    credentials.includes(name) || isSecretName(name) ? [value] : [],
  );
