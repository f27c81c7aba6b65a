/** The rights of an agent in a sandbox, as arguments and as a profile; nothing is started. */
import { describe, expect, it } from "vitest";
import { bubblewrapArguments } from "../../../src/workspace/sandbox/bubblewrap.ts";
import { socketDirectories } from "../../../src/workspace/sandbox/daemons.ts";
import { type Confinement, isNoSandbox, planSandbox } from "../../../src/workspace/sandbox/plan.ts";
import { sandboxed } from "../../../src/workspace/sandbox/sandbox.ts";
import { seatbeltArguments, seatbeltProfile } from "../../../src/workspace/sandbox/seatbelt.ts";

const asked = (over: Partial<Confinement> = {}): Confinement => ({
  sandbox: { writable: [] },
  isAgent: false,
  cwd: "/home/me/work",
  added: [],
  env: { HOME: "/home/me", PATH: "/usr/bin:/bin" },
  state: [],
  stateDir: "/home/me/.local/state/holdfast",
  workspace: undefined,
  adminDir: undefined,
  ...over,
});

describe("the plan", () => {
  it("of a command is its cwd without a network; git's directory there is read-only", () => {
    expect(planSandbox(asked())).toEqual({
      net: "none",
      cwd: "/home/me/work",
      readable: [],
      writable: ["/home/me/work"],
      protected: ["/home/me/work/.git"],
      hidden: ["/home/me/.local/state/holdfast"],
    });
  });

  it("of an agent has the network, unless that is refused, and directories of its own", () => {
    const state = [
      { home: ".claude", variable: "CLAUDE_CONFIG_DIR" },
      { home: ".claude.json", isFile: true as const },
    ];
    const plan = planSandbox(asked({ isAgent: true, state }));
    expect(plan).toMatchObject({
      net: "host",
      writable: ["/home/me/work", "/home/me/.claude", "/home/me/.claude.json"],
    });
    const named = { HOME: "/home/me", CLAUDE_CONFIG_DIR: "/elsewhere" };
    expect(planSandbox(asked({ state, env: named })).writable).toContain("/elsewhere");
    expect(planSandbox(asked({ isAgent: true, sandbox: { writable: ["/x"], net: "none" } }))).toMatchObject({
      net: "none",
      writable: ["/home/me/work", "/x"],
    });
    expect(planSandbox(asked({ state, env: {} })).writable).toEqual(["/home/me/work"]);
  });

  it("of directories that are added has them writable too, but for their .git", () => {
    const plan = planSandbox(asked({ added: ["/lib"], sandbox: { writable: ["/x"] } }));
    expect(plan.writable).toEqual(["/home/me/work", "/lib", "/x"]);
    expect(plan.protected).toEqual(["/home/me/work/.git", "/lib/.git", "/x/.git"]);
  });

  it("of a worktree is what a commit writes, and nothing that git runs", () => {
    const workspace = {
      path: "/s/worktrees/1",
      cwd: "/s/worktrees/1/sub",
      branch: "b",
      base_commit: "c",
      repository: "/repo",
      git_dir: "/repo/.git",
    };
    const plan = planSandbox(asked({ workspace, adminDir: "/repo/.git/worktrees/1", cwd: workspace.cwd }));
    expect(plan.writable).toEqual([
      "/s/worktrees/1",
      "/repo/.git/objects",
      "/repo/.git/refs",
      "/repo/.git/logs",
      "/repo/.git/worktrees/1",
    ]);
    expect(plan.readable).toEqual(["/repo/.git"]);
    expect(plan.protected).toContain("/s/worktrees/1/.git");
  });
});

