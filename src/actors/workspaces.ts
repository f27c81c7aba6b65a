/** The ports of an actor to git and to sandboxes. */
import type { AgentAdapter } from "../adapters/adapter.ts";
import type { ChangeList } from "../protocol/change-list.ts";
import type { WorkerWorkspace } from "../protocol/records.ts";
import type { WorkerSpec } from "../protocol/worker.ts";

type SpecEnvironment = WorkerSpec["client_env"];

/** The repository that a worktree is made from, and the place in it. */
export interface Repository {
  readonly repository: string;
  readonly git_dir: string;
  readonly base_commit: string;
  /** The cwd inside it; empty at its top. */
  readonly below: string;
}

/** An agent's arguments inside its sandbox. */
export interface SandboxedLaunch {
  readonly argv: readonly string[];
  /** The file that runs in it. */
  readonly program: string;
  readonly plan: { readonly net: "none" | "host"; readonly writable: readonly string[] };
  /** Directories that were made for it, and go with it as long as they are empty. */
  readonly made?: readonly string[];
  /** Directories that such as were made lie among: another run may have made them. */
  readonly litter?: readonly string[];
}

/** The port to git. */
export interface Workspaces {
  /** The commit that a worktree would be made from; rejects with all that is certain to fail. */
  look(spec: WorkerSpec): Promise<Repository>;
  /** Rejects where a new worker cannot have the branch that it asks for. */
  refuseBranch(spec: WorkerSpec): Promise<void>;
  assign(workerId: string, spec: WorkerSpec): Promise<WorkerWorkspace>;
  ensure(workspace: WorkerWorkspace, client_env: SpecEnvironment, signal: AbortSignal): Promise<boolean>;
  /** False where nothing was there. Rejects with INVALID_STATE where something would be lost. */
  remove(workspace: WorkerWorkspace, client_env: SpecEnvironment): Promise<boolean>;
  changes(
    workspace: WorkerWorkspace,
    client_env: SpecEnvironment,
  ): Promise<ChangeList & { readonly diff: Buffer | undefined }>;
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
) => Promise<SandboxedLaunch>;
