/** The daemon that the nemesis torments, and the processes of its agents as the process table shows them, whoever supervises. */
import {
  identityOf,
  isAlive,
  listPids,
  readProc,
  readStat,
  signalProcess,
} from "../../../src/adapters/process/identity.ts";
import { LAUNCHER_CMDLINE } from "../../../src/adapters/process/launcher.ts";
import { markerIn } from "../../../src/adapters/process/marker.ts";
import type { ProcessIdentity } from "../../../src/protocol/records.ts";
import { type Launched, launchDaemon, lives, sleep, until } from "../client.ts";

export interface Victim {
  readonly identity: ProcessIdentity;
  readonly worker_id: string;
  readonly isLauncher: boolean;
}

/** Its disk is small from the start, and shall be full only when it is filled. */
const SURROUNDINGS = { env: { HOLDFAST_DISK_MIN: "4M" } };

/** A daemon that could not start (its disk is full) is started again so often. */
const RELAUNCH_MS = 200;
const RELAUNCHES_MAX = 600;

export class World {
  readonly stateDir: string;
  daemon: Launched;
  starts = 0;
  #storeId = "";

  private constructor(stateDir: string, daemon: Launched) {
    this.stateDir = stateDir;
    this.daemon = daemon;
  }

  static async open(stateDir: string): Promise<World> {
    const world = new World(stateDir, launchDaemon(stateDir, SURROUNDINGS));
    await world.#up();
    return world;
  }

  /** SIGKILL, then the next one. `between` happens while nobody supervises, `meanwhile` while the next one boots. */
  async replace(between: () => void, meanwhile: () => void): Promise<void> {
    await this.daemon.kill9();
    between();
    this.daemon = launchDaemon(this.stateDir, SURROUNDINGS);
    meanwhile();
    await this.#up();
  }

  /** The same version takes over; whoever serves afterwards, and it may be one more start of the old one, is ours. */
  async upgrade(): Promise<boolean> {
    const before = this.daemon;
    const isDone = await before.agent("daemon", "upgrade", "--force", "-o", "json").then(
      () => true,
      () => false,
    );
    let pid: number | undefined;
    await until("a daemon answers after an upgrade", async () => {
      const status = await before.request<{ pid: number }>("daemon/status", {}).catch(() => undefined);
      pid = status?.pid;
      return pid !== undefined || isGone(before);
    });
    if (pid === undefined) {
      this.daemon = launchDaemon(this.stateDir, SURROUNDINGS);
      await this.#up();
    } else if (pid !== before.pid) {
      this.daemon = attached(before, pid);
      this.starts += 1;
    }
    return isDone;
  }

  async #up(): Promise<void> {
    for (let tries = 0; !(await this.daemon.answers()); tries += 1) {
      if (tries >= RELAUNCHES_MAX) throw new Error(`no daemon starts any more: ${this.daemon.said()}`);
      await sleep(RELAUNCH_MS);
      this.daemon = launchDaemon(this.stateDir, SURROUNDINGS);
    }
    this.#storeId = this.daemon.storeId() as string;
    this.starts += 1;
  }

  get storeId(): string {
    return this.#storeId;
  }

  /** Everyone that carries a marker of this store, oldest pid first. */
  processes(): readonly Victim[] {
    const block = Buffer.alloc(64 * 1024);
    return listPids().flatMap((pid) => {
      const stat = readStat(pid);
      const environ = stat && readProc(`/proc/${pid}/environ`, block);
      const marker = typeof environ === "object" ? markerIn(environ) : undefined;
      if (marker === undefined || !marker.startsWith(`${this.#storeId}/`)) return [];
      const cmdline = readProc(`/proc/${pid}/cmdline`);
      const isLauncher =
        typeof cmdline === "object" && cmdline.subarray(0, LAUNCHER_CMDLINE.length).equals(LAUNCHER_CMDLINE);
      const [, worker_id = ""] = marker.split("/");
      return [
        { identity: identityOf(pid, (stat as { start_time: string }).start_time), worker_id, isLauncher },
      ];
    });
  }
}

export const signal = ({ identity }: Victim, name: NodeJS.Signals): boolean =>
  isAlive(identity) && signalProcess(identity, name);

const isGone = (daemon: Launched): boolean => daemon.ended();

/** A daemon that somebody else started. */
const attached = (before: Launched, pid: number): Launched => {
  const startTime = readStat(pid)?.start_time;
  const ended = () => !lives(pid, startTime);
  const kill = (name: NodeJS.Signals): boolean =>
    startTime !== undefined && signalProcess(identityOf(pid, startTime), name);
  return {
    ...before,
    pid,
    ended,
    signal: kill,
    kill9: async () => {
      kill("SIGKILL");
      await until("the daemon is gone", ended);
    },
  };
};
