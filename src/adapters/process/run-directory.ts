/**
 * The files of one incarnation: `<runsDir>/<worker>/<incarnation>/`, a directory 0700 with files 0600 (architecture §8).
 * Every reader answers undefined where there is nothing (whole) to be read yet, and throws where it cannot look.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { StdinPlan } from "../adapter.ts";
import type { RunId } from "../spawner.ts";
import { parseStatus } from "./exit.ts";
import { identityOf, type Place } from "./identity.ts";
import type { Litter } from "./litter.ts";

export const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

/** What the next daemon must know beside what the run's processes wrote themselves; written before the spawn. */
export interface RunFile extends RunId, Place {
  readonly version: 1;
  readonly stdin: StdinPlan["kind"];
  /** Of what was put into it before the launch. */
  readonly stdin_bytes: number;
  /** The run's own cgroup, where it has one. */
  readonly cgroup?: string;
  /** `pid` is of what watches over the agent in its sandbox. */
  readonly is_monitor?: true;
  readonly litter?: Litter;
}

export const runDirectory = (runsDir: string, { worker_id, incarnation }: RunId): string =>
  join(runsDir, worker_id, String(incarnation));

/** Fails with INVALID_STATE when the incarnation has a directory already: it was begun before. */
export const makeRunDirectory = (dir: string): void => {
  mkdirSync(join(dir, ".."), { recursive: true, mode: DIRECTORY_MODE });
  try {
    mkdirSync(dir, { mode: DIRECTORY_MODE });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    throw new HoldfastError(
      "INVALID_STATE",
      `The run directory ${dir} exists: this incarnation was begun before.`,
      { cause },
    );
  }
};

/** Most looks find nothing; asking first is cheaper than an exception. Throws where a file that is there cannot be read. */
const text = (path: string): string | undefined => {
  if (!existsSync(path)) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw cause;
  }
};

export const writeRunFile = (dir: string, run: RunFile): void =>
  writeFileSync(join(dir, "run.json"), `${JSON.stringify(run)}\n`, { mode: FILE_MODE });

export const readRunFile = (dir: string): RunFile | undefined => {
  const written = text(join(dir, "run.json")) ?? "";
  try {
    const run = JSON.parse(written) as RunFile;
    return typeof run.boot_id === "string" && typeof run.pid_ns === "string" ? run : undefined;
  } catch {
    return undefined;
  }
};

/** `claimed` is of the launcher, `pid` of the agent, `pump` of the helper that feeds an open stdin. */
export const readIdentity = (
  dir: string,
  file: "claimed" | "pid" | "pump",
  place: Place,
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
export const hasExecFailed = (dir: string): boolean => existsSync(join(dir, "exec_failed"));

/** Signals that we sent stay known over a restart of the daemon. */
export const noteSignal = (dir: string, signal: string): void => {
  try {
    appendFileSync(join(dir, "signals"), `${signal}\n`, { mode: FILE_MODE });
  } catch {
    // Nowhere to write: the signal is then told as inferred, which is true too.
  }
};

export const readSignals = (dir: string): readonly string[] =>
  (text(join(dir, "signals")) ?? "").split("\n").filter(Boolean);
