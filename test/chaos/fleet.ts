/**
 * The victims of chaos: real agents under a real daemon, what their clients were told, and the history that the checker
 * reads at the end. A daemon may die under every request; only what it answered counts.
 */
import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isAlive } from "../../src/adapters/process/identity.ts";
import type { LogRecord, ProcessIdentity } from "../../src/protocol/records.ts";
import type { TreeSpecInput } from "../../src/protocol/tree.ts";
import type { WorkerSpecInput } from "../../src/protocol/worker.ts";
import { type Client, environment, until } from "./client.ts";
import type { Acknowledged, Found, History } from "./history.ts";

const child = (name: string): string => resolve(import.meta.dirname, "../fixtures/children", name);
const TALKER = resolve(import.meta.dirname, "../fixtures/agents/converses.mjs");
/** A text of 60,000 bytes. */
const FLOOD_LINES = "400";
/** A secret that talkers are given, and the log may not know. */
export const SECRET = "sesame-opens-the-mountain";
const RECORDING = resolve(import.meta.dirname, "../recordings/claude-code/real-text.ndjson");

/** Runs a script that knows no canary with one held, in every process that it makes. */
const HOLDING = ["/bin/sh", "-c", 'exec 9<>"$0"; exec "$@"'] as const;

const treeOf = (name: string, canary: string): TreeSpecInput => {
  const worker = (called: string) => ({
    type: "worker" as const,
    name: called,
    depends_on: [],
    spec: {
      kind: "command",
      argv: [...HOLDING, canary, child("ignores-term.sh")],
      cwd: "/",
      client_env: environment(),
      restart: "permanent" as const,
      grace_ms: 100,
      timeout_ms: 0,
      stall_ms: 0,
      backoff_min_ms: 0,
      backoff_max_ms: 0,
    },
  });
  return {
    name,
    file: `/${name}.yaml`,
    root: {
      type: "supervisor",
      name,
      config: { strategy: "one_for_all", max_restarts: 1_000, backoff_min_ms: 0, backoff_max_ms: 0 },
      depends_on: [],
      children: [worker(`${name}-a`), worker(`${name}-b`)],
    },
  } as TreeSpecInput;
};

export class Fleet {
  readonly acknowledged: Acknowledged[] = [];
  /** Agents that print numbered lines until they are told to stop. */
  readonly counting: string[] = [];
  /** Agents that shall run until the end. */
  readonly lasting: string[] = [];
  /** Counters that are told to stop at the end: nobody kills them, so what they say last is known. */
  readonly spared = new Set<string>();
  /** Workers that are sent messages. */
  readonly talking: string[] = [];
  /** Workers that were asked to stand still, and may. */
  readonly paused = new Set<string>();
  /** Short work that was acknowledged. */
  readonly jobs: string[] = [];
  readonly #dir: string;
  readonly #canary: string;
  readonly #fd: number;
  readonly #stop: string;
  #conversations = 0;
  #napping: string | undefined;

