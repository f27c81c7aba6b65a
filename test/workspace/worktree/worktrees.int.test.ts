/** Worktrees with a real git: what is refused before anything is made, what a crash leaves, and what is never removed. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { WorkerWorkspace } from "../../../src/protocol/records.ts";
import {
  adminDirOf,
  assignWorkspace,
  branchFor,
  ensureWorkspace,
  lookAtRepository,
  removeWorkspace,
} from "../../../src/workspace/worktree/worktrees.ts";
import { makeRepository, type TestRepository } from "../../support/repository.ts";

const ID = "01KXA0000000000000000000AB";
let repo: TestRepository;
let worktrees: string;
beforeEach(() => {
  repo = makeRepository({ "a.txt": "one\n", "sub/b.txt": "two\n", ".gitignore": "ignored\n" });
  worktrees = join(repo.root, "worktrees");
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(repo.root, { recursive: true, force: true });
});

const asked = (more: { readonly cwd?: string; readonly branch?: string; readonly name?: string } = {}) => ({
  cwd: more.cwd ?? repo.path,
  client_env: repo.client_env,
  worktree: more.branch === undefined ? {} : { branch: more.branch },
  kind: "command",
  name: more.name,
});
const made = async (id = ID, how: Parameters<typeof asked>[0] = {}): Promise<WorkerWorkspace> => {
  const workspace = await assignWorkspace(worktrees, id, asked(how));
  expect(await ensureWorkspace(workspace, { client_env: repo.client_env })).toBe(true);
  return workspace;
};
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable("it was not refused"),
    ({ code, message }) => ({ code, message }),
  );

describe("a worktree", () => {
  it("is of the last commit, on a branch of its own, in the same directory below", async () => {
    const workspace = await made(ID, { cwd: join(repo.path, "sub"), name: "crew/fixer" });
    expect(workspace).toEqual({
      path: join(worktrees, ID),
      cwd: join(worktrees, ID, "sub"),
      branch: "holdfast/crew/fixer-0000ab",
      base_commit: repo.git("rev-parse", "HEAD").trim(),
      repository: repo.path,
      git_dir: join(repo.path, ".git"),
    });
    expect(readFileSync(join(workspace.cwd, "b.txt"), "utf8")).toBe("two\n");
    expect(repo.gitIn(workspace.path, "branch", "--show-current").trim()).toBe(workspace.branch);
    expect(repo.git("status", "--porcelain")).toBe("");
  });

  it("is the same for each incarnation, whatever was changed in it", async () => {
    const workspace = await made();
    writeFileSync(join(workspace.path, "a.txt"), "changed\n");
    expect(await ensureWorkspace(workspace, { client_env: repo.client_env })).toBe(false);
    expect(readFileSync(join(workspace.path, "a.txt"), "utf8")).toBe("changed\n");
  });

  it("takes no GIT_ variable of this process, runs no hook and no monitor of the repository", async () => {
    const touched = join(repo.root, "touched");
    const program = join(repo.root, "program");
    writeFileSync(program, `#!/bin/sh\ntouch ${touched}\n`);
    chmodSync(program, 0o755);
    mkdirSync(join(repo.path, ".git/hooks"), { recursive: true });
    symlinkSync(program, join(repo.path, ".git/hooks/post-checkout"));
    repo.git("config", "core.fsmonitor", program);
    vi.stubEnv("GIT_DIR", join(repo.root, "nowhere"));
    vi.stubEnv("GIT_WORK_TREE", repo.root);
    vi.stubEnv("GIT_INDEX_FILE", join(repo.root, "nowhere"));
    const workspace = await made();
    expect(repo.gitIn(workspace.path, "ls-files").split("\n")).toContain("a.txt");
    await removeWorkspace(workspace, repo.client_env);
    // `made` and the test's own git ran no hook; the test's own `ls-files` may have asked the monitor.
    rmSync(touched, { force: true });
    await ensureWorkspace(workspace, { client_env: repo.client_env });
    expect(existsSync(touched)).toBe(false);
  });

  it("of two workers of one name are two, also in one repository at once", async () => {
    const ids = Array.from({ length: 6 }, (_, at) => `01KXA00000000000000000000${at}`);
    const all = await Promise.all(ids.map((id) => made(id, { name: "same" })));
    expect(new Set(all.map(({ path }) => path)).size).toBe(6);
    expect(new Set(all.map(({ branch }) => branch)).size).toBe(6);
  });

  it("comes from a linked worktree as from the first one", async () => {
    repo.git("worktree", "add", "--quiet", "-b", "side", join(repo.root, "side"));
    const workspace = await made(ID, { cwd: join(repo.root, "side") });
    expect(workspace).toMatchObject({
      repository: join(repo.root, "side"),
      git_dir: join(repo.path, ".git"),
    });
  });
});

it("the name of a branch has only what git takes", () => {
  const id = "01KXA0000000000000000000AB";
  expect(branchFor(id, { kind: "claude_code", name: undefined })).toBe("holdfast/claude_code-0000ab");
  expect(branchFor(id, { kind: "command", name: "a..b.lock" })).toBe("holdfast/a-b-lock-0000ab");
});

describe("is refused with one sentence, and nothing is made", () => {
  const nothing = () => {
    expect(existsSync(worktrees)).toBe(false);
    expect(repo.git("branch", "--list", "holdfast/*")).toBe("");
  };

  it("outside of a repository", async () => {
    mkdirSync(join(repo.root, "plain"));
    expect(await refusal(lookAtRepository(asked({ cwd: join(repo.root, "plain") })))).toEqual({
      code: "WORKTREE_UNAVAILABLE",
      message: `${join(repo.root, "plain")} is in no git repository, and so has no worktree.`,
    });
    nothing();
  });

  it("in a bare one, or inside .git", async () => {
    repo.git("init", "--quiet", "--bare", join(repo.root, "bare"));
    for (const cwd of [join(repo.root, "bare"), join(repo.path, ".git")])
      expect(await refusal(lookAtRepository(asked({ cwd })))).toMatchObject({
        message: expect.stringContaining("bare repository or in its .git directory"),
      });
    nothing();
  });

  it("without a commit", async () => {
    repo.git("init", "--quiet", join(repo.root, "new"));
    expect(await refusal(lookAtRepository(asked({ cwd: join(repo.root, "new") })))).toMatchObject({
      code: "WORKTREE_UNAVAILABLE",
      message: expect.stringContaining("has no commit yet"),
    });
    nothing();
  });

  it("from a directory that is not committed", async () => {
    mkdirSync(join(repo.path, "fresh"));
    expect(await refusal(lookAtRepository(asked({ cwd: join(repo.path, "fresh") })))).toMatchObject({
      message: expect.stringContaining("fresh is not in the last commit"),
    });
    nothing();
  });

  it.each(["main", "a..b", "HEAD/.lock"])("on the branch %s", async (branch) => {
    expect(await refusal(assignWorkspace(worktrees, ID, asked({ branch })))).toMatchObject({
      code: "WORKTREE_UNAVAILABLE",
      message: expect.stringContaining(branch),
    });
    nothing();
  });

  it("if git is not on the worker's PATH", async () => {
    const without = { ...asked(), client_env: { PATH: repo.root, HOME: repo.root } };
    expect(await refusal(lookAtRepository(without))).toEqual({
      code: "WORKTREE_UNAVAILABLE",
      message: "There is no git on the worker's PATH.",
    });
  });
});

describe("after a crash", () => {
  it("a worktree that git had only begun is made anew", async () => {
    const workspace = await made();
    const admin = adminDirOf(workspace)!;
    writeFileSync(join(admin, "locked"), "initializing");
    rmSync(join(workspace.path, "a.txt"));
    expect(await ensureWorkspace(workspace, { client_env: repo.client_env })).toBe(true);
    expect(existsSync(join(workspace.path, "a.txt"))).toBe(true);
    expect(repo.git("worktree", "list").trim().split("\n")).toHaveLength(2);
  });

  it("a branch without its worktree, or an empty directory, is gone on with", async () => {
    const workspace = await assignWorkspace(worktrees, ID, asked());
    repo.git("branch", workspace.branch);
    mkdirSync(workspace.path, { recursive: true });
    expect(await ensureWorkspace(workspace, { client_env: repo.client_env })).toBe(true);
    expect(existsSync(join(workspace.path, "a.txt"))).toBe(true);
  });

  it("one that somebody deleted comes back with what was committed", async () => {
    const workspace = await made();
    writeFileSync(join(workspace.path, "a.txt"), "kept\n");
    repo.gitIn(workspace.path, "commit", "--quiet", "--all", "--message=work");
    rmSync(workspace.path, { recursive: true });
    expect(await ensureWorkspace(workspace, { client_env: repo.client_env })).toBe(true);
    expect(readFileSync(join(workspace.path, "a.txt"), "utf8")).toBe("kept\n");
  });

  it("a directory in its place that is no worktree is left alone", async () => {
    const workspace = await assignWorkspace(worktrees, ID, asked());
    mkdirSync(workspace.path, { recursive: true });
    writeFileSync(join(workspace.path, "mine"), "");
    expect(await refusal(ensureWorkspace(workspace, { client_env: repo.client_env }))).toMatchObject({
      code: "WORKTREE_UNAVAILABLE",
      message: expect.stringContaining("is no worktree of"),
    });
    expect(existsSync(join(workspace.path, "mine"))).toBe(true);
  });
});

describe("removal", () => {
  it("of a clean one takes its directory and leaves its branch; a second one does nothing", async () => {
    const workspace = await made();
    writeFileSync(join(workspace.path, "ignored"), "");
    writeFileSync(join(workspace.path, "a.txt"), "kept\n");
    repo.gitIn(workspace.path, "commit", "--quiet", "--all", "--message=work");
    expect(await removeWorkspace(workspace, repo.client_env)).toBe(true);
    expect(existsSync(workspace.path)).toBe(false);
    expect(repo.git("show", `${workspace.branch}:a.txt`)).toBe("kept\n");
    expect(await removeWorkspace(workspace, repo.client_env)).toBe(false);
  });

  const KEPT: readonly (readonly [string, (workspace: WorkerWorkspace) => void, RegExp])[] = [
    [
      "a modified file",
      ({ path }) => writeFileSync(join(path, "a.txt"), "x"),
      /1 of its files is not committed/,
    ],
    [
      "an untracked file",
      ({ path }) => writeFileSync(join(path, "new"), "x"),
      /1 of its files is not committed/,
    ],
    [
      "a staged file",
      ({ path }) => {
        writeFileSync(join(path, "a.txt"), "x");
        repo.gitIn(path, "add", "--all");
      },
      /1 of its files is not committed/,
    ],
    [
      "a commit on no branch",
      ({ path }) => {
        repo.gitIn(path, "checkout", "--quiet", "--detach");
        repo.gitIn(path, "commit", "--quiet", "--allow-empty", "--message=lost");
      },
      /1 of its commits is on no branch/,
    ],
    [
      "a merge that goes on",
      ({ path }) => {
        const head = repo.gitIn(path, "rev-parse", "HEAD");
        writeFileSync(repo.gitIn(path, "rev-parse", "--git-path", "MERGE_HEAD").trim(), head);
      },
      /in the middle of something/,
    ],
    [
      "a .git file that leads elsewhere",
      ({ path }) => writeFileSync(join(path, ".git"), `gitdir: ${repo.path}/.git\n`),
      /not committed|refuses/,
    ],
  ];
  it.each(KEPT)("of one with %s is refused, with its path", async (_, change, why) => {
    const workspace = await made();
    change(workspace);
    const { code, message } = await refusal(removeWorkspace(workspace, repo.client_env));
    expect({ code, message }).toEqual({ code: "INVALID_STATE", message: expect.stringMatching(why) });
    expect(message).toContain(workspace.path);
    expect(existsSync(workspace.path)).toBe(true);
  });
});
