/**
 * Boot: looks up every recorded worker that has not ended in the process table and puts it under supervision again. A
 * failed look-up is reported to the operator; the worker stays as it is and is looked up again on the period. The others do
 * not wait for it.
 */
import { Effect, Schedule } from "effect";
import { attempt, attemptAsync, typed } from "../../actors/machine/attempt.ts";
import type { Services } from "../../actors/ports.ts";
import { runtimeNamed } from "../../actors/runtimes.ts";
import type { Beginning } from "../../actors/worker/worker.ts";
import type { AgentAdapter } from "../../adapters/adapter.ts";
import type { ObservedRun } from "../../adapters/spawner.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { BOOT_LOOKS_MAX, BOOT_TRIES_MAX, RECONCILE_PERIOD_MS, STORE_RETRY_MS } from "../../base/limits.ts";
import { afterTries, type HoldfastError } from "../../protocol/errors.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { WorkerRow } from "../../store/views.ts";
import { type BootAction, reconcile } from "../../supervisor/boot/reconcile.ts";
import type { ChildState } from "../../supervisor/child/inputs.ts";
import type { Core } from "../core.ts";
import { standIn, unread } from "./stand-in.ts";

/**
 * Takes over all workers outside of trees. Their start order is that of their requests. Returns the workers that could not
 * be taken over.
 */
export const recoverAll = (
  core: Core,
  isOfTree: (id: string) => boolean,
): Effect.Effect<readonly RecordedWorker[], HoldfastError> =>
  Effect.flatMap(
    attempt(() => core.services.views.living()),
    (rows) =>
      lookUp(
        core,
        rows.filter((row) => !isOfTree(row.id)).map((row) => ({ row, order: core.place() })),
        (row, error) =>
          core.services.report(`worker ${row.id} could not be taken over: ${error.message}`, error),
      ),
  );

/** A recorded worker and its place in the start order. */
export interface RecordedWorker {
  readonly row: WorkerRow;
  readonly order: number;
}

/** Looks up the missing workers again on the period until none is left. The operator has been told already. */
export const retryRecovery = (core: Core, missing: readonly RecordedWorker[]): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let left = missing; left.length > 0; ) {
      yield* Effect.sleep(RECONCILE_PERIOD_MS);
      left = yield* lookUp(core, left, () => undefined);
    }
  });

/** Ids of workers that are not supervised here but whose agents may run: a stop has not stopped them. */
export const untaken = (core: Core): Effect.Effect<readonly string[], HoldfastError> =>
  Effect.gen(function* () {
    const { views } = core.services;
    const rows = (yield* attempt(() => views.living())).filter(({ id }) => !core.roster.live.has(id));
    const running = yield* Effect.filter(rows, (row) => mayRun(core, row), { concurrency: BOOT_LOOKS_MAX });
    return running.map(({ id }) => id);
  });

/** A run that cannot be looked up may be running. */
const mayRun = (core: Core, row: WorkerRow): Effect.Effect<boolean> => {
  const look = Effect.gen(function* () {
    const child = yield* core.fold(row, row.spec);
    if (!child.open) return false;
    const observed = yield* observe(core.services, child, row.spec);
    if ("run" in observed) observed.run.dispose();
    return observed.kind === "running";
  });
  return Effect.catch(typed(look), () => Effect.succeed(true));
};

const lookUp = (
  core: Core,
  found: readonly RecordedWorker[],
  onFailure: (row: WorkerRow, error: HoldfastError) => void,
): Effect.Effect<readonly RecordedWorker[]> =>
  Effect.map(
    Effect.forEach(
      found,
      (one) =>
        Effect.matchEager(typed(recover(core, one.row, one.order)), {
          onSuccess: () => [],
          onFailure: (error) => {
            onFailure(one.row, error);
            return [one];
          },
        }),
      { concurrency: BOOT_LOOKS_MAX },
    ),
    (failed) => failed.flat(),
  );

