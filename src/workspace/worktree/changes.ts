/**
 * Finds the changes in a worktree since its base commit, including untracked files. It uses its own index and object
 * directory, so that it writes neither to the user's index nor to the repository.
 */

import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CHANGES_DIFF_MAX_BYTES, CHANGES_FILES_MAX } from "../../base/limits.ts";
import type { ChangedFile, ChangeList } from "../../protocol/change-list.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { WorkerWorkspace } from "../../protocol/records.ts";
import { type ClientEnvironment, type GitCall, git } from "./git.ts";
import { adminDirOf, inWorktree } from "./worktrees.ts";

export interface WorktreeChanges extends ChangeList {
  /** In the form that `git apply` takes; undefined if over CHANGES_DIFF_MAX_BYTES. */
  readonly diff: Buffer | undefined;
}

const CHANGES: Readonly<Record<string, ChangedFile["change"]>> = {
  A: "added",
  D: "deleted",
  R: "renamed",
  T: "type_changed",
};

/** Parses the output of `--raw --numstat -z`: both lists one after the other, in the same order of files. Pure. */
export const readChanges = (printed: string): readonly ChangedFile[] => {
  const words = printed.split("\0");
  words.pop();
  const states: { change: ChangedFile["change"] }[] = [];
  let at = 0;
  for (; words[at]?.startsWith(":") === true; ) {
    const letter = words[at]!.split(" ")[4]?.[0] ?? "M";
    states.push({ change: CHANGES[letter] ?? "modified" });
    at += letter === "R" || letter === "C" ? 3 : 2;
  }
  return states.map(({ change }) => {
    // The path itself may contain tabs.
    const [, insertions = "-", deletions = "-", path = ""] = /^(\S+)\t(\S+)\t(.*)$/s.exec(words[at++]!) ?? [];
    const isMoved = path === "";
    const from = isMoved ? words[at++] : undefined;
    return {
      path: isMoved ? words[at++]! : path,
      change,
      ...(from === undefined ? {} : { from }),
      insertions: insertions === "-" ? null : Number(insertions),
      deletions: deletions === "-" ? null : Number(deletions),
    };
  });
};

const totalsOf = (files: readonly ChangedFile[]): WorktreeChanges["totals"] => ({
  files: files.length,
  insertions: files.reduce((sum, { insertions }) => sum + (insertions ?? 0), 0),
  deletions: files.reduce((sum, { deletions }) => sum + (deletions ?? 0), 0),
  binary: files.filter(({ insertions }) => insertions === null).length,
});

/** Keeps the user's configuration of diffs, and programs that it names, from changing the output. */
const DIFF = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames"] as const;
const PATCH = ["--binary", "--full-index", "--src-prefix=a/", "--dst-prefix=b/", "--no-relative"] as const;

/** Fails with INVALID_STATE if neither the worktree nor its branch exists. */
export const changesOf = async (
  workspace: WorkerWorkspace,
  client_env: ClientEnvironment,
): Promise<WorktreeChanges> => {
  const { path, git_dir, base_commit, branch } = workspace;
  const adminDir = adminDirOf(workspace);
  if (adminDir === undefined || !existsSync(path)) {
    const args = [base_commit, `refs/heads/${branch}`, "--"];
    return diffed(args, [], { cwd: git_dir, client_env });
  }
  const scratch = await mkdtemp(join(tmpdir(), "holdfast-changes-"));
  try {
    const objects = join(scratch, "objects");
    await mkdir(objects);
    await copyIndex(join(adminDir, "index"), join(scratch, "index")).catch(() => undefined);
    const env = {
      GIT_INDEX_FILE: join(scratch, "index"),
      GIT_OBJECT_DIRECTORY: objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(git_dir, "objects"),
    };
    const call: GitCall = { cwd: path, client_env, env };
    const at = inWorktree(adminDir, path);
    const added = await git([...at, "add", "--all", "--", "."], call);
    if (!added.ok) throw unreadable(workspace, added.complaint);
    return await diffed(["--cached", base_commit, "--"], at, call);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

/**
 * The copied index makes git fast, because it knows unchanged files. The copy keeps the time of the original: git checks the
 * content of every file that was written in the same second as the index or later, since such a file may have changed with
 * the same size and time.
 */
const copyIndex = async (from: string, to: string): Promise<void> => {
  const { atime, mtime } = await stat(from);
  await copyFile(from, to);
  await utimes(to, atime, mtime);
};

const diffed = async (
  what: readonly string[],
  at: readonly string[],
  call: GitCall,
): Promise<WorktreeChanges> => {
  const listed = await git([...at, ...DIFF, "--raw", "--numstat", "-z", ...what], call);
  if (!listed.ok) throw unreadable({ path: call.cwd }, listed.isCut ? "too many files" : listed.complaint);
  const files = readChanges(listed.stdout.toString());
  const patch = await git([...at, ...DIFF, ...PATCH, ...what], {
    ...call,
    max_bytes: CHANGES_DIFF_MAX_BYTES,
  });
  if (!patch.ok && !patch.isCut) throw unreadable({ path: call.cwd }, patch.complaint);
  return {
    files: files.slice(0, CHANGES_FILES_MAX),
    totals: totalsOf(files),
    diff: patch.isCut ? undefined : patch.stdout,
  };
};

const unreadable = ({ path }: Pick<WorkerWorkspace, "path">, why: string): HoldfastError =>
  new HoldfastError("INVALID_STATE", `The changes in ${path} cannot be read: ${why}.`, {
    suggestion: `See for yourself with \`git -C ${path} status\`.`,
  });
