/**
 * The files of one incarnation: `<runsDir>/<worker>/<incarnation>/`, a directory 0700 with files 0600
 * (processes.md, The files of a run). The agent can write there, so the log overrules these files, and no open follows a link
 * or waits (docs/explanation/security.md). Every reader returns undefined if there is no (complete) content
 * yet, and throws if it cannot read.
 */
import { closeSync, existsSync, mkdirSync, writeFileSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { APPEND, openRegular, readRegular, statAt } from "../../base/files/regular-file.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { StdinPlan } from "../adapter.ts";
import type { RunId } from "../spawner.ts";
import { parseStatus } from "./exit.ts";
import { type BootNamespace, identityOf } from "./identity.ts";
import type { Litter } from "./litter.ts";

export const FILE_MODE = 0o600;
export const DIRECTORY_MODE = 0o700;

/** Facts for the next daemon, besides those that the run's processes write. Written before the spawn. */
export interface RunFile extends RunId, BootNamespace {
  readonly version: 1;
  readonly stdin: StdinPlan["kind"];
  /** The length of the stdin file before the launch. */
  readonly stdin_bytes: number;
  /** The run's own cgroup, if it has one. */
  readonly cgroup?: string;
  /** `pid` is the process that watches over the agent in its sandbox. */
  readonly is_monitor?: true;
  /** It has a container, whose name follows from its marker. */
  readonly is_container?: true;
  readonly litter?: Litter;
}

export const runDirectory = (runsDir: string, { worker_id, incarnation }: RunId): string =>
  join(runsDir, worker_id, String(incarnation));

/** In most cases the worker already has a directory. */
const makeBelow = (dir: string): void => {
  try {
    mkdirSync(dir, { mode: DIRECTORY_MODE });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
    mkdirSync(dirname(dir), { recursive: true, mode: DIRECTORY_MODE });
    mkdirSync(dir, { mode: DIRECTORY_MODE });
  }
};

/** Fails with INVALID_STATE if the directory exists: the incarnation was begun before. */
export const makeRunDirectory = (dir: string): void => {
  try {
    makeBelow(dir);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    throw new HoldfastError(
      "INVALID_STATE",
      `The run directory ${dir} already exists: this incarnation was started before.`,
      { cause },
    );
  }
};

const text = (path: string): string | undefined => readRegular(path)?.toString("utf8");

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

/** Rejects a file that an agent has replaced. */
const isRunFile = (value: unknown): value is RunFile => {
  if (typeof value !== "object" || value === null) return false;
  const { boot_id, pid_ns, stdin, stdin_bytes, cgroup, litter } = value as Partial<RunFile>;
  return (
    typeof boot_id === "string" &&
    typeof pid_ns === "string" &&
    ["empty", "text", "open"].includes(stdin ?? "") &&
    ["number", "undefined"].includes(typeof stdin_bytes) &&
    ["string", "undefined"].includes(typeof cgroup) &&
    (litter === undefined || (litter !== null && isTextList(litter.paths) && isTextList(litter.owned)))
  );
};

/** Once, to a new file or an empty one; a file that is cut first is slower on ext4. */
export const writeRunFile = (dir: string, run: RunFile): void =>
  writeFileSync(join(dir, "run.json"), `${JSON.stringify(run)}\n`, { mode: FILE_MODE, flag: "a" });

export const readRunFile = (dir: string): RunFile | undefined => {
  const written = text(join(dir, "run.json")) ?? "";
  try {
    const run: unknown = JSON.parse(written);
    return isRunFile(run) ? run : undefined;
  } catch {
    return undefined;
  }
};

/**
 * `claimed` is written by the launcher, `pid` by the agent, `pump` by the helper that feeds an open stdin.
 * The result is only a claim: the caller checks it against the log or the process table (vouching.ts).
 */
export const readIdentity = (
  dir: string,
  file: "claimed" | "pid" | "pump",
  place: BootNamespace,
): ProcessIdentity | undefined => {
  const [, pid, start_time] = /^(\d+) (\d+)\n$/.exec(text(join(dir, file)) ?? "") ?? [];
  return pid === undefined || start_time === undefined
    ? undefined
    : identityOf(Number(pid), start_time, place);
};

/**
 * Claims a run that no launcher has claimed, so that none will ever run. False if a launcher or an earlier
 * reconcile was first.
 */
export const claim = (dir: string): boolean => {
  try {
    writeFileSync(join(dir, "claimed"), CLAIMED_BY_RECONCILE, { flag: "wx", mode: FILE_MODE });
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw cause;
  }
};

/** An empty file that is there already becomes `claimed` by a second name, which only one can give. */
export const SPARE_CLAIM = "claimed.spare";

const CLAIMED_BY_RECONCILE = "reconcile\n";
export const isClaimedByReconcile = (dir: string): boolean =>
  text(join(dir, "claimed")) === CLAIMED_BY_RECONCILE;

export const readExitStatus = (dir: string): number | undefined => parseStatus(text(join(dir, "exit")) ?? "");
/** A complete status that was not renamed, because its launcher died in between. */
export const readUnrenamedStatus = (dir: string): number | undefined =>
  parseStatus(text(join(dir, "exit.tmp")) ?? "");
/** Made by the lifeline before it ends the run, because no daemon held it any more. */
export const SUPERVISOR_DIED = "supervisor_died";
export const hasSupervisorDied = (dir: string): boolean => existsSync(join(dir, SUPERVISOR_DIED));
/** Made by the guard of a node of a cluster before it ends the run, because the node's lease was over. */
export const LEASE_LOST = "lease_lost";
export const hasLostLease = (dir: string): boolean => existsSync(join(dir, LEASE_LOST));
/** Made by a daemon that takes the run over, so that the launcher waits for its sweep. */
export const TAKEN_OVER = "taken_over";
export const noteTakeOver = (dir: string): void => {
  try {
    closeSync(openRegular(join(dir, TAKEN_OVER), APPEND, FILE_MODE));
  } catch {
    // The file cannot be written: the launcher may end before the sweep, whose report then says less.
  }
};
export const hasExecFailed = (dir: string): boolean => existsSync(join(dir, "exec_failed"));

/** Signals that we sent stay known after a restart of the daemon. */
export const noteSignal = (dir: string, signal: string): void => {
  try {
    const fd = openRegular(join(dir, "signals"), APPEND, FILE_MODE);
    try {
      writeSync(fd, `${signal}\n`);
    } finally {
      closeSync(fd);
    }
  } catch {
    // The file cannot be written: the signal is then reported as inferred.
  }
};

export const readSignals = (dir: string): readonly string[] =>
  (text(join(dir, "signals")) ?? "").split("\n").filter(Boolean);

/** The configuration of podman for a run with a container. */
export const CONTAINER_CONFIGURATION = "containers.conf";

/** Every name that the runtime uses in a run directory, and its type in an untouched run. */
const NAMES: Readonly<Record<string, "file" | "fifo">> = {
  "run.json": "file",
  claimed: "file",
  pid: "file",
  pump: "file",
  exit: "file",
  "exit.tmp": "file",
  exec_failed: "file",
  [SUPERVISOR_DIED]: "file",
  [LEASE_LOST]: "file",
  [TAKEN_OVER]: "file",
  signals: "file",
  stdin: "file",
  "stdin.eof": "file",
  [CONTAINER_CONFIGURATION]: "file",
  "stdin.fifo": "fifo",
  stdout: "file",
  "stdout.released": "file",
  stderr: "file",
  "stderr.released": "file",
};

export interface MisplacedFile {
  readonly file: string;
  /** The type that was found. */
  readonly found: "link" | "fifo" | "directory" | "socket" | "device" | "file";
}

/**
 * Entries under names of ours in a run directory, or the directory itself or its worker's, that have the
 * wrong type. The cost does not depend on other files in the directory.
 */
export const misplacedIn = (dir: string): readonly MisplacedFile[] => {
  const worker = `runs/${basename(dirname(dir))}`;
  const look = (path: string, file: string, expected: MisplacedFile["found"]): readonly MisplacedFile[] => {
    const found = typeAt(path);
    return found === undefined || found === expected ? [] : [{ file, found }];
  };
  return [
    ...look(dirname(dir), worker, "directory"),
    ...look(dir, `${worker}/${basename(dir)}`, "directory"),
    ...Object.entries(NAMES).flatMap(([file, expected]) => look(join(dir, file), file, expected)),
  ];
};

/** Whether the run directory exists as a directory: the agent may have moved or replaced it. */
export const hasRunDirectory = (dir: string): boolean => typeAt(dir) === "directory";

const typeAt = (path: string): MisplacedFile["found"] | undefined => {
  const stats = statAt(path);
  if (stats === undefined) return undefined;
  if (stats.isFile()) return "file";
  if (stats.isSymbolicLink()) return "link";
  if (stats.isFIFO()) return "fifo";
  if (stats.isDirectory()) return "directory";
  return stats.isSocket() ? "socket" : "device";
};
