/**
 * The files of one incarnation: `<runsDir>/<worker>/<incarnation>/`, a directory 0700 with files 0600 (architecture §8).
 * The agent can write there, so nothing in it is believed against the log, and no open follows a link or waits (docs/explanation/security.md).
 * Every reader answers undefined where there is nothing (whole) to be read yet, and throws where it cannot look.
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
const DIRECTORY_MODE = 0o700;

/** Facts that the next daemon must know beside what the run's processes wrote themselves; written before the spawn. */
export interface RunFile extends RunId, BootNamespace {
  readonly version: 1;
  readonly stdin: StdinPlan["kind"];
  /** The bytes that were put into it before the launch. */
  readonly stdin_bytes: number;
  /** The run's own cgroup, where it has one. */
  readonly cgroup?: string;
  /** `pid` is of what watches over the agent in its sandbox. */
  readonly is_monitor?: true;
  readonly litter?: Litter;
}

export const runDirectory = (runsDir: string, { worker_id, incarnation }: RunId): string =>
  join(runsDir, worker_id, String(incarnation));

/** The worker has a directory already, mostly. */
const makeBelow = (dir: string): void => {
  try {
    mkdirSync(dir, { mode: DIRECTORY_MODE });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
    mkdirSync(dirname(dir), { recursive: true, mode: DIRECTORY_MODE });
    mkdirSync(dir, { mode: DIRECTORY_MODE });
  }
};

/** Fails with INVALID_STATE when the incarnation has a directory already: it was begun before. */
export const makeRunDirectory = (dir: string): void => {
  try {
    makeBelow(dir);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    throw new HoldfastError(
      "INVALID_STATE",
      `The run directory ${dir} exists: this incarnation was begun before.`,
      { cause },
    );
  }
};

const text = (path: string): string | undefined => readRegular(path)?.toString("utf8");

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

/** A file that an agent has made of it is no run file. */
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

export const writeRunFile = (dir: string, run: RunFile): void =>
  writeFileSync(join(dir, "run.json"), `${JSON.stringify(run)}\n`, { mode: FILE_MODE });

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
 * `claimed` is of the launcher, `pid` of the agent, `pump` of the helper that feeds an open stdin. It is what the file says: the
 * caller asks the log or the process table whether it is true (vouching.ts).
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
 * Win the claim on a run that no launcher has claimed: none will then ever run. False when a launcher, or an earlier
 * reconcile, was first.
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

const CLAIMED_BY_RECONCILE = "reconcile\n";
export const isClaimedByReconcile = (dir: string): boolean =>
  text(join(dir, "claimed")) === CLAIMED_BY_RECONCILE;

export const readExitStatus = (dir: string): number | undefined => parseStatus(text(join(dir, "exit")) ?? "");
/** Written whole, but not renamed: what a launcher that died in between leaves. */
export const readUnrenamedStatus = (dir: string): number | undefined =>
  parseStatus(text(join(dir, "exit.tmp")) ?? "");
/** Made by the lifeline before it ends the run: no daemon held it any more. */
export const SUPERVISOR_DIED = "supervisor_died";
export const hasSupervisorDied = (dir: string): boolean => existsSync(join(dir, SUPERVISOR_DIED));
/** Made by a daemon that takes the run over: its launcher then stays for that daemon's sweep. */
export const TAKEN_OVER = "taken_over";
export const noteTakeOver = (dir: string): void => {
  try {
    closeSync(openRegular(join(dir, TAKEN_OVER), APPEND, FILE_MODE));
  } catch {
    // Nowhere to write: the launcher may end before the sweep, which then says less.
  }
};
export const hasExecFailed = (dir: string): boolean => existsSync(join(dir, "exec_failed"));

/** Signals that we sent stay known over a restart of the daemon. */
export const noteSignal = (dir: string, signal: string): void => {
  try {
    const fd = openRegular(join(dir, "signals"), APPEND, FILE_MODE);
    try {
      writeSync(fd, `${signal}\n`);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Nowhere to write: the signal is then told as inferred, which is true too.
  }
};

export const readSignals = (dir: string): readonly string[] =>
  (text(join(dir, "signals")) ?? "").split("\n").filter(Boolean);

/** Every name that the runtime uses in a run directory, and what lies there in a run that nobody has tampered with. */
const NAMES: Readonly<Record<string, "file" | "fifo">> = {
  "run.json": "file",
  claimed: "file",
  pid: "file",
  pump: "file",
  exit: "file",
  "exit.tmp": "file",
  exec_failed: "file",
  [SUPERVISOR_DIED]: "file",
  [TAKEN_OVER]: "file",
  signals: "file",
  stdin: "file",
  "stdin.eof": "file",
  "stdin.fifo": "fifo",
  stdout: "file",
  "stdout.released": "file",
  stderr: "file",
  "stderr.released": "file",
};

export interface MisplacedFile {
  readonly file: string;
  /** The thing that lies under its name. */
  readonly found: "link" | "fifo" | "directory" | "socket" | "device" | "file";
}

/**
 * Things that lie in a run directory under a name of ours, or in its own place or its worker's, and is something else. Each look costs the
 * same, whatever else is in it.
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

/** Whether there is one at all: the agent may have moved it away, and put something else in its place. */
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
