/** agent prune, archive and rename as a user types them: real run directories, real worktrees, and a question that wants an answer. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeRepository } from "../support/repository.ts";
import { type Commands, makeCommands } from "./support/commands.ts";

const REPO = makeRepository({ "a.txt": "one\n" });
let commands: Commands;
const inTree = (name: string, argv: readonly string[]) =>
  commands.agent("spawn", "--cwd", REPO.path, "--worktree", "--name", name, "--wait", "--", ...argv);
beforeAll(async () => {
  commands = makeCommands();
  await inTree("clean", ["true"]);
  await inTree("dirty", ["touch", "b"]);
});
afterAll(async () => {
  await commands.close();
  rmSync(REPO.root, { recursive: true, force: true });
});

it("nothing goes without a word: a plan, a refusal, then the deed, and work that would be lost stays", async () => {
  const worktree = (await commands.agent("info", "clean")).data.workspace as { readonly path: string };
  const planned = await commands.text("prune", "--dry-run");
  expect(planned.stdout).toMatch(
    /clean .*completed.*\n.*dirty .*completed.*\nWould remove what was left of 2 workers/,
  );

  const refused = await commands.text("prune");
  expect(refused.exit).toBe(3);
  expect(refused.stderr).toContain("Nothing was done.");
  expect(refused.stderr).toContain("--force");
  expect(existsSync(worktree.path)).toBe(true);

  const done = await commands.agent("prune", "--force");
  expect(done.data).toMatchObject({
    effect: "deleted",
    workers: [{ name: "clean", worktree: worktree.path }],
    kept: [{ name: "dirty", code: "INVALID_STATE" }],
  });
  expect(existsSync(worktree.path)).toBe(false);
  const { id } = (await commands.agent("info", "clean")).data as { readonly id: string };
  expect(existsSync(join(commands.home, "runs", id))).toBe(false);
  expect((await commands.text("list", "--all", "-o", "text")).stdout).not.toContain("clean");
  expect((await commands.text("list", "--archived")).stdout).toContain("clean");
  expect((await commands.agent("changes", "dirty")).data.totals).toMatchObject({ files: 1 });
});

it("an ended worker is renamed and archived by its label, and mistakes are told", async () => {
  await commands.agent("spawn", "--name", "one", "--label", "run=1", "--wait", "--", "true");
  expect((await commands.text("rename", "one", "two")).stdout).toBe("one is called two now.\n");
  expect((await commands.text("archive", "--label", "run=1")).stdout).toContain("two  done");
  expect((await commands.text("list", "--all")).stdout).not.toContain("two");
  await commands.agent("archive", "--label", "run=1", "--undo");
  expect((await commands.text("list", "--all")).stdout).toContain("two");
  for (const argv of [["rename", "two", "no good"], ["archive"], ["prune", "--state", "running"]])
    expect(await commands.text(...argv)).toMatchObject({ exit: 3 });
});
