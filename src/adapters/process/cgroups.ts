/**
 * One cgroup (v2) for each run, below one that was delegated to the daemon (systemd: Delegate=yes). It bounds what the run may
 * take, and nothing leaves it: only here can a sweep say that nothing is left. The operations of a process on it are behind a small
 * port, because it is files.
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
  /** The user that owns it; undefined where it is not there. */
  owner(path: string): number | undefined;
  /** Whether it is a directory of a cgroup2 file system: one that a process has made elsewhere can name anybody. */
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
/** The controller that each limit needs, and how it is written. */
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
 * The cgroup that is this daemon's to divide: the one that `HOLDFAST_CGROUP` names, else its own where that belongs to its
 * user, who is not root: systemd gives a delegated one away by chown, and root owns those too that are not delegated.
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

  /** `base`: the delegated one; undefined where there is none. One that cannot be used is none, until somebody asks for limits. */
  constructor(base: string | undefined, storeId: string, files: CgroupFiles = realFiles) {
    this.files = files;
    this.prefix = `run-${storeId}-`;
    this.base = base !== undefined && this.take(base) ? base : undefined;
  }

  private take(base: string): boolean {
    try {
      const daemon = join(base, "daemon");
      // A cgroup with processes of its own can give its children no controllers: the daemon moves into one of them.
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
      // Not given to us: a limit that needs it is refused.
    }
  }

  /** Throws LIMITS_UNAVAILABLE for a limit that cannot be held here: none is ever ignored. */
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

  /** A new one with these limits, for the launcher to enter; undefined where none is delegated. */
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

  /** Whether a path that a run's own file names is that run's cgroup: all that is in it will be killed. */
  isOf(id: RunId, dir: string): boolean {
    return basename(dir) === this.nameOf(id) && this.files.isCgroup(dir);
  }

  /** Kills by the kernel for memory in it; undefined where it is not counted. */
  memoryKills(dir: string): number | undefined {
    try {
      const count = /^oom_kill (\d+)$/m.exec(this.files.read(join(dir, "memory.events")))?.[1];
      return count === undefined ? undefined : Number(count);
    } catch {
      return undefined;
    }
  }

  /** Every process in it and in what was made below it. Throws where it cannot be read. */
  members(dir: string): readonly number[] {
    const own = this.files.read(join(dir, "cgroup.procs")).split("\n").filter(Boolean).map(Number);
    return [...own, ...this.files.list(dir).flatMap((name) => this.members(join(dir, name)))];
  }

  /** SIGKILL to all of it at once: what is just being forked has no way out. */
  kill(dir: string): void {
    this.files.write(join(dir, "cgroup.kill"), "1");
  }

  /** With what was made below it. One that still has processes stays, and goes at a next start. */
  remove(dir: string): void {
    try {
      for (const name of this.files.list(dir)) this.remove(join(dir, name));
      this.files.remove(dir);
    } catch {
      // Busy, or gone.
    }
  }
}
