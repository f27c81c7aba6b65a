/** The place in which the agents of a worker work. */

/** The git worktree of a worker. All paths are absolute. */
export interface WorkerWorkspace {
  /** Its top directory. */
  readonly path: string;
  /** In it, where agents run. */
  readonly cwd: string;
  readonly branch: string;
  /** The commit that HEAD of the repository was when it was assigned. */
  readonly base_commit: string;
  /** The working tree that it was made from. */
  readonly repository: string;
  /** The directory that all worktrees of the repository share. */
  readonly git_dir: string;
}
