/** The changes in a worktree, by a real git: everything is seen, and nothing of the user's is touched. */
import {
  chmodSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WorkerWorkspace } from "../../../src/protocol/records.ts";
import { changesOf, readChanges } from "../../../src/workspace/worktree/changes.ts";
import {
  adminDirOf,
  assignWorkspace,
  ensureWorkspace,
  removeWorkspace,
} from "../../../src/workspace/worktree/worktrees.ts";
import { makeRepository, type TestRepository } from "../../support/repository.ts";

const ID = "01KXA0000000000000000000AB";
const LONG = Array.from({ length: 40 }, (_, at) => `line ${at}\n`).join("");
let repo: TestRepository;
let workspace: WorkerWorkspace;
beforeEach(async () => {
  repo = makeRepository({
    "a.txt": "one\ntwo\n",
    "gone.txt": "x\n",
    "old name.txt": LONG,
    ".gitignore": "ignored\n",
  });
  const asked = {
    cwd: repo.path,
    client_env: repo.client_env,
    worktree: {},
    kind: "command",
    name: undefined,
  };
  workspace = await assignWorkspace(join(repo.root, "worktrees"), ID, asked);
  await ensureWorkspace(workspace, asked);
});
afterEach(() => rmSync(repo.root, { recursive: true, force: true }));

const change = (file: string, text: string | Uint8Array) => writeFileSync(join(workspace.path, file), text);
const found = () => changesOf(workspace, repo.client_env);

describe("changes", () => {
  it("are none at first", async () => {
    expect(await found()).toEqual({
      files: [],
      totals: { files: 0, insertions: 0, deletions: 0, binary: 0 },
      diff: Buffer.alloc(0),
    });
  });

  it("are seen where a file was written in the second of its checkout, and has the same size", async () => {
    const [file, index] = [join(workspace.path, "a.txt"), join(adminDirOf(workspace)!, "index")];
    repo.git("config", "core.checkStat", "minimal"); // else ctime would have to be the same, too
    const second = 1_700_000_000;
    utimesSync(file, second, second);
    repo.gitIn(workspace.path, "update-index", "--refresh");
    change("a.txt", "two\none\n");
    utimesSync(file, second, second);
    utimesSync(index, second, second);
    expect((await found()).files).toMatchObject([{ path: "a.txt", change: "modified" }]);
  });

  it("are what is committed, staged, modified and new; the diff makes the same files of the base", async () => {
    change("a.txt", "one\n2\n3\n");
    repo.gitIn(workspace.path, "commit", "--quiet", "--all", "--message=work");
    rmSync(join(workspace.path, "gone.txt"));
    repo.gitIn(workspace.path, "mv", "old name.txt", "new näme.txt");
    change("fresh\ttab.txt", "hello\n");
    change(
      "image.bin",
      Uint8Array.from({ length: 64 }, (_, at) => at % 4),
    );
    change("ignored", "never");
    const { files, totals, diff } = await found();
    expect(files).toEqual([
      { path: "a.txt", change: "modified", insertions: 2, deletions: 1 },
      { path: "fresh\ttab.txt", change: "added", insertions: 1, deletions: 0 },
      { path: "gone.txt", change: "deleted", insertions: 0, deletions: 1 },
      { path: "image.bin", change: "added", insertions: null, deletions: null },
      { path: "new näme.txt", change: "renamed", from: "old name.txt", insertions: 0, deletions: 0 },
    ]);
    expect(totals).toEqual({ files: 5, insertions: 3, deletions: 2, binary: 1 });
    writeFileSync(join(repo.root, "diff"), diff!);
    repo.git("apply", "--index", join(repo.root, "diff"));
    expect(readFileSync(join(repo.path, "image.bin"))).toEqual(
      readFileSync(join(workspace.path, "image.bin")),
    );
    expect(readdirSync(repo.path).sort()).toEqual(
      readdirSync(workspace.path)
        .filter((name) => name !== "ignored")
        .sort(),
    );
  });

  it("leave the index of the worktree and the objects of the repository as they were", async () => {
    change("new.txt", "never added\n");
    const index = () => readFileSync(join(adminDirOf(workspace)!, "index"));
    const objects = () => readdirSync(join(repo.path, ".git/objects"), { recursive: true }).sort();
    const before = { index: index(), objects: objects() };
    expect((await found()).totals.files).toBe(1);
    expect({ index: index(), objects: objects() }).toEqual(before);
    expect(repo.gitIn(workspace.path, "status", "--porcelain")).toBe("?? new.txt\n");
  });

  it("are told by git itself, whatever programs and prefixes are configured, and wherever .git leads", async () => {
    const program = join(repo.root, "program");
    writeFileSync(program, `#!/bin/sh\necho nonsense\ntouch ${join(repo.root, "touched")}\n`);
    chmodSync(program, 0o755);
    repo.git("config", "diff.external", program);
    repo.git("config", "diff.noprefix", "true");
    change("a.txt", "x\n");
    rmSync(join(workspace.path, ".git"));
    symlinkSync(repo.root, join(workspace.path, ".git"));
    const { diff } = await found();
    expect(diff!.toString()).toContain("diff --git a/a.txt b/a.txt");
    expect(readdirSync(repo.root)).not.toContain("touched");
  });

  it("are those of the branch once the worktree is removed", async () => {
    change("a.txt", "x\n");
    repo.gitIn(workspace.path, "commit", "--quiet", "--all", "--message=work");
    await removeWorkspace(workspace, repo.client_env);
    expect((await found()).files).toEqual([
      { path: "a.txt", change: "modified", insertions: 1, deletions: 2 },
    ]);
    repo.git("branch", "-D", workspace.branch);
    await expect(found()).rejects.toMatchObject({ code: "INVALID_STATE" });
  });
});

it("output of git is read, with renamed and binary files", () => {
  const raw = ":100644 100644 aaa bbb R096\0old\0new\0:000000 100644 000 ccc A\0bin\0";
  expect(readChanges(`${raw}1\t2\t\0old\0new\0-\t-\tbin\0`)).toEqual([
    { path: "new", change: "renamed", from: "old", insertions: 1, deletions: 2 },
    { path: "bin", change: "added", insertions: null, deletions: null },
  ]);
  expect(readChanges("")).toEqual([]);
});
