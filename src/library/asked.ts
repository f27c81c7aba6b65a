/** A program's requests to the library, completed with facts of its process: its directory, and the variables that may reach the agent. */

import { resolve } from "node:path";
import { Effect } from "effect";
import type { AgentAdapter } from "../adapters/adapter.ts";
import { KIND_VARIABLES } from "../adapters/kinds.ts";
import type { Registry } from "../adapters/registry.ts";
import { clientEnvironment, referencedVariables } from "../base/environment.ts";
import { MCP_TIMEOUT_DEFAULT_MS } from "../base/limits.ts";
import { askMcp, type McpReply } from "../daemon/mcp.ts";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import { mcpVariables } from "../protocol/mcp-references.ts";
import type { DispatchSet } from "../protocol/replies/board.ts";
import type { SubmittedJob } from "../protocol/replies/jobs.ts";
import type { ScheduleChange } from "../protocol/replies/schedules.ts";
import type { SpawnManyReply } from "../protocol/replies/spawn-many.ts";
import { traceIn } from "../protocol/trace-variables.ts";
import type { WorkerSpec, WorkerSpecInput } from "../protocol/worker.ts";
import type { SpawnReply } from "../runtime/replies.ts";
import type { RuntimeCalls } from "./calls.ts";
import { checked, optionsOf } from "./checked.ts";
import type {
  DispatchOptions,
  DistributiveOmit,
  JobOptions,
  McpOptions,
  ScheduleOptions,
  SpawnManyOptions,
  SpawnOptions,
} from "./options.ts";

/** `spawn` of both entry points: in this process's directory, with those of its variables that may reach the agent. */
export const spawnAs = (
  api: RuntimeCalls,
  registry: Registry,
  options: SpawnOptions<string>,
): Effect.Effect<SpawnReply, HoldfastError> =>
  Effect.flatMap(
    Effect.try({ try: () => spawnRequest(registry, options), catch: asHoldfastError }),
    ({ spec, ...how }) => api.spawn(spec, how),
  );

/** `spawnMany` of both doors: in this process's directory, with those of its variables that agents may need. */
export const spawnManyAs = (
  api: RuntimeCalls,
  options: SpawnManyOptions,
): Effect.Effect<SpawnManyReply, HoldfastError> =>
  Effect.flatMap(
    Effect.try({
      try: () => {
        const { cwd, ...asked } = optionsOf(options);
        return checked("agent/spawn-many", {
          ...asked,
          cwd: directoryOf(cwd),
          client_env: sentEnvironment([]),
        });
      },
      catch: asHoldfastError,
    }),
    (asked) => api.spawnMany(asked),
  );

/** `jobs.submit` of both doors: as `spawnAs`, of a worker that is never restarted. */
export const submitAs = (
  api: RuntimeCalls,
  registry: Registry,
  options: JobOptions<string>,
): Effect.Effect<SubmittedJob, HoldfastError> =>
  Effect.flatMap(
    Effect.try({
      try: () => spawnRequest(registry, { ...optionsOf(options), restart: "temporary" }),
      catch: asHoldfastError,
    }),
    ({ spec, idempotency_key }) => api.jobs.submit(spec, { idempotency_key }),
  );

/** `schedules.add` of both doors: its workers start as `spawnAs` starts one. */
export const scheduleAs = (
  api: RuntimeCalls,
  registry: Registry,
  options: ScheduleOptions<string>,
): Effect.Effect<ScheduleChange, HoldfastError> =>
  Effect.flatMap(
    Effect.try({
      try: () => {
        const { name, cron, zone, overlap, missed, missed_max, starting_deadline_ms, ...asked } =
          optionsOf(options);
        const { spec } = spawnRequest(registry, asked);
        const times = { name, cron, zone, overlap, missed, missed_max, starting_deadline_ms };
        return checked("schedule/add", { schedule: { ...times, spec } });
      },
      catch: asHoldfastError,
    }),
    ({ schedule }) => api.schedules.add(schedule),
  );

/** `board.dispatch` of both doors: its workers run in this process's directory, with those of its variables that may reach an agent. */
export const dispatchAs = (
  api: RuntimeCalls,
  registry: Registry,
  options: DispatchOptions<string>,
): Effect.Effect<DispatchSet, HoldfastError> =>
  Effect.flatMap(
    Effect.try({
      try: () => {
        const { worker, ...asked } = optionsOf(options);
        const spec = worker === undefined ? undefined : spawnRequest(registry, optionsOf(worker)).spec;
        return checked("board/dispatch", { ...asked, spec });
      },
      catch: asHoldfastError,
    }),
    api.board.dispatch,
  );

/** A spec with the defaults of this process and of its kind. */
export const completed = (
  { adapterFor, runtimeFor }: Pick<Registry, "adapterFor" | "runtimeFor">,
  asked: DistributiveOmit<SpawnOptions<string>, "idempotency_key" | "dry_run">,
): WorkerSpecInput => ({
  ...(asked as Partial<WorkerSpecInput>),
  // That of the process is no plain object.
  ...(asked.env === process.env && { env: { ...process.env } as Record<string, string> }),
  kind: asked.kind,
  cwd: directoryOf(asked.cwd),
  trace: traceIn(process.env),
  runtime: asked.runtime ?? runtimeFor(asked.kind),
  restart: asked.restart ?? adapterFor(asked.kind)?.default_restart ?? "transient",
});

const spawnRequest = (registry: Registry, options: SpawnOptions<string>) => {
  const { idempotency_key, dry_run, ...asked } = optionsOf(options);
  const adapter = registry.adapterFor(asked.kind);
  const { spec, ...how } = checked("agent/spawn", {
    spec: completed(registry, asked),
    dry_run,
    idempotency_key,
  });
  const named = [...namedIn(spec), ...(adapter === undefined ? [] : namesOfVariables(adapter))];
  return { spec: { ...spec, client_env: sentEnvironment(named) }, ...how };
};

/** Variables of this process that a spec names. */
export const namedIn = ({
  inherit_env,
  env,
  mcp,
}: Pick<WorkerSpec, "inherit_env" | "env" | "mcp">): readonly string[] => [
  ...inherit_env,
  ...referencedVariables(env),
  ...mcpVariables(mcp),
];

/** An empty or malformed directory stays as it is, and is refused later. */
const directoryOf = (cwd = "."): string =>
  typeof cwd === "string" && cwd !== "" ? resolve(cwd) : (cwd as string);

/** The variables of this process that agents of built-in kinds may need, and the named ones. */
export const sentEnvironment = (named: readonly string[]): Record<string, string> =>
  clientEnvironment(process.env, [...KIND_VARIABLES, ...named]);

/** Variables of this process that the adapter may need. */
export const namesOfVariables = ({ binary, credentials }: AgentAdapter): readonly string[] => [
  ...credentials,
  ...(binary === null ? [] : [binary.variable]),
];

/** Uses this process's directory, and the variables that the kind's program may need. */
export const mcpOf = (
  registry: Registry,
  kind: string,
  name: string | undefined,
  { cwd = ".", env = {}, timeout_ms = MCP_TIMEOUT_DEFAULT_MS }: McpOptions,
): Promise<McpReply> => {
  const adapter = registry.adapterFor(kind);
  const named = [...referencedVariables(env), ...(adapter === undefined ? [] : namesOfVariables(adapter))];
  return askMcp(registry, {
    kind,
    asked: name === undefined ? { do: "list" } : { do: "get", name },
    cwd: resolve(cwd),
    client_env: sentEnvironment(named),
    env,
    timeout_ms,
  });
};
