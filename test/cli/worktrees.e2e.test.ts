/** Workers in worktrees of their own, as people use them: over restarts of the worker and of the daemon, up to the diff and the removal. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readStat } from "../../src/adapters/process/identity.ts";
import { makeRepository, type TestRepository } from "../support/repository.ts";
import { type Commands, makeCommands, until } from "./support/commands.ts";

let commands: Commands;
let repo: TestRepository;
beforeAll(() => {
  commands = makeCommands();
  repo = makeRepository({ "a.txt": "one\n", "sub/b.txt": "two\n" });
});
afterAll(async () => {
  await commands.close();
  rmSync(repo.root, { recursive: true, force: true });
});

interface Workspace {
  readonly path: string;
  readonly cwd: string;
  readonly branch: string;
}
const workspaceOf = async (name: string): Promise<Workspace> =>
  (await commands.agent("info", name)).data.workspace as Workspace;
const spawn = (...argv: readonly string[]) =>
  commands.agent("spawn", "--cwd", join(repo.path, "sub"), ...argv);

describe("a worker with --worktree", () => {
  it("works in its own tree on a branch of its own, and leaves the repository alone", async () => {
    const { exit } = await spawn(
      "--worktree",
      "--name",
      "one",
      "--wait",
      "--",
      "sh",
      "-c",
      "echo x >>b.txt; echo new >new.txt; pwd",
    );
    expect(exit).toBe(0);
    const { path, cwd, branch } = await workspaceOf("one");
    expect(path.startsWith(join(commands.home, "worktrees"))).toBe(true);
    expect((await commands.agent("output", "one")).data.text).toBe(`${cwd}\n`);
    expect(branch).toMatch(/^holdfast\/one-[0-9a-z]{6}$/);
    expect(repo.git("status", "--porcelain")).toBe("");
    expect(readFileSync(join(cwd, "b.txt"), "utf8")).toBe("two\nx\n");
  });

  it("may work in a directory that is added, which is the one beside its --cwd and not beside its tree", async () => {
    const said = join(commands.home, "said");
    const program = join(commands.home, "claude");
    writeFileSync(program, `#!/bin/sh\necho "$*" >${said}\n`, { mode: 0o755 });
    await commands.start(
      [
        ...["spawn", "claude", "hi", "--cwd", join(repo.path, "sub"), "--add-dir", "../sub"],
        ...["--worktree", "--restart", "temporary", "--wait"],
      ],
      { CLAUDE_BINARY: program },
    ).ended;
    expect(readFileSync(said, "utf8")).toContain(`--add-dir ${join(repo.path, "sub")}`);
  });

  it("has the same one in each incarnation, and when its daemon was killed in between", async () => {
    const before = await workspaceOf("one");
    const pid = await commands.daemonPid();
    process.kill(pid, "SIGKILL");
    await commands.agent("daemon", "start");
    await commands.agent("restart", "one");
    await commands.agent("wait", "one");
    expect(await workspaceOf("one")).toEqual(before);
    expect(readFileSync(join(before.cwd, "b.txt"), "utf8")).toBe("two\nx\nx\n");
    const { data } = await commands.agent("info", "one");
    expect(data.incarnation).toBe(2);
  });

  it("tells what it changed: as a table, as names, as a diff that git applies, and as an artifact", async () => {
    const { data } = await commands.agent("changes", "one");
    expect(data).toMatchObject({
      files: [
        { path: "sub/b.txt", change: "modified", insertions: 2, deletions: 0 },
        { path: "sub/new.txt", change: "added", insertions: 1, deletions: 0 },
      ],
      totals: { files: 2, insertions: 3, deletions: 0, binary: 0 },
      omitted: 0,
      diff: { masked: false },
    });
    const diff = (await commands.text("changes", "one")).stdout;
    expect((await commands.text("cas", "get", (data.diff as { digest: string }).digest)).stdout).toBe(diff);
    expect((await commands.text("changes", "one", "--name-only")).stdout).toBe("sub/b.txt\nsub/new.txt\n");
    expect((await commands.text("changes", "one", "--stat")).stdout).toContain(
      "2 files, 3 insertions, 0 deletions",
    );
    writeFileSync(join(repo.root, "diff"), diff);
    expect(repo.git("apply", "--check", join(repo.root, "diff"))).toBe("");
  });

  it("keeps it while something would be lost, and then gives up the directory and not the branch", async () => {
    const { path, branch } = await workspaceOf("one");
    const kept = await commands.agent("worktree", "remove", "one");
    expect({ exit: kept.exit, code: kept.error?.code }).toEqual({ exit: 6, code: "INVALID_STATE" });
    expect(kept.error!.message).toContain(path);
    repo.gitIn(path, "add", "--all");
    repo.gitIn(path, "commit", "--quiet", "--message=work");
    expect((await commands.agent("worktree", "remove", "one")).data).toMatchObject({ effect: "deleted" });
    expect(existsSync(path)).toBe(false);
    expect(repo.git("show", `${branch}:sub/new.txt`)).toBe("new\n");
    expect((await commands.agent("changes", "one")).data).toMatchObject({ totals: { files: 2 } });
    expect((await commands.agent("worktree", "remove", "one")).data).toMatchObject({ effect: "noop" });
  });

  it("may name the branch; a second one with the same is refused, and nothing is started", async () => {
    expect((await spawn("--worktree=fix/login", "--wait", "--", "true")).exit).toBe(0);
    expect(repo.git("branch", "--list", "fix/login")).toContain("fix/login");
    const before = ((await commands.agent("list", "--all")).data as unknown as unknown[]).length;
    const again = await spawn("--worktree=fix/login", "--wait", "--", "true");
    expect({ exit: again.exit, code: again.error?.code }).toEqual({ exit: 4, code: "WORKTREE_UNAVAILABLE" });
    expect(again.error!.message).toBe(
      "The branch fix/login exists already, and a worktree gets one of its own.",
    );
    expect(((await commands.agent("list", "--all")).data as unknown as unknown[]).length).toBe(before);
  });

  it("is shown by --dry-run, which makes nothing", async () => {
    const base_commit = repo.git("rev-parse", "HEAD").trim();
    const { data } = await spawn("--worktree", "--dry-run", "--", "true");
    expect(data.plan).toMatchObject({ worktree: { repository: repo.path, base_commit, branch: null } });
  });

  it("is not removed while its worker lives", async () => {
    await spawn("--worktree", "--name", "living", "--", "sleep", "600");
    // The place of a worktree is on record before git makes it.
    await until(async () => (await commands.agent("info", "living")).data.state === "running");
    const refused = await commands.agent("worktree", "remove", "living");
    expect({ exit: refused.exit, code: refused.error?.code }).toEqual({ exit: 6, code: "INVALID_STATE" });
    expect(existsSync((await workspaceOf("living")).path)).toBe(true);
    await commands.agent("kill", "living");
  });

  it("ends soon when it is killed while a slow filter checks its tree out, and no agent is started then", async () => {
    const slow = makeRepository({ "a.txt": "one\n", ".gitattributes": "*.txt filter=slow\n" });
    const begun = join(slow.root, "begun");
    slow.git("config", "filter.slow.smudge", `touch ${begun}; sleep 600; cat`);
    await commands.agent(
      "spawn",
      "--cwd",
      slow.path,
      "--worktree",
      "--name",
      "slow",
      "--",
      "touch",
      join(slow.root, "ran"),
    );
    await until(() => existsSync(begun));
    expect((await commands.agent("kill", "slow")).exit).toBe(0);
    expect((await commands.agent("info", "slow")).data).toMatchObject({ state: "cancelled" });
    expect(existsSync(join(slow.root, "ran"))).toBe(false);
    rmSync(slow.root, { recursive: true, force: true });
  });

  it("is checked out anew where its daemon was killed in the middle of it, and the old git is ended first", async () => {
    const slow = makeRepository({ "a.txt": "one\n", ".gitattributes": "*.txt filter=slow\n" });
    const [begun, release, ran] = ["begun", "release", "ran"].map((name) => join(slow.root, name)) as [
      string,
      string,
      string,
    ];
    slow.git("config", "filter.slow.smudge", `echo $$ >>${begun}; [ -e ${release} ] || sleep 600; cat`);
    const argv = [
      "--worktree",
      "--name",
      "cut",
      "--restart",
      "transient",
      "--",
      "sh",
      "-c",
      // It is there whole or not at all.
      `cp a.txt ${ran}.part && mv ${ran}.part ${ran}`,
    ];
    await commands.agent("spawn", "--cwd", slow.path, ...argv);
    await until(() => existsSync(begun));
    await commands.killDaemon();
    writeFileSync(release, "");
    await commands.agent("daemon", "start");
    await until(() => existsSync(ran));
    expect(readFileSync(ran, "utf8")).toBe("one\n");
    const [first, ...others] = readFileSync(begun, "utf8").trim().split("\n");
    expect(others.length).toBeGreaterThan(0);
    // A machine whose init reaps nobody keeps a zombie of it.
    expect(readStat(Number(first))?.state ?? "Z").toBe("Z");
    await commands.agent("wait", "cut");
    expect((await commands.agent("info", "cut")).data).toMatchObject({ state: "completed" });
    expect(slow.git("worktree", "list").trim().split("\n")).toHaveLength(2);
    rmSync(slow.root, { recursive: true, force: true });
  });

  it("has the secrets that it was given masked in the diff", async () => {
    const secret = "canary-4f7d1c9e2b";
    writeFileSync(join(repo.root, "key"), `${secret}\n`);
    await spawn(
      "--worktree",
      "--name",
      "leaky",
      "--wait",
      "--env",
      `API_KEY=@file:${join(repo.root, "key")}`,
      "--",
      "sh",
      "-c",
      'echo "$API_KEY" >leak.txt',
    );
    const { data } = await commands.agent("changes", "leaky");
    expect(data).toMatchObject({ diff: { masked: true } });
    const { stdout } = await commands.text("changes", "leaky");
    expect(stdout).toContain("+***");
    expect(stdout).not.toContain(secret);
  });
});

it("a worker of a file has one, also after a second agent up", async () => {
  const file = join(repo.root, "holdfast.yaml");
  const node = `{ name: w, cwd: ${repo.path}, worktree: crew/one, argv: [sleep, "600"] }`;
  writeFileSync(file, `version: 1\nname: crew\ntree:\n  children:\n    - ${node}\n`);
  expect((await commands.agent("up", "--file", file)).exit).toBe(0);
  const before = await workspaceOf("w");
  expect(before.branch).toBe("crew/one");
  const again = await commands.agent("up", "--file", file);
  expect({ exit: again.exit, effect: again.data.effect }).toEqual({ exit: 0, effect: "noop" });
  await commands.agent("restart", "w");
  await until(async () => (await commands.agent("info", "w")).data.incarnation === 2);
  expect(await workspaceOf("w")).toEqual(before);
  await commands.agent("down", "--file", file);
});

it("a worker without one cannot tell what it changed, and says what to do", async () => {
  await commands.agent("spawn", "--name", "plain", "--wait", "--", "true");
  const { exit, error } = await commands.agent("changes", "plain");
  expect({ exit, code: error?.code }).toEqual({ exit: 3, code: "UNSUPPORTED_CAPABILITY" });
  expect(error!.message).toContain("has no worktree of its own");
  expect(error!.suggestion).toContain("--worktree");
  const removed = await commands.agent("worktree", "remove", "plain");
  expect(JSON.stringify(removed)).toContain("has no worktree of its own.");
  expect(JSON.stringify(removed)).toContain("There is nothing to remove");
});
