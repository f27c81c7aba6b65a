/**
 * The identity of a process: pid, start time, boot and pid namespace (processes.md, Identity). A pid alone
 * is never trusted: the identity is checked immediately before each signal, a zombie without other threads counts as dead, and a
 * recycled pid is never signalled.
 */
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";
import type { ProcessIdentity } from "../../protocol/records.ts";

/** The fields of /proc/PID/stat that supervision needs (proc_pid_stat(5)). */
export interface ProcessStat {
  readonly pid: number;
  /** One letter: R, S and D run, T and t are stopped, Z and X are dead. */
  readonly state: string;
  readonly ppid: number;
  readonly pgrp: number;
  readonly session: number;
  readonly start_time: string;
}

export type Liveness = "running" | "stopped" | "zombie" | "dead";

const buffer = Buffer.allocUnsafe(4096);

/**
 * Errors that mean "nothing to read" or "not permitted". Any other error (EMFILE) says nothing about the
 * process and is thrown.
 */
const IS_ANSWER: ReadonlySet<string | undefined> = new Set(["ENOENT", "ESRCH", "EACCES", "EPERM", "ENOTDIR"]);

/**
 * The first bytes of a file of /proc, in a shared buffer that is valid until the next call; an errno if there
 * is nothing that we may read. Throws if this process cannot read at all, as without free descriptors.
 */
export const readProc = (path: string, into: Buffer = buffer): Buffer | string => {
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    return into.subarray(0, readSync(fd, into, 0, into.length, 0));
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    if (IS_ANSWER.has(code)) return code;
    throw cause;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
};

/** Fields between the session and the start time. */
const FIELDS_PASSED = 15;

/**
 * The command name is in parentheses and may contain anything, also ")", so the fields are those after the
 * last ")". Fields are parsed without a string for each, because an idle daemon reads hundreds of these files
 * per second.
 */
export const parseStat = (text: string): ProcessStat | undefined => {
  const close = text.lastIndexOf(")");
  if (close < 0) return undefined;
  let at = close + 2;
  const next = (): string => {
    const from = at;
    const end = text.indexOf(" ", from);
    at = end < 0 ? text.length + 1 : end + 1;
    return text.slice(from, at - 1);
  };
  const [state, ppid, pgrp, session] = [next(), next(), next(), next()];
  for (let n = 0; n < FIELDS_PASSED; n += 1) {
    const end = text.indexOf(" ", at);
    if (end < 0) return undefined;
    at = end + 1;
  }
  return {
    pid: Number.parseInt(text, 10),
    state,
    ppid: Number(ppid),
    pgrp: Number(pgrp),
    session: Number(session),
    start_time: next(),
  };
};

const statAt = (path: string): ProcessStat | undefined => {
  const bytes = readProc(path);
  return typeof bytes === "string" ? undefined : parseStat(bytes.toString("latin1"));
};

/** A process whose first thread has ended, while another goes on, has the state of the other: it is no zombie yet. */
export const readStat = (pid: number): ProcessStat | undefined => {
  const stat = statAt(`/proc/${pid}/stat`);
  if (stat?.state !== "Z") return stat;
  const other = otherThread(pid);
  // By now the pid may be that of another process.
  const isSame = other !== undefined && statAt(`/proc/${pid}/stat`)?.start_time === stat.start_time;
  return isSame ? { ...stat, state: other.state } : stat;
};

/** A living thread besides the first: its directory of /proc has what that of the process no longer shows. */
export const otherThread = (pid: number): { readonly path: string; readonly state: string } | undefined => {
  for (const tid of threadsOf(pid)) {
    const path = `/proc/${pid}/task/${tid}`;
    const state = tid === pid ? undefined : statAt(`${path}/stat`)?.state;
    if (state !== undefined && !isDeadState(state)) return { path, state };
  }
  return undefined;
};

/** Every pid that /proc lists now. */
export const listPids = (): number[] => numbersIn("/proc");

