/** The ports of an actor to git and to sandboxes. */
import type { AgentAdapter } from "../adapters/adapter.ts";
import type { Sandboxed } from "../adapters/workspace/sandbox/sandbox.ts";
import type { Changes } from "../adapters/workspace/worktree/changes.ts";
import type { Repository } from "../adapters/workspace/worktree/worktrees.ts";
import type { WorkerWorkspace } from "../protocol/records.ts";
import type { WorkerSpec } from "../protocol/worker.ts";

type ClientEnvironment = WorkerSpec["client_env"];

/** The port to git. */
export interface Workspaces {
  /** The commit that a worktree would be made from; rejects with all that is certain to fail. */
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
