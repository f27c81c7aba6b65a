/**
 * Worktrees of workers: found in the repository of a cwd, made once, found again after a crash, and removed only if nothing
 * is lost. The path of a worktree depends only on its worker's id, so two workers never share one.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { mkdir, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { endStrays } from "../../adapters/process/strays.ts";
import { GIT_CHECKOUT_MAX_MS } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { WorkerWorkspace } from "../../protocol/records.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import { type ClientEnvironment, type GitCall, git, gitLine } from "./git.ts";

/** The repository and commit from which a worktree is made. */
export interface WorktreeOrigin {
  readonly repository: string;
  readonly git_dir: string;
  readonly base_commit: string;
  /** The path of the cwd inside the repository; empty at its top. */
  readonly below: string;
}

type WorktreeRequest = Pick<WorkerSpec, "cwd" | "client_env" | "worktree" | "name" | "kind">;

const unavailable = (message: string, suggestion?: string): HoldfastError =>
  new HoldfastError("WORKTREE_UNAVAILABLE", message, suggestion === undefined ? {} : { suggestion });

/** Reports every certain failure before anything is recorded. */
export const lookAtRepository = async (asked: WorktreeRequest): Promise<WorktreeOrigin> => {
  const { cwd, worktree } = asked;
  const call: GitCall = { cwd, client_env: asked.client_env };
  const inside = await git(["rev-parse", "--is-inside-work-tree"], call);
  if (!inside.ok)
    throw /not a git repository/.test(inside.complaint)
      ? unavailable(`${cwd} is in no git repository, and so has no worktree.`)
      : unavailable(`git cannot use the repository of ${cwd}: ${inside.complaint}`);
  if (inside.stdout.toString().trim() !== "true")
    throw unavailable(
      `${cwd} is in a bare repository or in its .git directory, which has no files to work on.`,
      "Give a --cwd in a working tree of the repository.",
    );
  const line = (...args: string[]) => gitLine(["rev-parse", ...args], call);
  const repository = (await line("--show-toplevel")) ?? cwd;
  const git_dir = await realpath(resolve(cwd, (await line("--git-common-dir")) ?? ".git"));
  const below = ((await line("--show-prefix")) ?? "").replace(/\/$/, "");
  const base_commit = await line("--verify", "--quiet", "HEAD^{commit}");
  if (base_commit === undefined)
    throw unavailable(
      `The repository ${repository} has no commit yet, and so nothing to make a worktree of.`,
      "Make a first commit, or leave --worktree out.",
    );
  if (below !== "" && (await line("--verify", "--quiet", `${base_commit}:${below}`)) === undefined)
    throw unavailable(
      `The directory ${below} is not in the last commit of ${repository}, and so in no worktree of it.`,
      "Commit it, or give another --cwd.",
    );
  const branch = worktree?.branch;
  if (branch !== undefined && !(await git(["check-ref-format", "--branch", branch], call)).ok)
    throw unavailable(`"${branch}" is no name that git takes for a branch.`, "Give another name.");
  return { repository, git_dir, base_commit, below };
};

/** Refuses an existing branch for a new worker. A worker that already has its worktree has created the branch itself. */
export const refuseBranch = async ({ cwd, client_env, worktree }: WorktreeRequest): Promise<void> => {
  const branch = worktree?.branch;
  if (branch !== undefined && (await hasBranch(branch, { cwd, client_env })))
    throw unavailable(
      `The branch ${branch} exists already, and a worktree gets one of its own.`,
      "Give another name to --worktree, or none: it then gets one by itself.",
    );
};

const hasBranch = async (branch: string, call: GitCall): Promise<boolean> =>
  (await git(["show-ref", "--verify", "--quiet", `refs/heads/${branch}`], call)).ok;

/** Characters of the id at the end of a branch's name; they are random. */
const ID_PART = 6;

