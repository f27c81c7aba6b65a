/** Agents in a sandbox of this machine, from outside. On one without, these are counted as skipped, and the refusals are tried all the same. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { livingRuns } from "../../src/adapters/process/living.ts";
import { lookForSandbox } from "../../src/workspace/sandbox/sandbox.ts";
import { makeRepository } from "../support/repository.ts";
import { type Answer, type Commands, makeCommands, until } from "./support/commands.ts";

const sandbox = await lookForSandbox();
const isHere = "program" in sandbox;

let commands: Commands;
let work: string;
beforeAll(() => {
  commands = makeCommands();
  work = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-sandbox-")));
});
afterAll(async () => {
  await commands.close();
  rmSync(work, { recursive: true, force: true });
});

/** A directory below `work`, which is empty in the sandbox but for this one. */
const place = (name: string): string => {
  mkdirSync(join(work, name));
  return join(work, name);
};
const spawn = (name: string, script: string, ...flags: readonly string[]): Promise<Answer> =>
  commands.agent(
    "spawn",
    "--name",
    name,
    "--cwd",
    place(name),
    "--sandbox",
    "workspace",
    ...flags,
    "--",
    "sh",
    "-c",
    script,
  );
const info = async (name: string) => (await commands.agent("info", name)).data;
const here = (name: string, file: string): string => join(work, name, file);
const nothingLeft = async (): Promise<void> => {
  const { store_id } = (await commands.agent("daemon", "status")).data as { store_id: string };
  await until(async () => (await livingRuns(store_id)).length === 0);
};

