/**
 * The directory in which a worker's agents work: its own worktree, assigned once and created before a start if it is
 * missing, or its cwd.
 */
import { Effect } from "effect";
import { WORKTREE_STOP_LOOK_MS } from "../../base/limits.ts";
import { asHoldfastError, type HoldfastError } from "../../protocol/errors.ts";
import { type WorkerWorkspace, workerStream } from "../../protocol/records.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { EventLog } from "../../store/event-log.ts";
import { ON_RECORD } from "../deciding/journal.ts";
import { attemptAsync } from "../machine/attempt.ts";
import type { LiveWorker } from "./worker.ts";

/** The workspace on record; undefined if the worker has none or has not been started yet. */
export const workspaceIn = (log: EventLog, workerId: string): WorkerWorkspace | undefined => {
  const record = log.stream(workerId, ["worker_workspace_assigned"]).at(-1);
  return record?.type === "worker_workspace_assigned" ? record.payload : undefined;
};

/** The directory in which the worker's agents run, for code that looks for their files. */
export const cwdIn = (log: EventLog, workerId: string, { cwd, worktree }: WorkerSpec): string =>
  worktree === undefined ? cwd : (workspaceIn(log, workerId)?.cwd ?? cwd);

/**
 * Assigns and creates the worktree; undefined if the spec asks for none. The assignment is on record before anything is
 * created, so that the next daemon knows its owner.
 */
export const readyWorkspace = (
  worker: LiveWorker,
  incarnation: number,
): Effect.Effect<WorkerWorkspace | undefined, HoldfastError> =>
  Effect.gen(function* () {
    const { spec, services, journal, id } = worker;
    const { workspaces } = services;
    if (spec.worktree === undefined || workspaces === undefined) return undefined;
    const known = yield* journal.ask(({ log }) => workspaceIn(log, id));
    const workspace = known ?? (yield* attemptAsync(() => workspaces.assign(id, spec)));
    const of = { stream: workerStream(id), worker_id: id, incarnation };
    if (known === undefined)
      yield* journal.note([{ type: "worker_workspace_assigned", ...of, payload: workspace }], ON_RECORD);
    const ensured = (signal: AbortSignal) => workspaces.ensure(workspace, spec.client_env, signal);
    yield* whileWanted(worker, ensured);
    return workspace;
  });

/** Aborts the work if the worker is stopped: a checkout may take minutes. */
const whileWanted = <A>(
  { journal }: LiveWorker,
  work: (signal: AbortSignal) => Promise<A>,
): Effect.Effect<A, HoldfastError> => {
  const unwanted = new AbortController();
  const look = Effect.forever(
    Effect.andThen(
      Effect.sleep(WORKTREE_STOP_LOOK_MS),
      Effect.sync(() => {
        if (journal.child().stop !== null) unwanted.abort();
      }),
    ),
  );
  const checkout = Effect.tryPromise({
    try: (letGo) => work(AbortSignal.any([letGo, unwanted.signal])),
    catch: asHoldfastError,
  });
  return Effect.raceFirst(checkout, look);
};