/** A branch name that no other worker has: it ends with a part of the id. */
export const branchFor = (id: string, { name, kind }: Pick<WorktreeRequest, "name" | "kind">): string =>
  `holdfast/${(name ?? kind).replace(/[^A-Za-z0-9_/]+/g, "-")}-${id.slice(-ID_PART).toLowerCase()}`;

/** Returns the record of the worktree, which is written before the worktree is made. */
export const assignWorkspace = async (
  worktreesDir: string,
  id: string,
  asked: WorktreeRequest,
): Promise<WorkerWorkspace> => {
  const { below, ...repository } = await lookAtRepository(asked);
  await refuseBranch(asked);
  await mkdir(worktreesDir, { recursive: true, mode: 0o700 });
  // The real path, as git writes it: the state directory may be reached through a link.
  const path = join(await realpath(worktreesDir), id);
  const branch = asked.worktree?.branch ?? branchFor(id, asked);
  return { path, cwd: join(path, below), branch, ...repository };
};

/** The directory of a worktree inside its repository. It is read from the repository, so that an agent in the worktree cannot redirect it. */
export const adminDirOf = ({
  path,
  git_dir,
}: Pick<WorkerWorkspace, "path" | "git_dir">): string | undefined => {
  const all = join(git_dir, "worktrees");
  for (const name of namesIn(all)) {
    const dir = join(all, name);
    if (dirname(textOf(join(dir, "gitdir")) ?? "") === path) return dir;
  }
  return undefined;
};

const namesIn = (dir: string): readonly string[] => {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
};

/** The size of a file in which git keeps one path or word. */
const GIT_FILE_MAX_BYTES = 65_536;

const textOf = (file: string): string | undefined => {
  try {
    // An agent may have put another kind of file there, such as a FIFO, which would block.
    const found = lstatSync(file);
    return found.isFile() && found.size <= GIT_FILE_MAX_BYTES ? readFileSync(file, "utf8").trim() : undefined;
  } catch {
    return undefined;
  }
};

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** git marks a worktree like this until its checkout is done, so no agent has run in it yet. */
const isUnfinished = (adminDir: string): boolean => textOf(join(adminDir, "locked")) === "initializing";

/** Marks a git that checks out a worktree, and the filters that it runs. */
const CHECKOUT = "HOLDFAST_CHECKOUT";

/** The current change of each repository: two calls of git at once would conflict, and one would fail. */
const changes = new Map<string, Promise<void>>();

/** Runs changes of one repository one after the other. An aborted caller stops waiting; its git ends by its own signal. */
const alone = async <A>(
  git_dir: string,
  signal: AbortSignal | undefined,
  work: () => Promise<A>,
): Promise<A> => {
  const unwanted = new Promise<void>((go) => {
    if (signal?.aborted === true) go();
    else signal?.addEventListener("abort", () => go(), { once: true });
  });
  const before = changes.get(git_dir);
  let done = (): void => undefined;
  const mine = new Promise<void>((go) => {
    done = go;
  });
  const turn = Promise.all([before, mine]).then(() => undefined);
  changes.set(git_dir, turn);
  try {
    await Promise.race([before, unwanted]);
    return await work();
  } finally {
    done();
    if (changes.get(git_dir) === turn) changes.delete(git_dir);
  }
};

interface GitContext {
  readonly client_env: ClientEnvironment;
  /** Aborted when the worktree is no longer needed. */
  readonly signal?: AbortSignal;
}

/**
 * Makes the worktree if it does not exist. One that a crash left half made is made again; one that was removed is restored
 * at its branch. Resolves to true if it was made now.
 */
