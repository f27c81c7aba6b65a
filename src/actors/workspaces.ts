/** The ports of an actor to git and to sandboxes. */
import type { AgentAdapter } from "../adapters/adapter.ts";
import type { ChangeList } from "../protocol/change-list.ts";
import type { WorkerWorkspace } from "../protocol/records.ts";
import type { WorkerSpec } from "../protocol/worker.ts";

type SpecEnvironment = WorkerSpec["client_env"];

/** The repository that a worktree is made from, and the cwd in it. */
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
  /** The program that runs in the sandbox. */
  readonly program: string;
  readonly plan: { readonly net: "none" | "host"; readonly writable: readonly string[] };
  /** The sandbox is a container, made by a program with this whole environment. */
  readonly container?: { readonly env: Readonly<Record<string, string>> };
  /** Directories made for the sandbox. They are removed with it if they are empty. */
  readonly made?: readonly string[];
  /** All directories of which a sandbox creates the missing ones; another run may have created them. */
  readonly litter?: readonly string[];
}

/** The port to git. */
export interface Workspaces {
  /** The commit that a worktree would be made from. Rejects with every failure that is certain. */
  look(spec: WorkerSpec): Promise<Repository>;
  /** Rejects if a new worker cannot have the branch it asks for. */
  refuseBranch(spec: WorkerSpec): Promise<void>;
  assign(workerId: string, spec: WorkerSpec): Promise<WorkerWorkspace>;
  ensure(workspace: WorkerWorkspace, client_env: SpecEnvironment, signal: AbortSignal): Promise<boolean>;
  /** False if there was nothing to remove. Rejects with INVALID_STATE if changes would be lost. */
  remove(workspace: WorkerWorkspace, client_env: SpecEnvironment): Promise<boolean>;
  changes(
    workspace: WorkerWorkspace,
    client_env: SpecEnvironment,
  ): Promise<ChangeList & { readonly diff: Buffer | undefined }>;
}

/** The port to sandboxes. Rejects with SANDBOX_UNAVAILABLE if this machine has none. */
export type Confine = (
  asked: {
    readonly spec: WorkerSpec;
    readonly adapter: AgentAdapter;
    readonly env: Readonly<Record<string, string>>;
    readonly workspace: WorkerWorkspace | undefined;
    /** The agent is about to be started, not only planned. */
    readonly isStart: boolean;
    /** Directories that the agent must read, also below the daemon's own, which it does not see. */
    readonly readable?: readonly string[];
    /** The repository of a worktree that does not exist yet. The plan is then for the worktree to be. */
    readonly repository?: Repository | undefined;
  },
  argv: readonly string[],
) => Promise<SandboxedLaunch>;
