/**
 * A world for a tree alone: its decisions are carried out at once by a table of processes, on a clock that a test moves.
 * Nothing is asynchronous: `run` delivers what is due until nothing is.
 */
import type { ErrorCode } from "../../../src/protocol/errors.ts";
import type { ExitCause, RecordDraft } from "../../../src/protocol/records.ts";
import { SupervisorConfig, type SupervisorPhase } from "../../../src/protocol/tree.ts";
import type { TreeRef, TreeSupervisorRef } from "../../../src/protocol/tree-records.ts";
import { WorkerSpec, type WorkerState } from "../../../src/protocol/worker.ts";
import type { ChildInput } from "../../../src/supervisor/child/inputs.ts";
import type { Now } from "../../../src/supervisor/clocks/now.ts";
import { decideTree } from "../../../src/supervisor/tree/decide.ts";
import { emptyTree, evolveTree } from "../../../src/supervisor/tree/evolve.ts";
import type { TreeCommand, TreeInput } from "../../../src/supervisor/tree/inputs.ts";
import type { TreeState } from "../../../src/supervisor/tree/state.ts";

/** How a worker takes what happens to it. */
export interface Temper {
  /** Its program cannot be started. */
  unstartable?: boolean;
  /** It never gets ready by itself. */
  slow?: boolean;
  /** It ignores TERM: only the end of its grace ends it. */
  stubborn?: boolean;
  /** It takes so long to stop, and ends with this code then. */
  stop_ms?: number;
  stop_code?: number;
}

interface Process {
  incarnation: number;
  state: "launching" | "running" | "stopping";
}

type Child = WorkerDef | SupervisorDef;
interface WorkerDef {
  readonly worker: string;
  readonly spec?: Partial<WorkerSpec>;
  readonly depends_on?: readonly string[];
}
interface SupervisorDef {
  readonly supervisor: string;
  readonly config?: Partial<SupervisorConfig>;
  readonly depends_on?: readonly string[];
  readonly children: readonly Child[];
}

export const worker = (
  name: string,
  spec: Partial<WorkerSpec> = {},
  depends_on: readonly string[] = [],
): Child => ({
  worker: name,
  spec,
  depends_on,
});
export const supervisor = (
  name: string,
  config: Partial<SupervisorConfig>,
  ...children: readonly Child[]
): SupervisorDef => ({ supervisor: name, config, children });

export class World {
  tree: TreeState;
  now_ms = 1_000;
  random = 0;
  readonly log: { readonly draft: RecordDraft; readonly at: number }[] = [];
  readonly processes = new Map<string, Process>();
  readonly tempers: Record<string, Temper> = {};
  readonly specs = new Map<string, WorkerSpec>();
  #timers: { at: number; fire: () => void; owner: string }[] = [];
  #queue: (() => void)[] = [];
  #isRunning = false;

  readonly top: SupervisorDef;

  constructor(top: SupervisorDef) {
    this.top = top;
    this.tree = emptyTree(top.supervisor);
  }

  /** The path of a worker is its id here. */
  refOf(def: Child, prefix: string): TreeRef {
    if ("worker" in def) {
      const id = `${prefix}${def.worker}`;
      if (!this.specs.has(id) || def.spec !== undefined) this.specs.set(id, this.#specOf(id, def.spec ?? {}));
      return { type: "worker", name: def.worker, worker_id: id, depends_on: def.depends_on ?? [] };
    }
    return {
      type: "supervisor",
      name: def.supervisor,
      config: SupervisorConfig.parse({ backoff_min_ms: 0, backoff_max_ms: 0, ...def.config }),
      depends_on: def.depends_on ?? [],
      children: def.children.map((one) => this.refOf(one, `${prefix}${def.supervisor}/`)),
    };
  }

  #specOf(id: string, spec: Partial<WorkerSpec>): WorkerSpec {
    return WorkerSpec.parse({
      kind: "command",
      name: id.replace(/[^A-Za-z0-9./_-]/g, ""),
      argv: ["sleep", "1"],
      cwd: "/",
      restart: "permanent",
      backoff_min_ms: 0,
      backoff_max_ms: 0,
      ...spec,
    });
  }

  get now(): Now {
    return {
      mono_ms: this.now_ms,
      clock: { boot_id: "boot", mono_ns: String(BigInt(Math.round(this.now_ms)) * 1_000_000n) },
      random: this.random,
      wall: { ms: this.now_ms, zone: "UTC" },
    };
  }