const numbersIn = (path: string): number[] => {
  const numbers: number[] = [];
  for (const name of readdirSync(path)) {
    const first = name.charCodeAt(0);
    if (first >= 0x31 && first <= 0x39) numbers.push(Number(name));
  }
  return numbers;
};

/** Empty for a process that is gone. */
const threadsOf = (pid: number): readonly number[] => {
  try {
    return numbersIn(`/proc/${pid}/task`);
  } catch (cause) {
    if (IS_ANSWER.has((cause as NodeJS.ErrnoException).code)) return [];
    throw cause;
  }
};

export const isDeadState = (state: string): boolean => state === "Z" || state === "X" || state === "x";

/** The boot and the pid namespace of this process. Identities that it makes are valid only there. */
export interface BootNamespace {
  readonly boot_id: string;
  readonly pid_ns: string;
}

let place: BootNamespace | undefined;

export const currentPlace = (): BootNamespace => {
  place ??= {
    boot_id: readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim(),
    pid_ns: readlinkSync("/proc/self/ns/pid"),
  };
  return place;
};

export const identityOf = (
  pid: number,
  start_time: string,
  where: BootNamespace = currentPlace(),
): ProcessIdentity => ({
  pid,
  start_time,
  boot_id: where.boot_id,
  pid_ns: where.pid_ns,
});

/** The pid of a run whose process is unknown. It counts as dead and is never signalled. */
export const NO_PROCESS = 0;

export const NOBODY: ProcessIdentity = { pid: NO_PROCESS, start_time: "", boot_id: "", pid_ns: "" };

/** False if the boot is unknown. */
export const isOfOtherBoot = ({ boot_id }: ProcessIdentity): boolean =>
  boot_id !== "" && boot_id !== currentPlace().boot_id;

const isHere = ({ boot_id, pid_ns }: ProcessIdentity): boolean =>
  boot_id === currentPlace().boot_id && pid_ns === currentPlace().pid_ns;

/** pid → start time for the identities of this boot and namespace. Other pids mean nothing here. */
export const knownHere = (...identities: readonly ProcessIdentity[]): Map<number, string> =>
  new Map(identities.filter(isHere).map(({ pid, start_time }) => [pid, start_time]));

/** The stat of exactly this process; undefined if it is gone or its pid was reused. */
const statOf = (identity: ProcessIdentity): ProcessStat | undefined => {
  if (identity.pid <= NO_PROCESS || !isHere(identity)) return undefined;
  const stat = readStat(identity.pid);
  return stat?.start_time === identity.start_time ? stat : undefined;
};

export const livenessOf = (identity: ProcessIdentity): Liveness => {
  let stat: ProcessStat | undefined;
  try {
    stat = statOf(identity);
  } catch {
    // Without a free descriptor its state cannot be read, so it is not called dead.
    return exists(identity.pid) ? "running" : "dead";
  }
  if (stat === undefined || stat.state === "X" || stat.state === "x") return "dead";
  if (stat.state === "Z") return "zombie";
  return stat.state === "T" || stat.state === "t" ? "stopped" : "running";
};

/** Whether any process has this pid. It needs no descriptor, but does not tell which process it is. */
export const exists = (pid: number): boolean => {
  try {
    return pid > NO_PROCESS && process.kill(pid, 0);
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
};

export const isAlive = (identity: ProcessIdentity): boolean => {
  const liveness = livenessOf(identity);
  return liveness === "running" || liveness === "stopped";
};

/**
 * Signals exactly this process. False if it is dead, its pid was reused, it may not be signalled, or it
 * cannot be read.
 */
export const signalProcess = (identity: ProcessIdentity, signal: NodeJS.Signals): boolean => {
  try {
    const stat = statOf(identity);
    return stat !== undefined && !isDeadState(stat.state) && process.kill(identity.pid, signal);
  } catch {
    return false;
  }
};