export const ensureWorkspace = async (workspace: WorkerWorkspace, making: GitContext): Promise<boolean> => {
  const { path, git_dir, branch, base_commit } = workspace;
  const env = { [CHECKOUT]: path };
  const call: GitCall = { cwd: git_dir, ...making, env, max_ms: GIT_CHECKOUT_MAX_MS };
  const adminDir = adminDirOf(workspace);
  const isEmpty = isThere(path) && lstatSync(path).isDirectory() && namesIn(path).length === 0;
  if (isThere(path) && !isEmpty) {
    if (adminDir === undefined)
      throw unavailable(
        `${path} is there, and is no worktree of ${workspace.repository}.`,
        "Move it away, then `agent restart` the worker.",
      );
    if (!isUnfinished(adminDir)) return false;
  }
  // The git of a dead daemon still runs, and at its end might remove the new worktree.
  await endStrays(CHECKOUT, path);
  if (isThere(path) && !isEmpty) {
    rmSync(path, { recursive: true, force: true });
  }
  if (!existsSync(git_dir))
    throw unavailable(`The repository ${workspace.repository} is gone, and its worktree cannot be made.`);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const made = await alone(git_dir, making.signal, async () => {
    if (adminDir !== undefined) await git(["worktree", "remove", "--force", "--force", "--", path], call);
    const where = (await hasBranch(branch, call))
      ? ["--", path, branch]
      : ["-b", branch, "--", path, base_commit];
    return git(["worktree", "add", ...where], call);
  });
  if (made.ok) return true;
  throw unavailable(
    `The worktree ${basename(path)} could not be made on branch ${branch}: ${made.complaint}`,
    "Mend what git names, then `agent restart` the worker.",
  );
};

/** Lets git identify the worktree by the repository's data, not by files in the worktree. */
export const inWorktree = (adminDir: string, path: string): readonly string[] => [
  `--git-dir=${adminDir}`,
  `--work-tree=${path}`,
];

const IN_THE_MIDDLE = [
  "rebase-merge",
  "rebase-apply",
  "MERGE_HEAD",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "BISECT_LOG",
] as const;

/** Names what would be lost by removing the worktree, as the rest of a sentence; undefined if nothing would be. */
const whyDirty = async (
  { path }: WorkerWorkspace,
  adminDir: string,
  client_env: ClientEnvironment,
): Promise<string | undefined> => {
  const call: GitCall = { cwd: path, client_env };
  const at = inWorktree(adminDir, path);
  const status = await git([...at, "status", "--porcelain", "-z", "--untracked-files=all"], call);
  if (!status.ok) return `git cannot say what has changed in it: ${status.complaint}`;
  const changed = status.stdout
    .toString()
    .split("\0")
    .filter((entry) => /^.. /.test(entry)).length;
  if (changed > 0 || status.isCut)
    return `${changed} of its files ${changed === 1 ? "is" : "are"} not committed`;
  const middle = IN_THE_MIDDLE.find((name) => existsSync(join(adminDir, name)));
  if (middle !== undefined) return `git is in the middle of something there (${middle})`;
  const alone = await gitLine(
    [...at, "rev-list", "--count", "HEAD", "--not", "--branches", "--tags", "--remotes"],
    call,
  );
  if (alone === "0") return undefined;
  return `${alone ?? "some"} of its commits ${alone === "1" ? "is" : "are"} on no branch`;
};

/** Removes the worktree and keeps its branch. Fails with INVALID_STATE if something would be lost. Resolves to false if there was no worktree. */
export const removeWorkspace = async (
  workspace: WorkerWorkspace,
  client_env: ClientEnvironment,
): Promise<boolean> => {
  const { path, git_dir } = workspace;
  const adminDir = adminDirOf(workspace);
  const kept = (why: string): HoldfastError =>
    new HoldfastError("INVALID_STATE", `The worktree ${path} is kept: ${why}.`, {
      suggestion: `Commit or discard what is there (git -C ${path} status), then ask again.`,
    });
  if (!isThere(path) && adminDir === undefined) return false;
  if (adminDir === undefined) throw kept(`it is no worktree of ${workspace.repository} any more`);
  if (isThere(path)) {
    const dirty = await whyDirty(workspace, adminDir, client_env);
    if (dirty !== undefined) throw kept(dirty);
  }
  // Not forced, so that git checks once more.
  const removed = await git(["worktree", "remove", "--", path], { cwd: git_dir, client_env });
  if (!removed.ok) throw kept(`git refuses to remove it: ${removed.complaint}`);
  return true;
};
