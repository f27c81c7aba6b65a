/** The rights of a container, as words of podman; nothing is started. */
import { describe, expect, it } from "vitest";
import {
  type ContainerPlan,
  containerArguments,
  unlimitedBy,
} from "../../../src/workspace/sandbox/container.ts";

const plan = (over: Partial<ContainerPlan> = {}): ContainerPlan => ({
  cwd: "/home/me/work",
  readable: [],
  writable: [],
  guarded: [],
  hidden: [],
  variables: [],
  env: {},
  secrets: [],
  run: ["/bin/tool", "--flag"],
  limits: { file_bytes: 1_000, memory_bytes: 2_000, processes: 3 },
  ...over,
});

const wordsOf = (over?: Partial<ContainerPlan>): readonly string[] =>
  containerArguments(plan(over), "/usr/bin/runc", ["IMAGE"]);
const mountsOf = (over?: Partial<ContainerPlan>): readonly string[] =>
  wordsOf(over).filter((_, at, all) => all[at - 1] === "--mount");

describe("the words of a container", () => {
  it("have no network, no capability and no image from elsewhere, whatever the plan is", () => {
    const said = wordsOf().join(" ");
    for (const words of [
      "--network none",
      "--cap-drop all",
      "--read-only ",
      "--read-only-tmpfs=false",
      "--security-opt no-new-privileges",
      "--pull never",
      "--image-volume ignore",
      "--http-proxy=false",
      "--pids-limit 3",
      "--memory 2000b --memory-swap 2000b",
      "--ulimit fsize=1000:1000",
    ])
      expect(said).toContain(words);
    expect(said).toMatch(/--workdir \/home\/me\/work --entrypoint \["\/bin\/tool"\] IMAGE --flag$/);
  });

  it("mount what the plan names and no more, outer paths first, and nothing that is mounted below", () => {
    expect(mountsOf()).toEqual([]);
    expect(
      mountsOf({
        writable: ["/work/state/deep"],
        readable: ["/work"],
        hidden: ["/work/daemon", "/elsewhere"],
        socket: { outside: "/s/1", inside: "/run/proxy" },
      }),
    ).toEqual([
      'type=bind,"dst=/work","src=/work",ro=true,bind-nonrecursive',
      'type=bind,"dst=/run/proxy","src=/s/1",ro=true,bind-nonrecursive',
      'type=tmpfs,"dst=/work/daemon",ro=true',
      'type=bind,"dst=/work/state/deep","src=/work/state/deep",ro=false,bind-nonrecursive',
    ]);
  });

  it("tell no value of a secret, and no path as an option", () => {
    const words = wordsOf({ env: { HOME: "/tmp" }, secrets: ["A_KEY"], readable: ['/a,ro=false,"b"'] });
    expect(words.filter((_, at, all) => all[at - 1] === "--env")).toEqual(["HOME=/tmp", "A_KEY"]);
    expect(words).toContain(
      'type=bind,"dst=/a,ro=false,""b""","src=/a,ro=false,""b""",ro=true,bind-nonrecursive',
    );
  });
});

describe("limits", () => {
  const info = (cgroupVersion: string, rootless: boolean, cgroupControllers: readonly string[] | null) => ({
    host: { cgroupVersion, cgroupControllers, security: { rootless } },
  });

  it.each([
    [info("v2", true, ["cpu", "memory", "pids"]), undefined],
    [info("v1", false, ["memory", "pids"]), undefined],
    [info("v1", true, ["memory", "pids"]), /cgroups v1/],
    [info("v2", true, ["cpu"]), /memory and pids/],
    [info("v2", true, ["memory"]), /controller for pids/],
    [info("v2", true, null), /memory and pids/],
    [undefined, /no word/],
    [{ host: {} }, /no word/],
  ])("%j", (said, why) => {
    if (why === undefined) expect(unlimitedBy(said)).toBeUndefined();
    else expect(unlimitedBy(said)).toMatch(why);
  });
});
