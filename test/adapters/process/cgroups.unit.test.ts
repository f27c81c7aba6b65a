import { describe, expect, test } from "vitest";
import { type CgroupFiles, Cgroups, findDelegated } from "../../../src/adapters/process/cgroups.ts";

const OWNER = 1_000;

/** The files of a cgroup tree: a new directory has those of its kind, and controllers are given on as the kernel does. */
const tree = (controllers: readonly string[]) => {
  const files = new Map<string, string>([
    ["/proc/self/cgroup", "0::/user.slice/holdfast.service\n"],
    ["/proc/self/mounts", "proc /proc proc rw 0 0\ncgroup2 /cg cgroup2 rw 0 0\n"],
  ]);
  const directories = new Set<string>();
  const read = (path: string): string => {
    const found = files.get(path);
    if (found === undefined) throw new Error(`ENOENT ${path}`);
    return found;
  };
  const port: CgroupFiles = {
    read,
    write: (path, text) => {
      if (path.endsWith("subtree_control")) {
        if (!controllers.includes(text.slice(1))) throw new Error("EINVAL");
        files.set(path, `${read(path)} ${text.slice(1)}`);
      } else files.set(path, text);
    },
    list: (path) =>
      [...directories]
        .filter((one) => one.slice(0, one.lastIndexOf("/")) === path)
        .map((one) => one.slice(path.length + 1)),
    make: (path) => {
      directories.add(path);
      files.set(`${path}/cgroup.procs`, "");
      files.set(`${path}/cgroup.subtree_control`, "");
    },
    remove: (path) => {
      if (read(`${path}/cgroup.procs`) !== "") throw new Error("EBUSY");
      directories.delete(path);
    },
    isCgroup: (path) => files.has(`${path}/cgroup.procs`),
    owner: (path) => (directories.has(path) ? OWNER : undefined),
  };
  port.make(BASE);
  return { port, files, directories };
};

const BASE = "/cg/user.slice/holdfast.service";
const RUN = { worker_id: "W", incarnation: 2 };
const ALL = ["memory", "pids", "cpu"];

describe("the delegated cgroup", () => {
  test("is the one that is named, or the daemon's own where it belongs to its user", () => {
    const { port } = tree(ALL);
    expect(findDelegated("/cg/named", 0, port)).toBe("/cg/named");
    expect(findDelegated(undefined, OWNER, port)).toBe(BASE);
    expect(findDelegated("", OWNER + 1, port)).toBeUndefined();
  });
  test("is never guessed for root, to whom all of them belong", () => {
    expect(findDelegated(undefined, 0, { ...tree(ALL).port, owner: () => 0 })).toBeUndefined();
  });
  test("is left by the daemon for a child of it, so that its controllers can be given on", () => {
    const { port, files } = tree(ALL);
    files.set(`${BASE}/cgroup.procs`, `1\n${process.pid}\n`);
    new Cgroups(BASE, "S", port);
    expect(files.get(`${BASE}/daemon/cgroup.procs`)).toBe("0");
  });
  test("loses at a start what earlier runs of this store left, unless somebody lives in it, and nothing of another store", () => {
    const { port, files, directories } = tree(ALL);
    for (const name of ["run-S-old-1", "run-S-busy-1", "run-T-old-1"]) port.make(`${BASE}/${name}`);
    files.set(`${BASE}/run-S-busy-1/cgroup.procs`, "77\n");
    new Cgroups(BASE, "S", port);
    expect([...directories]).toEqual([BASE, `${BASE}/run-S-busy-1`, `${BASE}/run-T-old-1`]);
  });
});

describe("limits", () => {
  test("are written as the kernel reads them", () => {
    const { port, files } = tree(ALL);
    const dir = new Cgroups(BASE, "S", port).make(RUN, {
      memory_bytes: 512 * 1024 ** 2,
      pids: 100,
      cpu: 1.5,
    });
    expect(dir).toBe(`${BASE}/run-S-W-2`);
    expect([
      files.get(`${dir}/memory.max`),
      files.get(`${dir}/pids.max`),
      files.get(`${dir}/cpu.max`),
    ]).toEqual(["536870912", "100", "150000 100000"]);
  });
  test.each([
    [
      "nothing is delegated",
      undefined,
      ALL,
      "No cgroup is delegated to this daemon, so it can limit no worker.",
    ],
    ["what is named is not there", "/cg/nowhere", ALL, "No cgroup is delegated"],
    ["a controller is missing", BASE, ["memory"], "has no controller for pids, cpu."],
  ])("are refused where %s, and none is ever ignored", (_where, base, controllers, message) => {
    const cgroups = new Cgroups(base, "S", tree(controllers).port);
    expect(() => cgroups.check({ pids: 5, cpu: 1 })).toThrow(message);
    expect(() => cgroups.make(RUN, { pids: 5, cpu: 1 })).toThrow(message);
    expect(() => cgroups.check({})).not.toThrow();
  });
});

test("members are those of the cgroup and of all below it, and its own kills for memory are counted", () => {
  const { port, files } = tree(ALL);
  const cgroups = new Cgroups(BASE, "S", port);
  const dir = cgroups.make(RUN, {}) as string;
  port.make(`${dir}/below`);
  files.set(`${dir}/cgroup.procs`, "5\n6\n").set(`${dir}/below/cgroup.procs`, "7\n");
  expect(cgroups.members(dir)).toEqual([5, 6, 7]);
  expect(cgroups.memoryKills(dir)).toBeUndefined();
  files.set(`${dir}/memory.events`, "low 0\noom 2\noom_kill 1\noom_group_kill 0\n");
  expect(cgroups.memoryKills(dir)).toBe(1);
});
