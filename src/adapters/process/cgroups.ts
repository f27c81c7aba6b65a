/**
 * One cgroup (v2) for each run, below the cgroup that was delegated to the daemon (systemd: Delegate=yes). It
 * enforces the run's limits, and no process can leave it, so only with a cgroup can a sweep say that nothing
 * is left. All file operations go through a small port, for tests.
 */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { CPU_PERIOD_US } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { RunLimits } from "../../protocol/worker.ts";
import type { RunId } from "../spawner.ts";

export interface CgroupFiles {
  read(path: string): string;
  write(path: string, text: string): void;
  /** Names of the directories in it. */
  list(path: string): readonly string[];
  make(path: string): void;
  remove(path: string): void;
  /** The user id of the owner; undefined if the path does not exist. */
  owner(path: string): number | undefined;
  /** Whether it is a directory of a cgroup2 file system. A directory elsewhere can list any pids. */
  isCgroup(path: string): boolean;
}

/** CGROUP2_SUPER_MAGIC of linux/magic.h. */
const CGROUP2_MAGIC = 0x63677270;

const isCgroup2 = (path: string): boolean => {
  try {
    return statfsSync(path).type === CGROUP2_MAGIC;
  } catch {
    return false;
  }
};

const realFiles: CgroupFiles = {
  read: (path) => readFileSync(path, "latin1"),
  write: (path, text) => writeFileSync(path, text),
  list: (path) =>
    readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name),
  make: (path) => mkdirSync(path),
  remove: (path) => rmdirSync(path),
  owner: (path) => statSync(path, { throwIfNoEntry: false })?.uid,
  isCgroup: isCgroup2,
};

const CONTROLLERS = ["memory", "pids", "cpu"] as const;
type Controller = (typeof CONTROLLERS)[number];
/** For each limit: its controller, its file, and the text to write. */
const WRITTEN: Readonly<
  Record<keyof RunLimits, { controller: Controller; file: string; text: (value: number) => string }>
> = {
  memory_bytes: { controller: "memory", file: "memory.max", text: String },
  pids: { controller: "pids", file: "pids.max", text: String },
  cpu: {
    controller: "cpu",
    file: "cpu.max",
    text: (cpus) => `${Math.round(cpus * CPU_PERIOD_US)} ${CPU_PERIOD_US}`,
  },
};
const asked = (limits: RunLimits): readonly (readonly [keyof RunLimits, number])[] =>
  (Object.entries(limits) as [keyof RunLimits, number | undefined][]).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );

/**
 * The cgroup that this daemon may divide: the one in `HOLDFAST_CGROUP`, else its own if that belongs to its
 * user and the user is not root. systemd delegates a cgroup by chown, but root owns those that are not
 * delegated too.
 */
export const findDelegated = (
  named: string | undefined,
  uid: number,
  files: CgroupFiles = realFiles,
): string | undefined => {
  if (named !== undefined && named !== "") return named;
  try {
    const own = /^0::(\/.*)$/m.exec(files.read("/proc/self/cgroup"))?.[1];
    const mount = /^\S+ (\S+) cgroup2 /m.exec(files.read("/proc/self/mounts"))?.[1];
    if (own === undefined || mount === undefined || uid === 0) return undefined;
    const path = join(mount, own);
    return files.owner(path) === uid ? path : undefined;
  } catch {
    return undefined;
  }
};

export class Cgroups {
  private readonly base: string | undefined;
  private readonly prefix: string;
  private readonly files: CgroupFiles;
  private controllers: ReadonlySet<string> = new Set();

  /** `base`: the delegated cgroup, if there is one. If it cannot be used, requests for limits are refused. */
  constructor(base: string | undefined, storeId: string, files: CgroupFiles = realFiles) {
    this.files = files;
    this.prefix = `run-${storeId}-`;
    this.base = base !== undefined && this.take(base) ? base : undefined;
  }

  private take(base: string): boolean {
    try {
      const daemon = join(base, "daemon");
      // A cgroup with processes of its own cannot give controllers to its children, so the daemon moves into
      // a child.
      if (this.files.read(join(base, "cgroup.procs")).split("\n").includes(String(process.pid))) {
        if (this.files.owner(daemon) === undefined) this.files.make(daemon);
        this.files.write(join(daemon, "cgroup.procs"), "0");
      }
      for (const controller of CONTROLLERS) this.enable(base, controller);
      this.controllers = new Set(this.files.read(join(base, "cgroup.subtree_control")).trim().split(/\s+/));
      for (const name of this.files.list(base))
        if (name.startsWith(this.prefix)) this.remove(join(base, name));
      return true;
    } catch {
      return false;
    }
  }

  private enable(base: string, controller: Controller): void {
    try {
      this.files.write(join(base, "cgroup.subtree_control"), `+${controller}`);
    } catch {
      // The controller was not delegated: limits that need it are refused.
    }
  }

  /** Throws LIMITS_UNAVAILABLE for a limit that cannot be enforced here, so that none is silently ignored. */
  check(limits: RunLimits): void {
    const wanted = asked(limits);
    if (wanted.length === 0) return;
    if (this.base === undefined)
      throw new HoldfastError(
        "LIMITS_UNAVAILABLE",
        "No cgroup is delegated to this daemon, so it can limit no worker.",
      );
    const missing = wanted
      .map(([name]) => WRITTEN[name].controller)
      .filter((one) => !this.controllers.has(one));
    if (missing.length > 0)
      throw new HoldfastError(
        "LIMITS_UNAVAILABLE",
        `The cgroup that is delegated to this daemon has no controller for ${missing.join(", ")}.`,
      );
  }

  /** Makes a cgroup with these limits for the launcher to enter; undefined if no cgroup is delegated. */
  make({ worker_id, incarnation }: RunId, limits: RunLimits): string | undefined {
    this.check(limits);
    if (this.base === undefined) return undefined;
    const dir = join(this.base, this.nameOf({ worker_id, incarnation }));
    this.files.make(dir);
    for (const [name, value] of asked(limits)) {
      const { file, text } = WRITTEN[name];
      this.files.write(join(dir, file), text(value));
    }
    return dir;
  }

  private nameOf({ worker_id, incarnation }: RunId): string {
    return `${this.prefix}${worker_id}-${incarnation}`;
  }

  /** Whether a path from a run's own file is the cgroup of that run. Every process in it will be killed. */
  isOf(id: RunId, dir: string): boolean {
    return basename(dir) === this.nameOf(id) && this.files.isCgroup(dir);
  }

  /** Kills for lack of memory in this cgroup; undefined if the kernel does not count them. */
  memoryKills(dir: string): number | undefined {
    try {
      const count = /^oom_kill (\d+)$/m.exec(this.files.read(join(dir, "memory.events")))?.[1];
      return count === undefined ? undefined : Number(count);
    } catch {
      return undefined;
    }
  }

  /** Every process in the cgroup and in those below it. Throws if they cannot be read. */
  members(dir: string): readonly number[] {
    const own = this.files.read(join(dir, "cgroup.procs")).split("\n").filter(Boolean).map(Number);
    return [...own, ...this.files.list(dir).flatMap((name) => this.members(join(dir, name)))];
  }

  /** SIGKILL to all members at once, including those that are being forked. */
  kill(dir: string): void {
    this.files.write(join(dir, "cgroup.kill"), "1");
  }

  /** Removes the cgroup and those below it. A cgroup with processes stays until a later start removes it. */
  remove(dir: string): void {
    try {
      for (const name of this.files.list(dir)) this.remove(join(dir, name));
      this.files.remove(dir);
    } catch {
      // Busy, or gone.
    }
  }
}