const recover = (core: Core, row: WorkerRow, order: number): Effect.Effect<void, HoldfastError> =>
  Effect.gen(function* () {
    const { services, roster } = core;
    crashPoint("boot-worker");
    const { spec: asked, unlaunchable } = yield* specOf(services, row);
    const spec = specFor(services, asked);
    const child = yield* core.fold(row, spec);
    const observed = child.open ? yield* observe(services, child, spec) : undefined;
    const beginning = beginningOf(core, child, observed, unlaunchable);
    if (beginning === undefined) return;
    const { action } = beginning;
    const adapter = yield* adapterFor(core, row, action);
    const ancestors = yield* core.ancestors(spec.parent);
    const { turn } = core.admission.resume({ id: row.id, spec, ancestors }, action.type !== "start", order);
    yield* roster.supervise({ spec, adapter, child, order, beginning, turn });
  });

/** How a recorded worker begins in this daemon, from the observed state of its run; undefined to leave it as it is. */
export const beginningOf = (
  { monoMs }: Pick<Core, "monoMs">,
  child: ChildState,
  observed: ObservedRun | undefined,
  unlaunchable: HoldfastError | undefined,
): Beginning | undefined => {
  const action = reconcile(child, observed?.kind ?? "not_begun", monoMs());
  if (action.type === "leave") return undefined;
  return {
    action,
    ...(observed !== undefined && "run" in observed ? { run: observed.run } : {}),
    ...(observed?.kind === "finished" ? { exit: observed.exit } : {}),
    ...(unlaunchable === undefined ? {} : { unlaunchable }),
  };
};

/**
 * The adapter of a kind. A running agent of a kind that is not loaded gets a stand-in that can watch and stop it; a worker
 * that does not run waits for its kind.
 */
export const adapterFor = (
  core: Core,
  { id, kind }: Pick<WorkerRow, "id" | "kind">,
  { type }: BootAction,
): Effect.Effect<AgentAdapter, HoldfastError> => {
  const known = core.services.adapterFor(kind);
  if (known !== undefined || type !== "adopt") return core.adapterOf(kind);
  core.services.report(`worker ${id} runs, but kind ${kind} is not loaded, so its output is not read`);
  return Effect.succeed(standIn(kind));
};

/** The spec of a worker; for a kind that is not loaded, only the parts that apply to an agent whose output nobody reads. */
export const specFor = (
  { adapterFor: loaded }: Pick<Services, "adapterFor">,
  spec: WorkerSpec,
): WorkerSpec => (loaded(spec.kind) === undefined ? unread(spec) : spec);

export const observe = (
  services: Services,
  { worker_id, incarnation, processes, runtime, ref }: ChildState,
  spec: Pick<WorkerSpec, "runtime">,
): Effect.Effect<ObservedRun, HoldfastError> =>
  Effect.mapError(
    Effect.retry(
      attemptAsync(() =>
        // Without a record of its start, the spec says which runtime was asked.
        runtimeNamed(services, runtime ?? spec.runtime).observe({
          worker_id,
          incarnation,
          processes: processes ?? undefined,
          ref: ref ?? undefined,
        }),
      ),
      { schedule: Schedule.spaced(STORE_RETRY_MS), times: BOOT_TRIES_MAX - 1 },
    ),
    (error) => afterTries(error, BOOT_TRIES_MAX, STORE_RETRY_MS),
  );

/** The spec with the name of the row, because a crash may have come between the record of a rename and its file. */
export const called = (spec: WorkerSpec, { name }: Pick<WorkerRow, "name">): WorkerSpec =>
  name === null || spec.name === name ? spec : { ...spec, name };

/**
 * The launch spec of a worker. If it is lost, the log's copy serves to supervise the worker to its end, but it is not
 * started again.
 */
export const specOf = (
  services: Services,
  row: WorkerRow,
): Effect.Effect<{ readonly spec: WorkerSpec; readonly unlaunchable?: HoldfastError }> =>
  Effect.catch(
    Effect.map(
      attemptAsync(() => services.files.load(row.id)),
      (spec) => ({ spec: called(spec, row) }),
    ),
    (unlaunchable) => Effect.succeed({ spec: { ...row.spec, restart: "temporary" as const }, unlaunchable }),
  );
