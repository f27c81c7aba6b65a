/** An agent in a sandbox cannot make a repository of its workspace, by which git would run its programs outside. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { litterAt } from "../../../src/adapters/process/litter.ts";
import { bubblewrapArguments } from "../../../src/workspace/sandbox/bubblewrap.ts";
import { planSandbox } from "../../../src/workspace/sandbox/plan.ts";
import { makeStateDirectories } from "../../../src/workspace/sandbox/sandbox.ts";

const made = () => {
  const root = mkdtempSync(join(tmpdir(), "holdfast-git-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const cwd = join(root, "repo", "sub");
  mkdirSync(cwd, { recursive: true });
  const confined = {
    sandbox: { writable: [] },
    isAgent: false,
    cwd,
    added: [],
    env: {},
    state: [],
    stateDir: join(root, "state"),
    workspace: undefined,
    adminDir: undefined,
  };
  return { root, cwd, confined };
};

test("an empty .git is made and mounted read-only if there is none, and it goes with the run", () => {
  const { cwd, confined } = made();
  const git = join(cwd, ".git");
  expect(makeStateDirectories(confined)).toEqual([git]);
  expect(statSync(git).isDirectory()).toBe(true);
  expect(bubblewrapArguments(planSandbox(confined), ["true"]).join(" ")).toContain(
    `--ro-bind-try ${git} ${git}`,
  );
  expect(litterAt([git], [], [git])).toEqual({ paths: [git], owned: [] });
  // A second run in the same place has not made it, and leaves it to the last.
  expect(makeStateDirectories(confined)).toEqual([]);
  expect(litterAt([git], [{ litter: { paths: [git], owned: [] } }], [])).toEqual({ paths: [git], owned: [] });
});

test("one that is there stays somebody's", () => {
  const { cwd, confined } = made();
  const git = join(cwd, ".git");
  mkdirSync(git);
  expect(makeStateDirectories(confined)).toEqual([]);
  expect(litterAt([git], [], [])).toEqual({ paths: [git], owned: [git] });
});

test("git passes an empty one over: in a sub-directory it is still in the repository above", () => {
  const { root, cwd, confined } = made();
  const repo = join(root, "repo");
  execFileSync("git", ["init", "-q", repo]);
  writeFileSync(join(cwd, "file"), "text");
  makeStateDirectories(confined);
  const said = execFileSync(
    "git",
    ["-C", cwd, "-c", "color.ui=never", "-c", "status.relativePaths=true", "status", "--porcelain", "-uall"],
    { encoding: "utf8" },
  );
  expect(said).toContain("file\n");
  expect(existsSync(join(cwd, ".git"))).toBe(true);
});
