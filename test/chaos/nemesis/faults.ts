/** How each fault is done, and what ends it. A fault's request to the daemon may fail: the daemon is being tormented. */
import { closeSync, existsSync, openSync, rmSync, writeSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { connectTo, sleep, until } from "../client.ts";
import type { Fleet } from "../fleet.ts";
import { killDuringDown } from "./kill-during-down.ts";
import type { Fault, FaultName } from "./schedule.ts";
import { forge, poison } from "./tampering.ts";
import { signal, type Victim, type World } from "./world.ts";

/** The daemon makes a deleted socket again by itself; by then it has, on a busy machine too. */
const SOCKET_AGAIN_MAX_MS = 60_000;
const STORM_CONNECTIONS = 100;
const FLOOD_LINES = 3_000;
const BALLAST = Buffer.alloc(256 * 1024, 1);
const BULKY_PROMPT = "x".repeat(50_000);

type Lift = () => void | Promise<void>;

export class Nemesis {
  readonly done = new Map<FaultName, number>();
  /** Child kills: those at work, and those in a restart of the daemon. */
  readonly kills = { calm: 0, inRestart: 0 };
  readonly notes = {
    daemonKills: 0,
    refusals: 0,
    socketsMadeAgain: 0,
    upgrades: 0,
    pauses: 0,
    removed: 0,
    stops: 0,
    tampered: 0,
    heartbeats: { late: 0, oldest_ms: null },
  };
  readonly findings: string[] = [];
  readonly #world: World;
  readonly #fleet: Fleet;
  readonly #canFill: boolean;
  /** Picks of child kills that wait for the next restart of the daemon. */
  #owed: number[] = [];

  constructor(world: World, fleet: Fleet, canFill: boolean) {
    this.#world = world;
    this.#fleet = fleet;
    this.#canFill = canFill;
  }

  /** Answers with what ends it. */
  async strike(fault: Fault): Promise<Lift> {
    this.done.set(fault.name, (this.done.get(fault.name) ?? 0) + 1);
    return (await this.#acts[fault.name](fault)) ?? (() => undefined);
  }

  /** The daemon is replaced, and the child kills that waited for it are done in between and while it boots. */
  async replaceDaemon(): Promise<void> {
    const owed = this.#owed;
    this.#owed = [];
    const half = Math.ceil(owed.length / 2);
    const kill = (picks: readonly number[]) => () => {
      for (const pick of picks) if (this.#killChild(pick)) this.kills.inRestart += 1;
    };
    await this.#world.replace(kill(owed.slice(0, half)), kill(owed.slice(half)));
  }

  readonly #acts: Record<FaultName, (fault: Fault) => Promise<Lift | undefined>> = {
    none: async () => undefined,

    // Every other one waits for the next restart of the daemon.
    "kill-child": async ({ pick }) => {
      if (this.kills.calm > this.kills.inRestart + this.#owed.length) this.#owed.push(pick);
      else if (this.#killChild(pick)) this.kills.calm += 1;
      return undefined;
    },

    "kill-launcher": async ({ pick }) => {
      const victim = this.#choose(pick, ({ isLauncher }) => isLauncher);
      if (victim !== undefined) signal(victim, "SIGKILL");
      return undefined;
    },

    "stop-child": async ({ pick }) => {
      const victim = this.#choose(pick, ({ isLauncher }) => !isLauncher);
      if (victim === undefined) return undefined;
      signal(victim, "SIGSTOP");
      return () => void signal(victim, "SIGCONT");
    },

    "kill-daemon": async () => {
      await this.replaceDaemon();
      this.notes.daemonKills += 1;
      return undefined;
    },

    "stop-daemon": async () => {
      const { daemon } = this.#world;
      daemon.signal("SIGSTOP");
      return () => void daemon.signal("SIGCONT");
    },

    // The file system of the database; the spools have another, or the agents themselves would lose what they cannot write.
    "fill-disk": async () => {
      if (!this.#canFill) return undefined;
      const path = join(this.#world.stateDir, "ballast");
      fill(path);
      const { daemon } = this.#world;
      const asking = async (): Promise<void> => {
        for (let n = 0; n < 40 && existsSync(path); n += 1)
          await this.#fleet.turn(daemon, BULKY_PROMPT).catch(() => {
            this.notes.refusals += 1;
          });
      };
      const asked = asking();
      return async () => {
        rmSync(path, { force: true });
        await asked;
      };
    },

    // A kill needs no room: it is answered while there is none, and then nothing of its worker lives.
    "stop-on-full-disk": async () => {
      const { daemon, stateDir } = this.#world;
      const id = this.#canFill ? await this.#fleet.stubborn(daemon).catch(() => undefined) : undefined;
      if (id === undefined) return undefined;
      const path = join(stateDir, "ballast-of-stops");
      fill(path);
      const killed = this.#fleet.kill(daemon, id).then(
        () => {
          this.notes.stops += 1;
          const left = this.#world.processes().filter(({ worker_id }) => worker_id === id);
          if (left.length > 0)
            this.findings.push(`killed on a full disk, worker ${id} has ${left.length} processes`);
        },
        // The daemon may die under it; refuse it may not.
        ({ message }: Error) => {
          if (/is full/.test(message)) this.findings.push(`a kill was refused on a full disk: ${message}`);
        },
      );
      return async () => {
        await killed;
        rmSync(path, { force: true });
      };
    },

    // It takes as long as it takes, and the daemon may die under it.
    "kill-during-down": async ({ pick }) => {
      const tree = `doomed-${this.done.get("kill-during-down")}`;
      const ended = killDuringDown(this.#world, this.#fleet, tree, pick < 0.5);
      return async () => void this.findings.push(...(await ended));
    },

    "delete-socket": async () => {
      const { stateDir } = this.#world;
      rmSync(join(stateDir, "agent.sock"), { force: true });
      const isBack = () => existsSync(join(stateDir, "agent.sock"));
      await until("the socket is back", isBack, SOCKET_AGAIN_MAX_MS).catch(() => undefined);
      if (isBack()) this.notes.socketsMadeAgain += 1;
      else {
        this.findings.push(`a deleted socket was not made again within ${SOCKET_AGAIN_MAX_MS} ms`);
        await this.replaceDaemon();
      }
      return undefined;
    },

    "stall-watcher": async () => {
      const socket = await connectTo(this.#world.stateDir).catch(() => undefined);
      socket?.on("error", () => undefined).pause();
      socket?.write(requestLine("agent/watch", { all: true, from: 0 }));
      return () => void socket?.destroy();
    },

    "flood-output": async () => {
      await this.#fleet.job(this.#world.daemon, ["seq", String(FLOOD_LINES)]).catch(() => undefined);
      return undefined;
    },

    "pause-worker": async ({ pick }) => {
      const fleet = this.#fleet;
      const ids = [...fleet.spared, ...fleet.lasting];
      await fleet
        .pause(this.#world.daemon, ids[Math.floor(pick * ids.length)] as string)
        .then(() => {
          this.notes.pauses += 1;
        })
        .catch(() => undefined);
      // A fault here is lifted with the next one, or at the end.
      return () => fleet.unpause(this.#world.daemon).catch(() => undefined);
    },

    "send-message": async ({ pick }) => {
      const { talking } = this.#fleet;
      const id = talking[Math.floor(pick * talking.length)] as string;
      await this.#fleet.send(this.#world.daemon, id).catch(() => undefined);
      return undefined;
    },

    "upgrade-daemon": async () => {
      if (await this.#world.upgrade()) this.notes.upgrades += 1;
      return undefined;
    },

    // It takes as long as it takes, and the daemon may die under it.
    "collect-garbage": async () => {
      const collecting = this.#world.daemon
        .request<{ records: number }>("db/gc", { older_than_ms: 1 })
        .then(({ records }) => {
          this.notes.removed += records;
        })
        .catch(() => undefined);
      return () => collecting;
    },

    "reconnect-storm": async () => {
      const sockets = await Promise.all(
        Array.from({ length: STORM_CONNECTIONS }, () =>
          connectTo(this.#world.stateDir).catch((): Socket | undefined => undefined),
        ),
      );
      for (const [n, socket] of sockets.entries()) {
        const line = requestLine(
          n % 2 === 0 ? "agent/watch" : "daemon/status",
          n % 2 === 0 ? { all: true } : {},
        );
        socket?.on("error", () => undefined).write(n % 3 === 0 ? line.slice(0, -20) : line);
      }
      await sleep(10);
      for (const socket of sockets) socket?.destroy();
      return undefined;
    },

    "poison-run-directory": ({ pick }) => this.#tamper(poison, pick),
    "forge-identity": ({ pick }) => this.#tamper(forge, pick),
  };

  async #tamper(how: typeof poison, pick: number): Promise<undefined> {
    const scene = {
      world: this.#world,
      fleet: this.#fleet,
      replace: () => this.replaceDaemon(),
      fail: (finding: string) => void this.findings.push(finding),
    };
    this.notes.tampered += await how(scene, pick);
  }

  #killChild(pick: number): boolean {
    const victim = this.#choose(pick, ({ isLauncher }) => !isLauncher);
    return victim !== undefined && signal(victim, "SIGKILL");
  }

  /** Never of an agent whose end the run waits for with its count. */
  #choose(pick: number, isOne: (victim: Victim) => boolean): Victim | undefined {
    const victims = this.#world
      .processes()
      .filter((victim) => isOne(victim) && !this.#fleet.spared.has(victim.worker_id));
    return victims[Math.floor(pick * victims.length)];
  }
}

/** Until not a byte more goes in. */
const fill = (path: string): void => {
  const fd = openSync(path, "w");
  try {
    for (let size = BALLAST.length; size >= 512; ) {
      try {
        if (writeSync(fd, BALLAST, 0, size) < size) size /= 2;
      } catch {
        size /= 2;
      }
    }
  } finally {
    closeSync(fd);
  }
};

const requestLine = (command: string, data: object): string =>
  `${JSON.stringify({ version: 1, command, data, meta: { request_id: "nemesis" } })}\n`;