  /** Brings the tree up, or what of it was changed: `restart` names the new and changed children of each supervisor. */
  apply(top: SupervisorDef = this.top, restart: Record<string, string[]> = {}): this {
    const before = new Map(this.specs);
    const root = {
      ...(this.refOf({ ...top, children: [] }, "") as TreeSupervisorRef),
      children: top.children.map((one) => this.refOf(one, "")),
    };
    const drafts = [...before].flatMap(([id, old]): RecordDraft[] => {
      const spec = this.specs.get(id) as WorkerSpec;
      const same = JSON.stringify(spec) === JSON.stringify(old);
      if (same || !this.tree.members.has(id)) return [];
      return [{ type: "worker_spec_changed", stream: id, worker_id: id, payload: { spec, fields: [] } }];
    });
    return this.input({ type: "apply", file: "/tree.yaml", root, restart, drafts, by: "user" });
  }

  /** A new child of a dynamic supervisor. */
  add(supervisorPath: string, id: string, spec: Partial<WorkerSpec> = {}): this {
    const made = { ...this.#specOf(id, spec), supervisor: supervisorPath };
    this.specs.set(id, made);
    const requested: RecordDraft = {
      type: "worker_spawn_requested",
      stream: id,
      worker_id: id,
      payload: { spec: made, clock: this.now.clock },
    };
    return this.input({ type: "add", requested, worker_id: id });
  }

  input(input: TreeInput): this {
    const decision = decideTree(this.tree, input, this.now, (id) => this.specs.get(id) as WorkerSpec);
    for (const draft of decision.events) this.log.push({ draft, at: this.now_ms });
    this.tree = decision.tree;
    for (const command of decision.commands) this.#carryOut(command);
    return this.run();
  }

  worker(id: string, input: ChildInput): this {
    return this.input({ type: "worker", worker_id: id, input });
  }

  /** Its process ends by itself: with this code, or of a signal. */
  exit(id: string, code: number | null = 1, cause?: ExitCause): this {
    if (!this.processes.has(id)) throw new Error(`${id} does not run`);
    return this.#end(id, code, true, cause);
  }

  /** The phase of a supervisor in its life; undefined when the tree has it no more. A tree that was taken down is forgotten. */
  phase(path: string): SupervisorPhase | undefined {
    if (this.types().at(-1) === "tree_removed") return "terminated";
    return this.tree.supervisors.get(path)?.phase;
  }

  state(id: string): WorkerState | undefined {
    return this.tree.members.get(id)?.child.state;
  }

  /** Names of a supervisor's children, in start order. */
  children(path: string): readonly string[] {
    return this.tree.supervisors.get(path)?.children.map(({ name }) => name) ?? [];
  }

  kill(id: string, reason = "killed"): this {
    return this.worker(id, { type: "kill", by: "user", reason, grace_ms: 1_000, signal: "SIGTERM" });
  }

  ask(what: "kill" | "restart" | "down", path: string): this {
    return this.input({ type: "ask", what, supervisor: path, by: "user", reason: "" });
  }

  ready(id: string): this {
    return this.worker(id, { type: "ready", condition: "log", after_ms: 1 });
  }

  /** Moves the clock to whatever is due within so long. */
  pass(ms: number): this {
    const until = this.now_ms + ms;
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((one) => one !== due);
      this.now_ms = Math.max(this.now_ms, due.at);
      this.#later(due.fire);
      this.run();
    }
    this.now_ms = until;
    return this;
  }

  /** Nothing that was commanded happens until `run` is called without it. */
  paused = false;