describe("other daemons", () => {
  const sockets = [
    "Num       RefCount Protocol Flags    Type St Inode Path",
    "0000000000000000: 00000002 00000000 00010000 0001 01 1 /home/me/other state/agent.sock",
    "0000000000000000: 00000002 00000000 00010000 0001 01 2 /home/me/other state/agent.sock",
    "0000000000000000: 00000002 00000000 00010000 0001 01 3 /run/user/1000/bus",
    "0000000000000000: 00000002 00000000 00010000 0001 01 4 @/tmp/abstract",
    "0000000000000000: 00000003 00000000 00000000 0001 03 5",
  ].join("\n");

  it("are found by their sockets, and their directories are empty in the sandbox", () => {
    expect(socketDirectories(sockets)).toEqual(["/home/me/other state"]);
    expect(planSandbox(asked({ otherStateDirs: ["/home/me/other state"] })).hidden).toEqual([
      "/home/me/.local/state/holdfast",
      "/home/me/other state",
    ]);
  });
});

describe("a directory that cannot be writable", () => {
  const isRefused = (path: string) => isNoSandbox(path, ["/s"]);

  it("is the machine's own, and what is in the daemon's directory", () => {
    const machine = ["/", "/proc", "/proc/1", "/sys", "/sys/fs/cgroup", "/dev", "/dev/shm", "/run"];
    const services = ["/run/dbus", "/run/systemd/private", "/run/user", "/run/user/1000/systemd"];
    const daemon = ["/s", "/s/runs", "/s/runs/1/spec", "/s/worktrees"];
    for (const path of [...machine, ...services, ...daemon])
      expect([path, isRefused(path)]).toEqual([path, true]);
  });

  it("is no worktree, nothing that is only called so, and nothing above it, where the daemon's directory stays empty", () => {
    const paths = [
      "/s/worktrees/1",
      "/s/worktrees/1/sub",
      "/sys2",
      "/device",
      "/runs",
      "/run/lock",
      "/home/me",
    ];
    for (const path of paths) expect([path, isRefused(path)]).toEqual([path, false]);
  });
});

describe("the arguments of bubblewrap", () => {
  const plan = {
    net: "none",
    cwd: "/w",
    readable: [],
    writable: ["/tmp/state/tree", "/home"],
    protected: ["/home/a/.git"],
    hidden: ["/tmp/state", "/home/state"],
  } as const;
  const words = bubblewrapArguments(plan, ["prog", "--flag"]);
  const at = (...mount: string[]) => words.join(" ").indexOf(mount.join(" "));

  it("mount what is outside first, so that nothing hidden is opened again and nothing open is covered", () => {
    expect(words.slice(0, 7)).toEqual(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    expect(at("--proc", "/proc")).toBeLessThan(at("--ro-bind-try", "/proc/sys", "/proc/sys"));
    expect(at("--tmpfs", "/tmp ")).toBeLessThan(at("--tmpfs", "/tmp/state"));
    expect(at("--tmpfs", "/tmp/state")).toBeLessThan(at("--bind-try", "/tmp/state/tree"));
    expect(at("--bind-try", "/home")).toBeLessThan(at("--tmpfs", "/home/state"));
    expect(at("--bind-try", "/home")).toBeLessThan(at("--ro-bind-try", "/home/a/.git"));
  });

  it("end with the agent's own, as they are", () => {
    expect(words.slice(-3)).toEqual(["--", "prog", "--flag"]);
    expect(words).toContain("--unshare-net");
    expect(bubblewrapArguments({ ...plan, net: "host" }, [])).not.toContain("--unshare-net");
  });

  it("never let it die with what started it: agents outlive their daemon", () => {
    expect(words).not.toContain("--die-with-parent");
  });
});

it("the profile of sandbox-exec quotes paths, and closes the network", () => {
  const plan = planSandbox(asked({ cwd: '/odd "dir"' }));
  const profile = seatbeltProfile(plan);
  expect(profile).toContain('(allow file-read* file-write* (subpath "/odd \\"dir\\"")');
  expect(profile).toContain("(deny network*)");
  expect(profile.indexOf("(deny file-write*)")).toBeLessThan(profile.indexOf("(allow file-read*"));
  expect(seatbeltArguments(plan, ["prog"])).toEqual(["-p", profile, "prog"]);
});

it("is refused on a platform without one", async () => {
  await expect(sandboxed(asked(), ["sh"], "freebsd" as NodeJS.Platform)).rejects.toMatchObject({
    code: "SANDBOX_UNAVAILABLE",
  });
});
