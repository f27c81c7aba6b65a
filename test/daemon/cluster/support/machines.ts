/**
 * Machines of a cluster: daemons with a state directory each, on one Postgres. Their workers are canaries: each holds the lock of its
 * name while it lives, so that a second one of that name tells of an overlap.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Commands, makeCommands, until } from "../../../cli/support/commands.ts";
import { killIfThere } from "../../../support/kill-if-there.ts";
import { type OwnDaemon, withDaemon } from "./own-daemon.ts";

export interface ClusterMachine extends Commands {
  readonly name: string;
}

interface ListedWorker {
  readonly id: string;
  readonly name: string;
  readonly pid: number | null;
  readonly state: string;
}

export interface RunningAgent {
  readonly name: string;
  readonly machine: string;
  readonly pid: number | null;
}

const mentions = (pid: string, home: string): boolean =>
  ["environ", "cmdline"].some((file) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`).includes(home);
    } catch {
      return false;
    }
  });

/** The daemon, its guard, the launchers and the agents. */
const processesOf = (home: string): readonly number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid && mentions(name, home))
    .map(Number);

/** The status of a lock that another one holds; one that was killed has another. */
const LOCK_HELD = 77;

/** A busy machine may not connect to the database in time. */
const untilAnswered = (machine: ClusterMachine, words: readonly string[]): Promise<void> =>
  until(async () => {
    const { error } = await machine.agent(...words);
    if (error !== null && error.code !== "UNAVAILABLE")
      throw new Error(`${machine.name} is refused: ${error.message}`);
    return error === null;
  });

export class ClusterOfMachines {
  readonly machines: readonly ClusterMachine[];
  private readonly urlOf: (name: string) => string;
  /** Canaries write there: their locks, and a line for each start and each overlap. */
  private readonly cage = mkdtempSync(join(tmpdir(), "holdfast-canaries-"));

  private constructor(
    urlOf: (name: string) => string,
    names: readonly string[],
    daemons: Readonly<Record<string, OwnDaemon>>,
  ) {
    this.urlOf = urlOf;
    this.machines = names.map((name) => withDaemon({ ...makeCommands(), name }, daemons[name] ?? {}));
    mkdirSync(join(this.cage, "locks"));
  }

  /** Each machine may reach the database by a way of its own. `prepare` comes before its daemon, and returns more words of `join`. */
  static async start(
    urlOf: (name: string) => string,
    names: readonly string[],
    prepare: (machine: ClusterMachine) => readonly string[] = () => [],
    daemons: Readonly<Record<string, OwnDaemon>> = {},
  ): Promise<ClusterOfMachines> {
    const cluster = new ClusterOfMachines(urlOf, names, daemons);
    const [first] = cluster.machines;
    const flags = new Map(cluster.machines.map((machine) => [machine, prepare(machine)]));
    for (const machine of cluster.machines) await machine.agent("daemon", "start");
    await untilAnswered(first!, ["cluster", "init", urlOf(first!.name)]);
    for (const machine of cluster.machines) await cluster.join(machine, ...flags.get(machine)!);
    return cluster;
  }

  async join(machine: ClusterMachine, ...more: readonly string[]): Promise<void> {
    const words = ["cluster", "join", this.urlOf(machine.name), "--name", machine.name, ...more];
    await untilAnswered(machine, words);
    await until(() => this.holdsLease(machine));
  }

  async holdsLease(machine: ClusterMachine): Promise<boolean> {
    return ((await machine.agent("cluster", "status")).data.self as { holds_lease: boolean }).holds_lease;
  }

  /** All that its log has is in the copy. */
  async isCopied(machine: ClusterMachine): Promise<boolean> {
    const { self } = (await machine.agent("cluster", "status")).data;
    return (self as { copy: { behind: number | null } }).copy.behind === 0;
  }

  /** The words of a spawn. */
  canary(name: string, ...flags: readonly string[]): readonly string[] {
    return ["spawn", "--name", name, "--restart", "transient", ...flags, "--", ...this.song(name)];
  }

  /** The program of a canary. */
  song(name: string): readonly string[] {
    const sing = `echo ${name} >> ${this.cage}/starts; sleep 100000`;
    const lock = `flock -n -E ${LOCK_HELD} ${this.cage}/locks/${name} -c '${sing}'`;
    const script = `${lock}; [ $? != ${LOCK_HELD} ] || echo ${name} >> ${this.cage}/overlaps`;
    return ["sh", "-c", script];
  }

  starts(name: string): number {
    return this.lines("starts").filter((line) => line === name).length;
  }

  /** Its lock is held, so an agent of it lives. A try of the lock would keep an agent out that begins meanwhile. */
  sings(name: string): boolean {
    const path = join(this.cage, "locks", name);
    return existsSync(path) && readFileSync("/proc/locks", "utf8").includes(`:${statSync(path).ino} `);
  }

  get overlaps(): readonly string[] {
    return this.lines("overlaps");
  }

  /** The machine on which its agent runs. */
  async where(name: string): Promise<ClusterMachine | undefined> {
    for (const machine of this.machines) if ((await this.listed(machine, name)) !== undefined) return machine;
    return undefined;
  }

  /** Waits for it: an answer of `spawn` may be ahead of the run. */
  async placed(name: string): Promise<ClusterMachine> {
    let machine: ClusterMachine | undefined;
    await until(async () => {
      machine = await this.where(name);
      return machine !== undefined;
    });
    return machine!;
  }

  async pidOn(machine: ClusterMachine, name: string): Promise<number> {
    await until(async () => (await this.listed(machine, name))?.pid !== undefined);
    return (await this.listed(machine, name))!.pid!;
  }

  async listed(machine: ClusterMachine, name: string): Promise<ListedWorker | undefined> {
    const { data } = await machine.agent("list");
    if (!Array.isArray(data)) return undefined;
    return (data as ListedWorker[]).find((one) => one.name === name && one.state === "running");
  }

  /** All agents that run, each with its machine and its PID, once these workers are among them. */
  async agents(names: readonly string[]): Promise<readonly RunningAgent[]> {
    let agents: readonly RunningAgent[] = [];
    await until(async () => {
      const lists = await Promise.all(this.machines.map((machine) => this.runningOn(machine)));
      agents = lists.flat().toSorted((a, b) => (a.name < b.name ? -1 : 1));
      return names.every((name) => agents.some((each) => each.name === name && each.pid !== null));
    });
    return agents;
  }

  /** The machine loses its power: all its processes end at once, without a word. */
  powerOff({ home }: ClusterMachine): void {
    for (let left = processesOf(home); left.length > 0; left = processesOf(home))
      for (const pid of left) killIfThere(pid);
  }

  async close(): Promise<void> {
    for (const machine of this.machines) {
      this.powerOff(machine);
      await machine.close();
    }
    rmSync(this.cage, { recursive: true, force: true });
  }

  private async runningOn(machine: ClusterMachine): Promise<readonly RunningAgent[]> {
    const { data } = await machine.agent("list");
    if (!Array.isArray(data)) return [];
    return (data as ListedWorker[])
      .filter(({ state }) => state === "running")
      .map(({ name, pid }) => ({ name, machine: machine.name, pid }));
  }

  private lines(file: string): readonly string[] {
    const path = join(this.cage, file);
    return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
  }
}