  /** In the order of the commands, also where a step gives more of them. */
  run(): this {
    if (this.paused || this.#isRunning) return this;
    this.#isRunning = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) next();
    this.#isRunning = false;
    return this;
  }

  /** The daemon dies: what is not on record is forgotten; the processes live. */
  crash(): this {
    this.#timers = this.#timers.filter(({ owner }) => owner.startsWith("process "));
    this.#queue = [];
    this.tree = this.log.reduce(
      (tree, { draft, at }) => evolveTree(tree, draft, at, (id) => this.specs.get(id) as WorkerSpec),
      emptyTree(this.top.supervisor),
    );
    return this;
  }

  running(): readonly string[] {
    return [...this.processes.keys()].sort();
  }

  types(): readonly string[] {
    return this.log.map(({ draft }) => draft.type);
  }

  /** Starts and ends of processes, in order: "+a", "-a", and "-a!" where it was killed. */
  readonly history: string[] = [];

  #carryOut(command: TreeCommand): void {
    if (command.type === "wake") {
      this.#timers = this.#timers.filter(({ owner }) => owner !== "wake");
      this.#timers.push({ at: command.at_ms, owner: "wake", fire: () => this.input({ type: "plan" }) });
      return;
    }
    const id = command.worker_id;
    if (command.type === "start") {
      this.#later(() => this.#begin(id));
      return;
    }
    const { command: told } = command;
    if (told.type === "restart_after" || told.type === "start") {
      this.#timers = this.#timers.filter(({ owner }) => owner !== `backoff ${id}`);
      const at = this.now_ms + (told.type === "start" ? 0 : told.delay_ms);
      this.#timers.push({ at, owner: `backoff ${id}`, fire: () => this.#begin(id) });
      if (at <= this.now_ms) this.#later(() => this.#due(`backoff ${id}`));
    }
    if (told.type === "end") this.#timers = this.#timers.filter(({ owner }) => owner !== `backoff ${id}`);
    if (told.type === "stop") this.#later(() => this.#stop(id, told.grace_ms, told.signal));
  }

  #later(step: () => void): void {
    this.#queue.push(step);
  }

  #due(owner: string): void {
    const timer = this.#timers.find((one) => one.owner === owner);
    this.#timers = this.#timers.filter((one) => one !== timer);
    timer?.fire();
  }

  #begin(id: string): void {
    const member = this.tree.members.get(id);
    if (member === undefined) return;
    const incarnation = member.child.incarnation + 1;
    this.worker(id, { type: "begin", incarnation, reason: incarnation === 1 ? "spawn" : "restart" });
    if (this.tree.members.get(id)?.child.open !== true) return;
    const { stop } = this.tree.members.get(id)?.child ?? {};
    if (this.tempers[id]?.unstartable === true || stop !== null) {
      this.#end(id, null, false);
      return;
    }
    this.history.push(`+${id}`);
    this.processes.set(id, { incarnation, state: "running" });
    const identity = { pid: 1, start_time: "1", boot_id: "boot", pid_ns: "1" };
    this.worker(id, {
      type: "launched",
      spawned: { pid: 1, pgid: 1, agent: identity, launcher: identity, argv: [] },
    });
  }

  #stop(id: string, graceMs: number, signal: string): void {
    const process = this.processes.get(id);
    if (process === undefined) return;
    const { stubborn = false, stop_code = 0, stop_ms } = this.tempers[id] ?? {};
    const kills = signal === "SIGKILL";
    if (kills || (!stubborn && stop_ms === undefined)) {
      this.#end(id, kills ? null : stop_code);
      return;
    }
    const { incarnation } = process;
    const ends = stop_ms !== undefined && stop_ms < graceMs;
    const fire = () => {
      if (this.processes.get(id)?.incarnation === incarnation) this.#end(id, ends ? stop_code : null);
    };
    this.#timers.push({ at: this.now_ms + (ends ? stop_ms : graceMs), owner: `process ${id}`, fire });
  }

  /** Its process ends by itself with exit code 1, and its adapter says why. */
  fail(id: string, error: ErrorCode): this {
    if (!this.processes.has(id)) throw new Error(`${id} does not run`);
    return this.#end(id, 1, true, undefined, error);
  }

  #end(
    id: string,
    code: number | null,
    started = true,
    cause?: ExitCause,
    error: ErrorCode = "AGENT_FAILED",
  ): this {
    if (this.processes.delete(id)) this.history.push(`-${id}${started && code === null ? "!" : ""}`);
    const completed = code === 0;
    return this.worker(id, {
      type: "exited",
      exit: {
        exit_code: code,
        signal: null,
        signal_inferred: false,
        raw_status: code,
        reason: started ? (code === null ? "signalled" : "exited") : "start_failed",
        ...(cause === undefined ? {} : { cause }),
      },
      outcome: {
        status: completed ? "completed" : "failed",
        completion: { status: { code, signal: null } },
        ...(completed ? {} : { error: { code: error, message: `exit code ${code}` } }),
      } as never,
      duration_ms: 1,
    });
  }
}