describe.skipIf(!isHere)("in a sandbox", () => {
  it("the workspace can be written, nothing else can, and the daemon is out of reach", async () => {
    const script = [
      "echo yes >mine",
      "for at in /etc /usr $HOLDFAST_HOME/../ / ; do touch $at/holdfast-test 2>/dev/null && echo wrote $at; done",
      "echo gone >/tmp/holdfast-sandbox-private",
      "ls $HOLDFAST_HOME | wc -l",
      `ls ${work}`,
      "ls /run",
    ].join("; ");
    const { exit } = await spawn("writes", `${script}; true`, "--wait");
    expect(exit).toBe(0);
    const { text } = (await commands.agent("output", "writes")).data as { text: string };
    expect(text.split("\n").filter((line) => /^wrote/.test(line) && line !== "wrote /tmp/..")).toEqual([
      // The parent of the state directory is the sandbox's own /tmp.
      expect.stringMatching(/^wrote .*\/\.\.\/$/),
    ]);
    expect(text).toContain("\n0\nwrites\n");
    expect(readFileSync(here("writes", "mine"), "utf8")).toBe("yes\n");
    expect(existsSync("/tmp/holdfast-sandbox-private")).toBe(false);
  });

  it("no process is seen but its own, and no network of a command unless it is asked for", async () => {
    const script =
      "ls -d /proc/[0-9]* | wc -l; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | sort | tr '\\n' ' '";
    await spawn("alone", script, "--wait");
    await spawn("networked", script, "--wait", "--sandbox-net", "host");
    const text = async (name: string) =>
      ((await commands.agent("output", name)).data.text as string).trim().split("\n");
    const [processes, net] = await text("alone");
    expect(Number(processes)).toBeLessThan(10);
    expect(net?.trim()).toBe("lo");
    const outside = readFileSync("/proc/net/dev", "utf8")
      .split("\n")
      .slice(2, -1)
      .map((line) => line.split(":")[0]!.trim());
    expect((await text("networked"))[1]?.trim()).toBe(outside.sort().join(" "));
  });

  it("no setting of the kernel can be opened for writing, also by root", async () => {
    const script =
      "for at in sys/kernel/core_pattern sysrq-trigger; do (: >>/proc/$at) 2>/dev/null && echo wrote $at; done; echo tried";
    await spawn("settings", script, "--wait");
    expect((await commands.agent("output", "settings")).data.text).toBe("tried\n");
  });

  it("more directories can be written where they are named", async () => {
    const more = place("more");
    await spawn("two", `echo yes >${more}/there`, "--wait", "--sandbox-writable", more);
    expect(readFileSync(join(more, "there"), "utf8")).toBe("yes\n");
  });

  it("directories that are added to an agent's can be written, and are refused like others", async () => {
    const [cwd, added] = [place("adding"), place("added")];
    const program = join(cwd, "claude");
    writeFileSync(program, `#!/bin/sh\necho yes >${added}/there\n`, { mode: 0o755 });
    const spawnClaude = (dir: string, ...flags: readonly string[]) =>
      commands.start(
        [
          ...["-o", "json", "spawn", "claude", "hi", "--cwd", cwd, "--add-dir", dir],
          ...["--sandbox", "workspace", "--restart", "temporary", ...flags],
        ],
        { CLAUDE_BINARY: program },
      ).ended;
    const shown = JSON.parse((await spawnClaude("../added", "--dry-run")).stdout);
    expect(shown.data.plan.sandbox.writable).toEqual([cwd, added]);
    await spawnClaude(added, "--wait");
    expect(readFileSync(join(added, "there"), "utf8")).toBe("yes\n");
    const refused = JSON.parse((await spawnClaude("/proc", "--wait")).stdout);
    expect(refused.error.message).toBe("/proc cannot be writable in a sandbox.");
  });

  it("the exit code is the agent's own", async () => {
    await spawn("seven", "exit 7", "--wait");
    expect(await info("seven")).toMatchObject({ state: "failed", exit_code: 7, signal: null });
  });

  it("TERM reaches the agent, which has its grace; also by the next daemon", async () => {
    const script = "trap 'sleep 1; echo bye >bye; exit 3' TERM; echo up >up; while :; do sleep 0.1; done";
    await spawn("graceful", script);
    await spawn("adopted", script);
    await until(() => existsSync(here("graceful", "up")) && existsSync(here("adopted", "up")));
    await commands.agent("kill", "graceful", "--grace", "60s");
    expect(readFileSync(here("graceful", "bye"), "utf8")).toBe("bye\n");
    expect(await info("graceful")).toMatchObject({ state: "cancelled", exit_code: 3 });
    await commands.killDaemon();
    await commands.agent("daemon", "start");
    expect(await info("adopted")).toMatchObject({ state: "running", incarnation: 1 });
    await commands.agent("kill", "adopted", "--grace", "60s");
    expect(readFileSync(here("adopted", "bye"), "utf8")).toBe("bye\n");
    await nothingLeft();
  });

  it("nothing of a tree that ignores TERM and leaves its session is left after a kill", async () => {
    await spawn(
      "stubborn",
      "trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 600' & setsid setsid sleep 600 & echo up >up; sleep 600",
    );
    await until(() => existsSync(here("stubborn", "up")));
    await commands.agent("kill", "stubborn", "--grace", "100ms");
    await nothingLeft();
    expect(await info("stubborn")).toMatchObject({ state: "cancelled" });
  });

  it("stands still and goes on, and reads what is sent to it", async () => {
    await spawn("reader", "while read line; do echo $line >>got; done", "--interactive");
    await until(async () => (await info("reader")).state === "running");
    await commands.agent("pause", "reader");
    await commands.agent("send", "reader", "hello");
    expect(existsSync(here("reader", "got"))).toBe(false);
    await commands.agent("unpause", "reader");
    await until(() => existsSync(here("reader", "got")));
    await commands.agent("send", "reader", "--close");
    await commands.agent("wait", "reader");
    expect(await info("reader")).toMatchObject({ state: "completed", exit_code: 0 });
  });

  it("work in a worktree can be committed, and git's hooks and configuration cannot be changed", async () => {
    const repo = makeRepository({ "a.txt": "one\n" });
    const script = [
      "echo two >>a.txt",
      "git -c user.name=a -c user.email=a@b.invalid commit -qam work",
      "mkdir -p $(git rev-parse --git-common-dir)/hooks/new 2>/dev/null && echo hooked",
      "git config core.pager evil 2>/dev/null && echo configured",
      "echo gitdir: /nowhere >.git 2>/dev/null && echo led away",
      "true",
    ].join("; ");
    const flags = [
      "--name",
      "committer",
      "--cwd",
      repo.path,
      "--worktree",
      "--sandbox",
      "workspace",
      "--wait",
    ];
    expect((await commands.agent("spawn", ...flags, "--", "sh", "-c", script)).exit).toBe(0);
    const { workspace } = (await info("committer")) as { workspace: { branch: string } };
    expect(repo.git("show", `${workspace.branch}:a.txt`)).toBe("one\ntwo\n");
    expect((await commands.agent("output", "committer")).error?.code).toBe("OUTPUT_NOT_FOUND");
    rmSync(repo.root, { recursive: true, force: true });
  });

  it("a directory without .git becomes no repository by which git would run something outside", async () => {
    const repo = makeRepository({ "sub/a.txt": "one\n" });
    const [cwd, ran, tried] = [join(repo.path, "sub"), join(repo.root, "ran"), join(repo.path, "sub/tried")];
    const monitor = `touch ${ran}; false`;
    const script = [
      "git init -q . && echo made",
      `git config --file .git/config core.fsmonitor '${monitor}' && echo configured`,
      "mv .git away && echo moved",
      "rm -r .git && echo removed",
      "echo two >a.txt; touch tried; exec sleep 600",
    ].join("; ");
    const flags = ["--name", "monitor", "--cwd", cwd, "--sandbox", "workspace"];
    expect((await commands.agent("spawn", ...flags, "--", "sh", "-c", script)).exit).toBe(0);
    await until(() => existsSync(tried));
    const status = () => execFileSync("git", ["-C", cwd, "status", "--porcelain"], { encoding: "utf8" });
    expect(status()).toContain("sub/a.txt");
    await commands.agent("kill", "monitor");
    expect(status()).toContain("sub/a.txt");
    expect([ran, join(cwd, ".git")].filter((path) => existsSync(path))).toEqual([]);
    expect((await commands.agent("output", "monitor")).error?.code).toBe("OUTPUT_NOT_FOUND");
    rmSync(repo.root, { recursive: true, force: true });
  });

  it("the daemon of another state directory is out of reach, too", async () => {
    // Nobody sees /tmp in a sandbox.
    const HOLDFAST_HOME = mkdtempSync("/var/tmp/holdfast-other-");
    const other = (...argv: string[]) => commands.start(argv, { HOLDFAST_HOME }).ended;
    try {
      await other("daemon", "start");
      expect(existsSync(join(HOLDFAST_HOME, "agent.sock"))).toBe(true);
      const script = `ls -A ${HOLDFAST_HOME}; cat ${HOLDFAST_HOME}/daemon.token; echo looked`;
      await spawn("looks", script, "--wait");
      expect((await commands.agent("output", "looks")).data.text).toMatch(/^(cat: .*\n)?looked\n$/);
    } finally {
      await other("daemon", "stop");
      rmSync(HOLDFAST_HOME, { recursive: true, force: true });
    }
  });

  it("is shown by --dry-run", async () => {
    const { data } = await spawn("shown", "true", "--dry-run");
    expect(data.plan).toMatchObject({ sandbox: { net: "none", writable: [join(work, "shown")] } });
  });

  it("is shown by --dry-run with the worktree that it would have, and not with the checkout of whoever asks", async () => {
    const repo = makeRepository({ "a.txt": "one\n", "sub/b.txt": "two\n" });
    const flags = ["--cwd", join(repo.path, "sub"), "--worktree", "--sandbox", "workspace", "--dry-run"];
    const { data } = await commands.agent("spawn", ...flags, "--", "true");
    const git = join(repo.path, ".git");
    expect(data.plan).toMatchObject({
      sandbox: {
        writable: [
          join(realpathSync(commands.home), "worktrees/WORKER-ID"),
          ...["objects", "refs", "logs", "worktrees/WORKER-ID"].map((dir) => join(git, dir)),
        ],
      },
    });
    expect(repo.git("worktree", "list").trim().split("\n")).toHaveLength(1);
    rmSync(repo.root, { recursive: true, force: true });
  });

  it("is refused before anything starts where it would be none, also behind a link", async () => {
    const refusal = async (...flags: readonly string[]) =>
      (await commands.agent("spawn", "--name", "open", "--sandbox", "workspace", ...flags, "--", "true"))
        .error;
    const refused = (path: string) => ({
      code: "INVALID_REQUEST",
      message: `${path} cannot be writable in a sandbox.`,
    });
    const link = join(place("links"), "link");
    const runs = join(realpathSync(commands.home), "runs");
    symlinkSync(runs, link);
    for (const cwd of ["/", "/proc", "/dev"]) expect(await refusal("--cwd", cwd)).toMatchObject(refused(cwd));
    for (const dir of ["/sys", "/proc/self/fd", runs, link])
      expect(await refusal("--cwd", work, "--sandbox-writable", dir)).toMatchObject(
        dir === link ? refused(runs) : { code: "INVALID_REQUEST" },
      );
    expect((await commands.agent("info", "open")).error?.code).toBe("WORKER_NOT_FOUND");
  });

  it("a program that the sandbox hides is told before anything starts", async () => {
    const program = join(place("hidden"), "program");
    await commands.agent(
      "spawn",
      "--wait",
      "--",
      "sh",
      "-c",
      `printf '#!/bin/sh\\n' >${program}; chmod +x ${program}`,
    );
    const { exit, error } = await commands.agent(
      "spawn",
      "--cwd",
      place("beside"),
      "--sandbox",
      "workspace",
      "--",
      program,
    );
    expect({ exit, code: error?.code }).toEqual({ exit: 4, code: "SANDBOX_UNAVAILABLE" });
  });
});

it.skipIf(isHere)("without one here, it is refused before anything starts", async () => {
  const { exit, error } = await spawn("refused", "true");
  expect({ exit, code: error?.code }).toEqual({ exit: 4, code: "SANDBOX_UNAVAILABLE" });
  expect((await commands.agent("list", "--all")).data).toEqual([]);
});

it("agent doctor says what there is", async () => {
  const { checks } = (await commands.agent("doctor")).data as { checks: { name: string; result: string }[] };
  expect(checks.find(({ name }) => name === "sandbox")).toMatchObject({ result: isHere ? "ok" : "warn" });
});
