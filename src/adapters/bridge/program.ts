/**
 * The program of a bridge: started by the daemon where the configuration names a command, and told by the kernel. It outlives
 * the daemon, as agents do, so that its runs do.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { ProcessIdentity } from "../../protocol/records.ts";
import { identityOf, livenessOf, readStat } from "../process/identity.ts";

/** The identity of a process that lives now; undefined for one that cannot be seen. */
export const hostOf = (pid: number | undefined): ProcessIdentity | undefined => {
  const stat = pid === undefined || pid <= 0 ? undefined : readStat(pid);
  return stat === undefined ? undefined : identityOf(stat.pid, stat.start_time);
};

/** True if the process has ended, so that everything in it has. False where that is not known. */
export const isGone = (host: ProcessIdentity | undefined): boolean => {
  if (host === undefined) return false;
  const liveness = livenessOf(host);
  return liveness === "dead" || liveness === "zombie";
};

const LOG_MODE = 0o600;

export interface BridgeProgramPlan {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the file for all that it prints. */
  readonly log: string;
}

export class BridgeProgram {
  private readonly plan: BridgeProgramPlan;
  private child: ChildProcess | undefined;
  /** How the last one ended, or why it could not be started. */
  private end: string | undefined;

  constructor(plan: BridgeProgramPlan) {
    this.plan = plan;
  }

  get log(): string {
    return this.plan.log;
  }

  /** The process that this daemon has started; undefined while none runs. */
  pid(): number | undefined {
    return this.child?.pid;
  }

  /** How it failed, as the end of a sentence; undefined while it runs. */
  failure(): string | undefined {
    return this.child === undefined ? this.end : undefined;
  }

  /** Starts it unless it runs. */
  start(): void {
    if (this.child !== undefined) return;
    const { command, env, log } = this.plan;
    let fd: number | undefined;
    try {
      fd = openSync(log, "a", LOG_MODE);
      const child = spawn(command[0]!, command.slice(1), {
        cwd: "/",
        env,
        detached: true,
        stdio: ["ignore", fd, fd],
      });
      this.child = child;
      const ended = (how: string) => {
        if (this.child === child) this.child = undefined;
        this.end = how;
      };
      child.once("error", (cause) => ended(`it cannot be started: ${cause.message}`));
      child.once("exit", (code, signal) => ended(`it ended with ${signal ?? `code ${code}`}`));
      child.unref();
    } catch (cause) {
      this.end = `it cannot be started: ${(cause as Error).message}`;
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }

  /** Asks the one that this daemon has started to end. */
  stop(): void {
    this.child?.kill("SIGTERM");
  }
}
