/** Where a worker's agents work: its own worktree, assigned once and made before each start where it is not there, or its cwd. */
import type { AgentAdapter } from "../../adapters/adapter.ts";
import type { Sandboxed } from "../../adapters/sandbox/sandbox.ts";
import type { Changes } from "../../adapters/worktree/changes.ts";
import type { Repository } from "../../adapters/worktree/worktrees.ts";
import { WORKTREE_STOP_LOOK_MS } from "../../protocol/limits.ts";
import { type WorkerWorkspace, workerStream } from "../../protocol/records.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { EventLog } from "../../store/port.ts";
import type { Shell } from "./worker.ts";

type ClientEnvironment = WorkerSpec["client_env"];

/** The port to git. */
export interface Workspaces {
  /** What a worktree would be made from; rejects with all that is certain to fail. */
  look(spec: WorkerSpec): Promise<Repository>;
  /** Rejects where a new worker cannot have the branch that it asks for. */
  refuseBranch(spec: WorkerSpec): Promise<void>;
  assign(workerId: string, spec: WorkerSpec): Promise<WorkerWorkspace>;
  ensure(workspace: WorkerWorkspace, client_env: ClientEnvironment, signal: AbortSignal): Promise<boolean>;
  /** False where nothing was there. Rejects with INVALID_STATE where something would be lost. */
  remove(workspace: WorkerWorkspace, client_env: ClientEnvironment): Promise<boolean>;
  changes(workspace: WorkerWorkspace, client_env: ClientEnvironment): Promise<Changes>;
}

/** The port to what confines an agent; rejects with SANDBOX_UNAVAILABLE where this machine cannot. */
export type Confine = (
  asked: {
    readonly spec: WorkerSpec;
    readonly adapter: AgentAdapter;
    readonly env: Readonly<Record<string, string>>;
    readonly workspace: WorkerWorkspace | undefined;
    /** It is about to be started, and not only looked at. */
    readonly isStart: boolean;
    /** Before there is a worktree: what it would be made from. The plan is then of the one to be. */
    readonly repository?: Repository | undefined;
  },
  argv: readonly string[],
) => Promise<Sandboxed>;

/** The one that is on record; undefined for who has none, or has not been started yet. */
export const workspaceIn = (log: EventLog, workerId: string): WorkerWorkspace | undefined => {
  const record = log.stream(workerId, ["worker_workspace_assigned"]).at(-1);
  return record?.type === "worker_workspace_assigned" ? record.payload : undefined;
};

/** Where its agents run, for who looks for a file of theirs. */
export const cwdIn = (log: EventLog, workerId: string, { cwd, worktree }: WorkerSpec): string =>
  worktree === undefined ? cwd : (workspaceIn(log, workerId)?.cwd ?? cwd);

/** Undefined where it has asked for none. On record before anything is made, so that the next daemon knows whose it is. */
export const readyWorkspace = async (
  shell: Shell,
  incarnation: number,
): Promise<WorkerWorkspace | undefined> => {
  const { spec, services, journal, id } = shell;
  const { workspaces } = services;
  if (spec.worktree === undefined || workspaces === undefined) return undefined;
  const known = await journal.ask((log) => workspaceIn(log, id));
  const workspace = known ?? (await workspaces.assign(id, spec));
  if (known === undefined)
    await journal.note([
      {
        type: "worker_workspace_assigned",
        stream: workerStream(id),
        worker_id: id,
        incarnation,
        payload: workspace,
      },
    ]);
  await whileWanted(shell, (signal) => workspaces.ensure(workspace, spec.client_env, signal));
  return workspace;
};

/** A checkout may take minutes; who stops the worker meanwhile does not wait for it. */
const whileWanted = async <A>(
  { journal, bridge }: Shell,
  work: (signal: AbortSignal) => Promise<A>,
): Promise<A> => {
  const unwanted = new AbortController();
  const look = (): ReturnType<typeof bridge.alarms.after> =>
    bridge.alarms.after(WORKTREE_STOP_LOOK_MS, () => {
      if (journal.child().stop !== null || journal.isClosed()) unwanted.abort();
      else alarm = look();
    });
  let alarm = look();
  try {
    return await work(unwanted.signal);
  } finally {
    alarm.disarm();
  }
};
