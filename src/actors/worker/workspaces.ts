/** The place in which a worker's agents work: its own worktree, assigned once and made before each start where it is not there, or its cwd. */
import { WORKTREE_STOP_LOOK_MS } from "../../base/limits.ts";
import { type WorkerWorkspace, workerStream } from "../../protocol/records.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { EventLog } from "../../store/port.ts";
import { ON_RECORD } from "../deciding/journal.ts";
import type { Shell } from "./worker.ts";

/** The one that is on record; undefined for who has none, or has not been started yet. */
export const workspaceIn = (log: EventLog, workerId: string): WorkerWorkspace | undefined => {
  const record = log.stream(workerId, ["worker_workspace_assigned"]).at(-1);
  return record?.type === "worker_workspace_assigned" ? record.payload : undefined;
};

/** The directory in which its agents run, for code that looks for a file of theirs. */
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
    await journal.note(
      [
        {
          type: "worker_workspace_assigned",
          stream: workerStream(id),
          worker_id: id,
          incarnation,
          payload: workspace,
        },
      ],
      ON_RECORD,
    );
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