  /** `dir` is the test's own, and stays when daemons go. */
  constructor(dir: string) {
    this.#dir = dir;
    this.#canary = join(dir, "canary");
    this.#stop = join(dir, "stop");
    execFileSync("mkfifo", [this.#canary]);
    this.#fd = openSync(this.#canary, constants.O_RDONLY | constants.O_NONBLOCK);
  }

  /** Resolves with its id once it is acknowledged. */
  async spawn(client: Client, argv: readonly string[], over: Partial<WorkerSpecInput> = {}): Promise<string> {
    const id = await client.spawn([...HOLDING, this.#canary, ...argv], over);
    this.acknowledged.push({ what: "spawn", worker_id: id });
    return id;
  }

  /** Prints 50 numbered lines a pause, until it is told to stop. */
  async counter(client: Client, pause_s: number): Promise<void> {
    const id = await this.spawn(client, [child("counts.sh"), this.#stop, String(pause_s)]);
    this.counting.push(id);
    this.spared.add(id);
  }

  /** The same, and nobody tells it to stop: it may be killed, and counts from 1 in each incarnation. */
  async restartedCounter(client: Client, pause_s: number): Promise<void> {
    const id = await this.spawn(client, [child("counts.sh"), this.path("never"), String(pause_s)], {
      restart: "permanent",
      max_restarts: 900,
    });
    this.counting.push(id);
    this.lasting.push(id);
  }

  /** Ends by itself a moment after each start, and is started again, for longer than any test; now and then it leaves a child. */
  async crasher(client: Client): Promise<string> {
    return this.spawn(client, [child("leaves-child.sh"), this.#canary], {
      restart: "permanent",
      max_restarts: 10_000,
      restart_period_ms: 3_600_000,
      backoff_min_ms: 200,
      backoff_max_ms: 400,
    });
  }

  /** A shell with a child that only a kill ends. */
  async stubborn(client: Client, over: Partial<WorkerSpecInput> = {}): Promise<string> {
    const id = await this.spawn(client, [child("double-fork.sh"), this.#canary], {
      restart: "permanent",
      max_restarts: 900,
      ...over,
    });
    this.lasting.push(id);
    return id;
  }

  async job(client: Client, argv: readonly string[]): Promise<string> {
    const id = await this.spawn(client, argv);
    this.jobs.push(id);
    return id;
  }

  /** One turn of an agent, as Claude Code told it once; an end that was none is tried again. */
  async turn(client: Client, prompt = "Say hello."): Promise<string> {
    const { id } = await client.request<{ id: string }>("agent/spawn", {
      spec: {
        kind: "claude_code",
        prompt,
        cwd: "/",
        client_env: environment(),
        env: {
          CLAUDE_BINARY: child("plays-recording.sh"),
          PLAYED: RECORDING,
          // Each of them says the same session, and means its own.
          CLAUDE_CONFIG_DIR: this.path(`sessions-${this.jobs.length}`),
          CANARY: this.#canary,
        },
        restart: "transient",
        max_restarts: 50,
        backoff_min_ms: 0,
        backoff_max_ms: 0,
        stall_ms: 0,
        timeout_ms: 0,
      },
    });
    this.acknowledged.push({ what: "spawn", worker_id: id });
    this.jobs.push(id);
    return id;
  }

  async kill(client: Client, id: string): Promise<void> {
    // From now on it may be over, whether anybody is told or not.
    const at = this.lasting.indexOf(id);
    if (at !== -1) this.lasting.splice(at, 1);
    await client.kill([id], 100);
    this.acknowledged.push({ what: "kill", worker_id: id });
  }

  async restart(client: Client, id: string): Promise<void> {
    await client.request("agent/restart", { ids: [id] });
    this.acknowledged.push({ what: "restart", worker_id: id });
  }

  /** The same, with a lifeline: it is ended where no next daemon comes in time. */
  async dying(client: Client): Promise<void> {
    await this.stubborn(client, { on_supervisor_death: "die", grace_ms: 100 });
  }

  /** A conversation that nobody ends before the end; after a restart it goes on in its session. */
  async talker(client: Client): Promise<void> {
    const id = await this.#converse(client, "permanent");
    this.talking.push(id);
    this.lasting.push(id);
  }

  /** A conversation that is ended as soon as it has begun. */
  async farewell(client: Client): Promise<void> {
    const id = await this.#converse(client, "transient");
    this.jobs.push(id);
    await client.request("agent/send", { id, text: "hello" });
    await client.request("agent/send", { id, close: true });
  }

  /** A conversation that rests as soon as it may, and is woken by a message each time that it is called; it is ended at the end. */
  async napper(client: Client): Promise<void> {
    this.#napping ??= await this.#converse(client, "transient", { passivate_ms: 1 });
    await this.send(client, this.#napping);
  }

  async #converse(
    client: Client,
    restart: "permanent" | "transient",
    over: { readonly passivate_ms?: number } = {},
  ): Promise<string> {
    this.#conversations += 1;
    const ledger = this.path(`talker-${this.#conversations}`);
    const { id } = await client.request<{ id: string }>("agent/spawn", {
      spec: {
        kind: "claude_code",
        interactive: true,
        cwd: "/",
        client_env: environment(),
        env: { CLAUDE_BINARY: TALKER, LEDGER: ledger, DOOR_PASSWORD: SECRET },
        permission_rules: [{ tool: "Door", action: "allow" }],
        max_restarts: 900,
        backoff_min_ms: 0,
        backoff_max_ms: 0,
        stall_ms: 0,
        timeout_ms: 0,
        restart,
        ...over,
      },
    });
    this.acknowledged.push({ what: "spawn", worker_id: id });
    return id;
  }

  async send(client: Client, id: string, text = "hello"): Promise<void> {
    const { message_id } = await client.request<{ message_id: string }>("agent/send", { id, text });
    this.acknowledged.push({ what: "send", worker_id: id, message_id });
  }

  /** More than a daemon keeps of a spool. */
  async flood(client: Client): Promise<void> {
    await this.job(client, [child("prints-much.sh"), FLOOD_LINES, this.#canary]);
  }

  async pause(client: Client, id: string): Promise<void> {
    this.paused.add(id);
    await client.request("agent/pause", { ids: [id] });
  }

  /** All that may stand still; who has ended meanwhile stays as it is. */
  async unpause(client: Client): Promise<void> {
    for (const id of this.paused) {
      const { results } = await client.request<{ results: readonly { readonly error: unknown }[] }>(
        "agent/unpause",
        {
          ids: [id],
        },
      );
      if (results !== undefined) this.paused.delete(id);
    }
  }

  async apply(client: Client, tree: string): Promise<void> {
    await client.request("tree/apply", { tree: treeOf(tree, this.#canary) });
    this.acknowledged.push({ what: "apply", tree });
  }

  async down(client: Client, tree: string): Promise<void> {
    await client.request("tree/down", { name: tree });
    this.acknowledged.push({ what: "down", tree });
  }

  /** Tells the counters to say how far they came, and to end. */
  async stopCounting(client: Client): Promise<void> {
    writeFileSync(this.#stop, "");
    await client.wait([...this.spared]);
  }

  isCanaryHeld(): boolean {
    try {
      return readSync(this.#fd, Buffer.alloc(1), 0, 1, null) > 0;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "EAGAIN") return true;
      throw cause;
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  path(name: string): string {
    return join(this.#dir, name);
  }

  /** The records of now, and the living processes. The fleet must be quiet, or the log moves on between the two looks. */
  async history(client: Client, minimum: History["minimum"], isOver = false): Promise<History> {
    const records = (await client.history([])) as readonly LogRecord[];
    return {
      records,
      acknowledged: this.acknowledged,
      counting: this.counting,
      counted: [...this.spared],
      found: foundOf(records),
      isOver,
      held: isOver && this.isCanaryHeld() ? [this.#canary] : [],
      minimum,
    };
  }

  /** Until every job that was acknowledged has ended: what is owed is done. */
  async workedOff(client: Client): Promise<void> {
    const ended = async (): Promise<boolean> => {
      const workers = await client.list();
      return this.jobs.every((id) =>
        ["completed", "failed", "cancelled"].includes(workers.find((one) => one.id === id)?.state ?? ""),
      );
    };
    await until("all jobs have ended", ended);
  }
}

const foundOf = (records: readonly LogRecord[]): readonly Found[] => {
  const identities = new Map<string, Found & { readonly agent: ProcessIdentity }>();
  for (const record of records) {
    if (record.type !== "worker_spawned") continue;
    const { worker_id = "", incarnation = 0 } = record;
    const { agent } = record.payload;
    if (agent === undefined) throw new Error("A run of this fleet is a process.");
    identities.set(`${worker_id}/${incarnation}`, { worker_id, incarnation, agent, alive: isAlive(agent) });
  }
  return [...identities.values()].map(({ agent: _, ...found }) => found);
};
