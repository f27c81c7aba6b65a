/** The guard of this node's lease: found by its file, or started (docs/decisions/0081). */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import {
  exists,
  identityOf,
  livenessOf,
  NOBODY,
  readProc,
  readStat,
  signalProcess,
} from "../../adapters/process/identity.ts";
import { theReaper } from "../../adapters/process/reaper.ts";
import { readRegular } from "../../base/files/regular-file.ts";
import {
  CLUSTER_ANSWER_MS,
  CLUSTER_GUARD_POLL_MS,
  CLUSTER_GUARD_WORDS_MAX_BYTES,
} from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import { clusterGuardFile } from "../paths.ts";
import { guardArguments } from "./guard-process.ts";

export class LeaseGuard {
  private readonly file: string;
  /** The command line of the guard; undefined on a machine that can have none. */
  private readonly words: readonly [perl: string, ...args: string[]] | undefined;
  private known: ProcessIdentity | undefined;
  private starting: Promise<void> | undefined;

  static open(stateDir: string, store_id: string, node: string): LeaseGuard {
    return new LeaseGuard(stateDir, store_id, node);
  }

  private constructor(stateDir: string, store_id: string, node: string) {
    const reaper = theReaper();
    this.file = clusterGuardFile(stateDir);
    this.words = reaper && [reaper.perl, ...guardArguments(reaper.calls, { stateDir, store_id, node })];
  }

  /** False for a guard that is stopped, too: it would end nothing. */
  isAlive(): boolean {
    const seen = livenessOf(this.known ?? NOBODY);
    if (seen === "running") return true;
    if (seen !== "stopped") this.known = this.find();
    return this.known !== undefined && livenessOf(this.known) === "running";
  }

  /** Resolves once a guard lives. */
  async ensure(): Promise<void> {
    if (this.isAlive()) return;
    this.starting ??= this.start().finally(() => {
      this.starting = undefined;
    });
    await this.starting;
  }

  private async start(): Promise<void> {
    const { words } = this;
    if (words === undefined)
      throw new HoldfastError(
        "BINARY_NOT_FOUND",
        "A node of a cluster needs the program /usr/bin/perl on an x64 or arm64 Linux: it is the guard that ends runs without a lease.",
        { suggestion: "Install perl, or leave the cluster: agent cluster leave" },
      );
    const deadline = performance.now() + CLUSTER_ANSWER_MS;
    let child: ChildProcess | undefined;
    let failure: unknown;
    do {
      if (this.known !== undefined) signalProcess(this.known, "SIGCONT");
      this.endOther();
      // A guard that met the lock of another ends, and the other may have been ending.
      if (this.known === undefined && hasEnded(child)) {
        child = begin(words);
        child.on("error", (cause) => {
          failure = cause;
        });
      }
      await sleep(CLUSTER_GUARD_POLL_MS);
      if (this.isAlive()) return;
    } while (performance.now() < deadline);
    throw new HoldfastError(
      "UNAVAILABLE",
      `The guard of the lease did not start within ${CLUSTER_ANSWER_MS} ms.`,
      { cause: failure },
    );
  }

  /** A guard of another node or of another version holds the file: its rules are not ours. */
  private endOther(): void {
    const named = this.named();
    if (named !== undefined && this.known === undefined && isGuard(named)) signalProcess(named, "SIGKILL");
  }

  private find(): ProcessIdentity | undefined {
    const named = this.named();
    if (named === undefined || this.words === undefined) return undefined;
    return wordsOf(named) === `${this.words.join("\0")}\0` ? named : undefined;
  }

  /** The living process of the file. */
  private named(): ProcessIdentity | undefined {
    const [, pid, start_time] =
      /^(\d+) (\d+)\n$/.exec(readRegular(this.file)?.toString("latin1") ?? "") ?? [];
    if (pid === undefined || start_time === undefined || !exists(Number(pid))) return undefined;
    return readStat(Number(pid))?.start_time === start_time ? identityOf(Number(pid), start_time) : undefined;
  }
}

const into = Buffer.allocUnsafe(CLUSTER_GUARD_WORDS_MAX_BYTES);
const wordsOf = ({ pid }: ProcessIdentity): string => readProc(`/proc/${pid}/cmdline`, into).toString();
const isGuard = (named: ProcessIdentity): boolean => wordsOf(named).includes("\0-e\0# holdfast guard\n");

const hasEnded = (child: ChildProcess | undefined): boolean =>
  child === undefined || child.exitCode !== null || child.signalCode !== null;

/** Nothing of the daemon is open in it, and no variable marks it as part of a run. */
const begin = ([perl, ...args]: readonly [string, ...string[]]): ChildProcess => {
  const child = spawn(perl, args, { cwd: "/", env: { LC_ALL: "C" }, detached: true, stdio: "ignore" });
  child.unref();
  return child;
};
