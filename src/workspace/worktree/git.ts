/**
 * Runs git with argv, never a shell; with its own environment; bounded in time, output and number at once. No hook of the
 * repository and no monitor in its configuration runs; its filters do (git-lfs needs them). Processes that they leave behind
 * are ended with git.
 */
import { PATH_DEFAULT } from "../../adapters/process/programs.ts";
import { kept } from "../../adapters/process/reaper.ts";
import { signalOwnGroup } from "../../adapters/process/stop.ts";
import { GIT_AT_ONCE_MAX, GIT_GRACE_MS, GIT_MAX_MS, GIT_OUTPUT_MAX_BYTES } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";

/** Variables of the client that locate its git and git's configuration. No GIT_* variable is passed on. */
export type ClientEnvironment = Readonly<Record<string, string>>;

export interface GitCall {
  readonly cwd: string;
  readonly client_env: ClientEnvironment;
  /** Our variables: the index and the object directory to use. */
  readonly env?: Readonly<Record<string, string>>;
  readonly max_ms?: number;
  readonly max_bytes?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface GitAnswer {
  readonly ok: boolean;
  readonly stdout: Buffer;
  /** The last line of git's error output, without "fatal: ". */
  readonly complaint: string;
  /** git printed more than `max_bytes`, and was ended. */
  readonly isCut: boolean;
}

const QUIET = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "submodule.recurse=false",
  "core.quotePath=false",
  "advice.addEmbeddedRepo=false",
].flatMap((setting) => ["-c", setting]);

const environmentOf = ({ PATH = PATH_DEFAULT, HOME, XDG_CONFIG_HOME, TMPDIR }: ClientEnvironment) => ({
  PATH,
  ...(HOME === undefined ? {} : { HOME }),
  ...(XDG_CONFIG_HOME === undefined ? {} : { XDG_CONFIG_HOME }),
  ...(TMPDIR === undefined ? {} : { TMPDIR }),
  // A program reads the output.
  LC_ALL: "C",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
});

let atWork = 0;
const waiting: (() => void)[] = [];

const stopped = (): HoldfastError =>
  new HoldfastError("WORKER_CANCELLED", "The worker was stopped before its agent was started.");

/** Waits for one of GIT_AT_ONCE_MAX slots, in order, until aborted. */
const inTurn = async <A>(signal: AbortSignal | undefined, work: () => Promise<A>): Promise<A> => {
  if (signal?.aborted === true) throw stopped();
  if (atWork >= GIT_AT_ONCE_MAX) await placeGiven(signal);
  else atWork += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) atWork -= 1;
    else next();
  }
};

/** An aborted caller leaves the queue, so that its slot is not handed to someone who is gone. */
const placeGiven = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const go = (): void => {
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    const leave = (): void => {
      waiting.splice(waiting.indexOf(go), 1);
      reject(stopped());
    };
    waiting.push(go);
    signal?.addEventListener("abort", leave, { once: true });
  });

const complaintOf = (stderr: string): string => {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const fatal = lines.find((line) => /^(fatal|error):/.test(line)) ?? lines.at(-1) ?? "";
  return fatal.replace(/^(fatal|error): /, "").slice(0, 500);
};

interface GitDeadline {
  readonly max_ms: number;
  readonly signal: AbortSignal | undefined;
  /** The signal after the grace. */
  readonly last: NodeJS.Signals;
}

/** Ends git. TERM lets it undo its work. The signal goes to its process group, because its filters hold its output open. */
const ended = async <R>(
  running: Promise<R> & { readonly pid?: number },
  { max_ms, signal, last: sent }: GitDeadline,
): Promise<{ readonly result: R; readonly why: "late" | "unwanted" | undefined }> => {
  let why: "late" | "unwanted" | undefined;
  let last: NodeJS.Timeout | undefined;
  const stop = (because: "late" | "unwanted"): void => {
    if (why !== undefined) return;
    why = because;
    signalOwnGroup(running.pid, "SIGTERM");
    last = setTimeout(() => signalOwnGroup(running.pid, sent), GIT_GRACE_MS);
  };
  const late = setTimeout(() => stop("late"), max_ms);
  const unwanted = (): void => stop("unwanted");
  signal?.addEventListener("abort", unwanted);
  if (signal?.aborted === true) unwanted();
  try {
    return { result: await running, why };
  } finally {
    clearTimeout(late);
    clearTimeout(last);
    signal?.removeEventListener("abort", unwanted);
  }
};

/** Fails with WORKTREE_UNAVAILABLE if git is missing or takes too long; a refusal by git is an answer. */
export const git = (args: readonly string[], call: GitCall): Promise<GitAnswer> =>
  inTurn(call.signal, async () => {
    const { cwd, client_env, env = {}, max_ms = GIT_MAX_MS, max_bytes = GIT_OUTPUT_MAX_BYTES, signal } = call;
    const command = kept("git", [...QUIET, ...args], { ...environmentOf(client_env), ...env });
    // Most daemons make no worktree.
    const { execa } = await import("execa");
    const running = execa(command.program, command.args, {
      cwd,
      env: command.env,
      extendEnv: false,
      stdin: "ignore",
      encoding: "buffer",
      maxBuffer: max_bytes,
      reject: false,
      stripFinalNewline: false,
      detached: true,
      forceKillAfterDelay: false,
    });
    const { result, why } = await ended(running, { max_ms, signal, last: command.last });
    if (why === "unwanted") throw stopped();
    if (why === "late")
      throw new HoldfastError(
        "WORKTREE_UNAVAILABLE",
        `git ${args.find((word) => /^[a-z]/.test(word)) ?? ""} was not done within ${max_ms / 1000} s in ${cwd}.`,
        { suggestion: "See whether the disk is slow or another git holds a lock, then try again." },
      );
    if (result.code === "ENOENT" || (result.exitCode !== undefined && result.exitCode === command.not_found))
      throw new HoldfastError("WORKTREE_UNAVAILABLE", "There is no git on the worker's PATH.", {
        suggestion: "Install git, or leave --worktree out.",
      });
    const stderr = Buffer.from(result.stderr ?? new Uint8Array()).toString();
    return {
      ok: result.exitCode === 0,
      stdout: Buffer.from(result.stdout ?? new Uint8Array()),
      complaint: complaintOf(stderr) || (result.shortMessage ?? ""),
      isCut: result.isMaxBuffer,
    };
  });

/** One line of git's output, or undefined if git refuses. */
export const gitLine = async (args: readonly string[], call: GitCall): Promise<string | undefined> => {
  const { ok, stdout } = await git(args, call);
  return ok ? stdout.toString().replace(/\n$/, "") : undefined;
};
