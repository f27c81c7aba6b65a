/**
 * Plans the paths of a sandbox: which the agent may write and which it cannot see. Pure: paths in, paths out. It may read
 * the rest of the system but not write it. The workspace is its worktree or its cwd, with the directories added to it. git's
 * configuration and hooks in the workspace stay read-only: git would run programs that they name outside the sandbox.
 */
import { isAbsolute, join } from "node:path";
import type { WritableState } from "../../adapters/adapter.ts";
import type { WorkerWorkspace } from "../../protocol/records.ts";
import type { SandboxSpec } from "../../protocol/worker.ts";

export interface SandboxPlan {
  readonly net: "none" | "host";
  readonly cwd: string;
  /** Paths that the agent must read, even below directories that are hidden. */
  readonly readable: readonly string[];
  /** Paths that the agent may write, with links resolved. */
  readonly writable: readonly string[];
  /** Read-only paths below the writable ones. */
  readonly protected: readonly string[];
  /** Paths that appear empty: the daemon's directory and socket, through which the agent could start unsandboxed processes. */
  readonly hidden: readonly string[];
}

export interface Confinement {
  readonly sandbox: SandboxSpec;
  /** For kind `command` the network is off by default; an agent needs its provider. */
  readonly isAgent: boolean;
  readonly cwd: string;
  /** Further directories in which the agent may work (`--add-dir`). */
  readonly added: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The agent's own directories, as its adapter declares them. */
  readonly state: readonly WritableState[];
  readonly stateDir: string;
  /** State directories of other daemons, whose sockets and tokens are equally dangerous. */
  readonly otherStateDirs?: readonly string[];
  readonly workspace: WorkerWorkspace | undefined;
  /** Further directories that it must read, also below hidden ones. */
  readonly readable?: readonly string[] | undefined;
  /** The repository's directory for the worktree. */
  readonly adminDir: string | undefined;
}

/** The agent's own paths: where its variable says, or in its HOME. */
export const stateDirectories = ({ env, state }: Pick<Confinement, "env" | "state">): readonly string[] =>
  state.flatMap(({ home, variable }) => {
    const named = variable === undefined ? undefined : env[variable];
    if (named !== undefined && isAbsolute(named)) return [named];
    return env.HOME === undefined || !isAbsolute(env.HOME) ? [] : [join(env.HOME, home)];
  });

/**
 * The `.git` of each writable directory, except a worktree, whose own is known. A missing one is created empty, because a
 * missing path cannot be mounted read-only, and an agent could create a `.git` whose programs run outside. git ignores an
 * empty one.
 */
export const gitDirectories = ({ cwd, added, sandbox, workspace }: Confinement): readonly string[] =>
  [...(workspace === undefined ? [cwd] : []), ...added, ...sandbox.writable].map((dir) => join(dir, ".git"));

export const planSandbox = (asked: Confinement): SandboxPlan => {
  const { sandbox, isAgent, cwd, added, workspace, adminDir, stateDir } = asked;
  const more = [...stateDirectories(asked), ...added, ...sandbox.writable];
  const hidden = [...new Set([stateDir, ...(asked.otherStateDirs ?? [])])];
  const net = sandbox.net ?? (isAgent ? "host" : "none");
  if (workspace === undefined || adminDir === undefined)
    return {
      net,
      cwd,
      readable: asked.readable ?? [],
      writable: [cwd, ...more],
      protected: gitDirectories(asked),
      hidden,
    };
  const { path, git_dir } = workspace;
  return {
    net,
    cwd,
    readable: [git_dir, ...(asked.readable ?? [])],
    writable: [...writableOf({ path, git_dir, adminDir }), ...more],
    protected: [
      join(path, ".git"),
      join(adminDir, "commondir"),
      join(adminDir, "gitdir"),
      join(adminDir, "config.worktree"),
      ...gitDirectories(asked),
    ],
    hidden,
  };
};

/** The files that a commit writes; none that git executes. */
const writableOf = ({ path, git_dir, adminDir }: { path: string; git_dir: string; adminDir: string }) => [
  path,
  join(git_dir, "objects"),
  join(git_dir, "refs"),
  join(git_dir, "logs"),
  adminDir,
];

export const isIn = (path: string, dir: string): boolean => path === dir || path.startsWith(`${dir}/`);

/** Kernel paths, and the sockets of machine and session services, which could start unsandboxed processes. */
const OF_THE_MACHINE = ["/proc", "/sys", "/dev", "/run/dbus", "/run/systemd", "/run/user"];

/**
 * Whether a path (with links resolved) must not be writable in a sandbox. In the daemon's directory only worktrees may be,
 * because its specs hold secrets.
 */
export const isNoSandbox = (path: string, hidden: readonly string[]): boolean =>
  path === "/" ||
  path === "/run" ||
  OF_THE_MACHINE.some((dir) => isIn(path, dir)) ||
  hidden.some((dir) => isIn(path, dir) && !path.startsWith(`${join(dir, "worktrees")}/`));

/** A placeholder for the id of a worker that does not exist yet, in the names of its worktree and of git's directory for it. */
const TO_BE = "WORKER-ID";

/** The paths that the agent could write in its future worktree, for a dry run. */
export const planWithWorktree = (asked: Confinement, git_dir: string): SandboxPlan => {
  const path = join(asked.stateDir, "worktrees", TO_BE);
  const writable = writableOf({ path, git_dir, adminDir: join(git_dir, "worktrees", TO_BE) });
  // Without a worktree, the cwd is the first.
  const {
    writable: [, ...more],
    ...plan
  } = planSandbox(asked);
  return { ...plan, writable: [...writable, ...more] };
};
