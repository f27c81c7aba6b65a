/**
 * Places that a sandboxed agent may write, and those that it does not see. Pure: paths in, paths out. Everything else of the system it may read and
 * not write. The workspace is its worktree or its cwd, and the directories added to it; git's configuration and hooks in it stay as they are, because git runs
 * programs that they name, and would run them outside.
 */
import { isAbsolute, join } from "node:path";
import type { WorkerWorkspace } from "../../../protocol/records.ts";
import type { SandboxSpec } from "../../../protocol/worker.ts";
import type { WritableState } from "../../adapter.ts";

export interface SandboxPlan {
  readonly net: "none" | "host";
  readonly cwd: string;
  /** Paths that it needs to read, also where it lies in something that is empty for it. */
  readonly readable: readonly string[];
  /** Paths that it may write, without links. */
  readonly writable: readonly string[];
  /** Below those, what it may only read. */
  readonly protected: readonly string[];
  /** Empty for it: the daemon's directory and its socket, by which it could start what is in no sandbox. */
  readonly hidden: readonly string[];
}

export interface Confined {
  readonly sandbox: SandboxSpec;
  /** For kind `command` the network is off unless it is asked for; an agent has its provider to talk to. */
  readonly isAgent: boolean;
  readonly cwd: string;
  /** Directories that it may work in beside its cwd (`--add-dir`). */
  readonly added: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Directories of the agent's own, as its adapter declares them. */
  readonly state: readonly WritableState[];
  readonly stateDir: string;
  /** State directories of other daemons: their sockets and tokens are as good as ours. */
  readonly otherStateDirs?: readonly string[];
  readonly workspace: WorkerWorkspace | undefined;
  /** Paths of the worktree in its repository. */
  readonly adminDir: string | undefined;
}

/** Paths of the agent: where its variable says, or in its HOME. */
export const stateDirectories = ({ env, state }: Pick<Confined, "env" | "state">): readonly string[] =>
  state.flatMap(({ home, variable }) => {
    const named = variable === undefined ? undefined : env[variable];
    if (named !== undefined && isAbsolute(named)) return [named];
    return env.HOME === undefined || !isAbsolute(env.HOME) ? [] : [join(env.HOME, home)];
  });

/**
 * The `.git` of each directory that it may write, but for a worktree, whose own is known. If there is none, an empty one is made: what is
 * not there cannot be mounted read-only, and an agent would make one that runs its programs outside. git passes an empty one over.
 */
export const gitDirectories = ({ cwd, added, sandbox, workspace }: Confined): readonly string[] =>
  [...(workspace === undefined ? [cwd] : []), ...added, ...sandbox.writable].map((dir) => join(dir, ".git"));

export const planSandbox = (asked: Confined): SandboxPlan => {
  const { sandbox, isAgent, cwd, added, workspace, adminDir, stateDir } = asked;
  const more = [...stateDirectories(asked), ...added, ...sandbox.writable];
  const hidden = [...new Set([stateDir, ...(asked.otherStateDirs ?? [])])];
  const net = sandbox.net ?? (isAgent ? "host" : "none");
  if (workspace === undefined || adminDir === undefined)
    return {
      net,
      cwd,
      readable: [],
      writable: [cwd, ...more],
      protected: gitDirectories(asked),
      hidden,
    };
  const { path, git_dir } = workspace;
  return {
    net,
    cwd,
    readable: [git_dir],
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

/** Files that a commit writes, and nothing that git runs. */
const writableOf = ({ path, git_dir, adminDir }: { path: string; git_dir: string; adminDir: string }) => [
  path,
  join(git_dir, "objects"),
  join(git_dir, "refs"),
  join(git_dir, "logs"),
  adminDir,
];

export const isIn = (path: string, dir: string): boolean => path === dir || path.startsWith(`${dir}/`);

/** The kernel's, and where the services of the machine and of the user's session listen, which start what is in no sandbox. */
const OF_THE_MACHINE = ["/proc", "/sys", "/dev", "/run/dbus", "/run/systemd", "/run/user"];

/** Whether this, without links, cannot be writable in a sandbox. In the daemon's directory only worktrees can: its specs have secrets. */
export const isNoSandbox = (path: string, hidden: readonly string[]): boolean =>
  path === "/" ||
  path === "/run" ||
  OF_THE_MACHINE.some((dir) => isIn(path, dir)) ||
  hidden.some((dir) => isIn(path, dir) && !path.startsWith(`${join(dir, "worktrees")}/`));

/** Stands for the id of a worker that has none yet: its worktree, and git's directory for it, are called by it. */
const TO_BE = "WORKER-ID";

/** Paths that it may write in the worktree that it would get, for who only looks. */
export const planWithWorktree = (asked: Confined, git_dir: string): SandboxPlan => {
  const path = join(asked.stateDir, "worktrees", TO_BE);
  const writable = writableOf({ path, git_dir, adminDir: join(git_dir, "worktrees", TO_BE) });
  // Without a worktree the cwd comes first.
  const {
    writable: [, ...more],
    ...plan
  } = planSandbox(asked);
  return { ...plan, writable: [...writable, ...more] };
};
