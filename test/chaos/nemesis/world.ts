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
import { markerIn } from "../../../src/adapters/process/sweep.ts";
import type { ProcessIdentity } from "../../../src/protocol/records.ts";
import { type Launched, launchDaemon, sleep } from "../client.ts";

export interface Victim {
  readonly identity: ProcessIdentity;
  readonly worker_id: string;
  readonly isLauncher: boolean;
}

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
    const world = new World(stateDir, launchDaemon(stateDir));
    await world.#up();
    return world;
  }

  /** SIGKILL, then the next one. `between` happens while nobody supervises, `meanwhile` while the next one boots. */
  async replace(between: () => void, meanwhile: () => void): Promise<void> {
    await this.daemon.kill9();
    between();
    this.daemon = launchDaemon(this.stateDir);
    meanwhile();
    await this.#up();
  }

  async #up(): Promise<void> {
    for (let tries = 0; !(await this.daemon.answers()); tries += 1) {
      if (tries >= RELAUNCHES_MAX) throw new Error(`no daemon starts any more: ${this.daemon.said()}`);
      await sleep(RELAUNCH_MS);
      this.daemon = launchDaemon(this.stateDir);
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
