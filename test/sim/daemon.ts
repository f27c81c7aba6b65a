/**
 * The daemon of a simulation, its machine and its disk. An input is decided, committed, and only then carried out; the daemon
 * may die before, between and after, and the next one rebuilds what it knows from the log and the process table.
 */
import { STORE_RETRY_MS } from "../../src/base/limits.ts";
import type { RecordDraft } from "../../src/protocol/records.ts";
import type { TreeRef, TreeSupervisorRef } from "../../src/protocol/tree-records.ts";
import type { WorkerSpec } from "../../src/protocol/worker.ts";
import { reconcile } from "../../src/supervisor/boot/reconcile.ts";
import type { ChildInput, ChildState } from "../../src/supervisor/child/inputs.ts";
import type { Now } from "../../src/supervisor/clocks/now.ts";
import { decideTree } from "../../src/supervisor/tree/decide.ts";
import { emptyTree } from "../../src/supervisor/tree/evolve.ts";
import type { TreeCommand, TreeInput } from "../../src/supervisor/tree/inputs.ts";
import { memberOf, type TreeState } from "../../src/supervisor/tree/state.ts";
import { Timeline } from "./clock.ts";
import type { Coverage } from "./coverage.ts";
import { Disk, type Stored } from "./disk.ts";
import { type Def, randomTree, type SupervisorDef, TREE } from "./generate.ts";
import { History } from "./history.ts";
import { type View, violationIn } from "./invariants.ts";
import { type Process, ProcessTable, type Temper } from "./processes.ts";
import { type Random, randomOf } from "./random.ts";
import { Shell } from "./shell.ts";

const TICK_MS = 60_000;
const TEMPERS: readonly Temper[] = [
  { life_ms: 3_600_000, works: false },
  { life_ms: 3_600_000, works: true },
  { life_ms: 600_000, works: true },
  { life_ms: 120_000, works: false },
  { life_ms: 5_000, works: false },
];

const isUnrest = ({ type }: RecordDraft): boolean =>
  type === "supervisor_state_changed" || type === "worker_restart_scheduled";

/** An invariant that does not hold: what, and after how many inputs. */
export class Violation extends Error {}

export class Daemon {
  readonly random: Random;
  readonly timeline = new Timeline();
  readonly processes: ProcessTable;
  readonly disk = new Disk();
  readonly history = new History();
  readonly coverage: Coverage;
  file: SupervisorDef;
  tree: TreeState = emptyTree(TREE);
  readonly shells = new Map<string, Shell>();
  /** Workers at which Holdfast itself has failed, until that is on record. */
  readonly abandoning = new Set<string>();
  inputs = 0;
  faults = 0;
  /** Machine time is counted from here. */
  #booted_ms = 0;
  #boot = 1;
  /** The wall clock is so far from the simulation's time. */
  wall_offset_ms = Date.UTC(2026, 0, 1);
  #epoch = 0;
  up = false;
  calm = false;
  /** The store refuses until then. */
  #refusing_ms = -1;
  /** The last time at which a daemon came up or its store came back. */
  #well_since_ms = 0;
  /** Called now and then while something is on its way: the moments in which an act finds what is seldom. */
  onUnrest: () => void = () => undefined;
  /** Die in the middle of the input after so many: between its commit and what it commands. */
  dies_in: number | undefined;
  readonly #names = { made: 0, next: () => ++this.#names.made };
  readonly #first = new Map<string, WorkerSpec>();
  readonly #now = new Map<string, WorkerSpec>();
  readonly #tempers = new Map<string, Temper>();

  constructor(seed: number, coverage: Coverage) {
    this.random = randomOf(seed);
    this.coverage = coverage;
    this.processes = new ProcessTable(this.timeline, this.random);
    this.file = randomTree(this.random, this.#names);
  }

  get names() {
    return this.#names;
  }

  get mono_ms(): number {
    return this.timeline.now_ms - this.#booted_ms;
  }

  now(): Now {
    const clock = { boot_id: `boot-${this.#boot}`, mono_ns: `${this.mono_ms}000000` };
    const wall = { ms: this.timeline.now_ms, zone: "UTC" };
    return { mono_ms: this.mono_ms, clock, random: this.random.next(), wall };
  }

  /** State of this daemon's life: forgotten with it. */
  after(delay_ms: number, wanted: () => boolean, fire: () => void): void {
    const epoch = this.#epoch;
    this.timeline.after(delay_ms, () => this.#epoch === epoch && wanted(), fire);
  }

  latency(): number {
    return this.random.chance(0.8) ? this.random.below(5) : this.random.below(500);
  }

  // --- what a shell asks

  childOf(id: string): ChildState {
    return memberOf(this.tree, id).child;
  }

  isOpen(id: string): boolean {
    return this.tree.members.get(id)?.child.open === true;
  }

  isUnstartable(): boolean {
    const fails = !this.calm && this.random.chance(0.08);
    if (fails) this.faults++;
    return fails;
  }

  /** Half of a start: it may be the last thing that this daemon does. */
  launch(id: string, incarnation: number): Process | undefined {
    const temper = this.#tempers.get(id) ?? (TEMPERS[0] as Temper);
    this.history.launched(id, this.#above(id));
    const made = this.processes.make(id, incarnation, temper);
    if (this.calm || !this.random.chance(0.01)) return made;
    this.crash();
    return undefined;
  }

  timeoutOf(_id: string): number {
    return !this.calm && this.random.chance(0.02) ? 1 + this.random.about(600_000) : 0;
  }

  readyAfter(within_ms: number): number {
    if (!this.calm && this.random.chance(0.2)) {
      this.faults++;
      return within_ms;
    }
    return this.random.below(within_ms);
  }

  specNow(id: string): WorkerSpec {
    return this.#now.get(id) as WorkerSpec;
  }

  leave(shell: Shell): void {
    if (this.shells.get(shell.id) === shell) this.shells.delete(shell.id);
  }

  /** An event is told until the store takes it. */
  fact(id: string, input: ChildInput, wanted: () => boolean, done: () => void): void {
    const taken = this.input({ type: "worker", worker_id: id, input });
    if (!this.up) return;
    if (taken) {
      if (wanted()) done();
      return;
    }
    this.after(STORE_RETRY_MS, wanted, () => this.fact(id, input, wanted, done));
  }

  // --- inputs

  /** Decided, committed, carried out. False: the store refused it, or the daemon died. */
  input(given: TreeInput): boolean {
    if (!this.up) return false;
    this.inputs++;
    this.coverage.note(this.tree, given);
    const before = this.tree;
    const decision = decideTree(before, given, this.now(), this.specOf);
    if (decision.events.length > 0 && this.timeline.now_ms < this.#refusing_ms) {
      this.faults++;
      return false;
    }
    const committed = this.disk.commit(decision.events, this.timeline.now_ms + this.wall_offset_ms);
    this.tree = decision.tree;
    this.coverage.noteWritten(committed);
    for (const stored of committed) this.#note(stored);
    this.#check(before, committed);
    if (this.dies_in !== undefined && --this.dies_in < 0) {
      this.dies_in = undefined;
      this.crash();
      return false;
    }
    for (const command of decision.commands) this.#carryOut(command);
    if (committed.some(({ draft }) => isUnrest(draft)) && this.random.chance(0.08))
      this.after(
        this.random.below(100),
        () => !this.calm,
        () => this.onUnrest(),
      );
    return true;
  }

  readonly specOf = (id: string): WorkerSpec => this.#first.get(id) as WorkerSpec;

  #note(stored: Stored): void {
    const { supervisors, members } = this.tree;
    this.history.note(stored, this.timeline.now_ms, {
      decayOf: (path) => supervisors.get(path)?.config.decay_ms ?? 0,
      placeOf: (id) => {
        const member = members.get(id);
        const refs = supervisors.get(member?.supervisor ?? "")?.children ?? [];
        const name = refs.find(({ worker_id }) => worker_id === id)?.name;
        return member === undefined || name === undefined ? undefined : { ...member, name };
      },
    });
  }

  /** Supervisors above a worker, but for those that are on their way down: there a child still lives as it did (OTP). */
  #above(id: string): readonly string[] {
    const { supervisors, members } = this.tree;
    const paths: string[] = [];
    let state = supervisors.get(members.get(id)?.supervisor ?? "");
    while (state !== undefined) {
      if (state.phase !== "stopping") paths.push(state.path);
      state = supervisors.get(state.parent ?? "");
    }
    return paths;
  }

  #carryOut(command: TreeCommand) {
    if (command.type === "wake")
      return this.after(
        command.at_ms - this.mono_ms,
        () => true,
        () => this.input({ type: "plan" }),
      );
    const { worker_id: id } = command;
    if (command.type === "tell") return this.shells.get(id)?.order(command.command);
    if (!this.calm && this.random.chance(0.02)) this.#killSoon(id);
    this.#start(id);
  }

  /** Not before the last shell is gone (forest.ts, start): one that is abandoned stays until that is on record. */
  #start(id: string) {
    if (this.abandoning.has(id)) {
      const isWanted = (): boolean => this.tree.launching.has(id);
      return this.after(STORE_RETRY_MS, isWanted, () => this.#start(id));
    }
    this.shells.get(id)?.drop();
    this.shells.set(id, new Shell(this, id, { type: "start" }));
  }

  /** Somebody is quicker than the start. */
  #killSoon(worker_id: string): void {
    const input = { type: "kill", by: "user", reason: "killed", grace_ms: 0, signal: "SIGTERM" } as const;
    this.faults++;
    this.after(
      this.random.below(5),
      () => this.tree.members.has(worker_id),
      () => this.input({ type: "worker", worker_id, input }),
    );
  }

  // --- the file

  /** Brings the tree up, or what of it was changed. */
  apply(
    file: SupervisorDef = this.#fileNow(),
    restart: Record<string, string[]> = {},
    changed: ReadonlyMap<string, WorkerSpec> = new Map(),
  ): void {
    if (!this.up) return;
    const refOf = (def: Def): TreeRef => {
      if (def.type === "worker") {
        this.known(def.id, def.spec);
        return { type: "worker", name: def.name, worker_id: def.id, depends_on: def.depends_on };
      }
      return {
        type: "supervisor",
        name: def.name,
        config: def.config,
        depends_on: def.depends_on,
        children: def.children.map(refOf),
      };
    };
    const drafts = [...changed].map(
      ([id, spec]): RecordDraft => ({
        type: "worker_spec_changed",
        stream: `worker:${id}`,
        worker_id: id,
        payload: { spec, fields: [] },
      }),
    );
    const root = refOf(file) as TreeSupervisorRef;
    if (!this.input({ type: "apply", file: "/tree.yaml", root, restart, drafts, by: "user" }) && this.up)
      return;
    this.file = file;
    for (const [id, spec] of changed) this.#now.set(id, spec);
  }

  /** Taken down, and up again: its workers are others. */
  #fileNow(): SupervisorDef {
    const wasTakenDown = this.tree.supervisors.size === 0 && this.disk.records.length > 0;
    return wasTakenDown ? randomTree(this.random, this.#names) : this.file;
  }

  known(id: string, spec: WorkerSpec): void {
    if (this.#first.has(id)) return;
    this.#first.set(id, spec);
    this.#now.set(id, spec);
    this.#tempers.set(id, this.random.pick(TEMPERS));
  }

  // --- how it dies and comes back

  refuse(for_ms: number): void {
    this.#refusing_ms = this.timeline.now_ms + for_ms;
    this.#well_since_ms = this.#refusing_ms;
    this.faults++;
  }

  crash(reboot = false): void {
    if (!this.up) return;
    this.up = false;
    this.faults++;
    this.#epoch++;
    for (const shell of this.shells.values()) shell.drop();
    this.shells.clear();
    this.abandoning.clear();
    if (reboot) {
      this.processes.reboot();
      this.#boot++;
      this.history.forgetWindows();
    }
    const down_ms = this.random.about(reboot ? 60_000 : 5_000);
    this.timeline.after(
      down_ms,
      () => !this.up,
      () => {
        if (reboot) this.#booted_ms = this.timeline.now_ms - this.random.below(30_000);
        this.boot(!reboot);
      },
    );
  }

  boot(sameBoot = true): void {
    this.up = true;
    this.#well_since_ms = Math.max(this.timeline.now_ms, this.#refusing_ms);
    const known = this.tree;
    const instant = {
      boot_id: `boot-${this.#boot}`,
      mono_ms: this.mono_ms,
      wall_ms: this.timeline.now_ms + this.wall_offset_ms,
    };
    this.tree = this.disk.fold(TREE, instant, this.specOf);
    if (sameBoot && known.supervisors.size > 0)
      this.#check(known, [], this.#boot === 1 ? "exact" : "timeless");
    for (const id of this.tree.members.keys()) {
      const takeOver = () => this.#takeOver(id);
      // A look at a process takes its time, and what is decided meanwhile finds no shell.
      if (this.random.chance(0.3)) this.after(this.random.below(300), () => true, takeOver);
      else takeOver();
    }
    if (this.tree.supervisors.size > 0) this.input({ type: "plan" });
    this.#tick();
  }

  /** As src/runtime/boot/boot.ts does it; what waits for its supervisor is left to the plan. */
  #takeOver(id: string): void {
    const child = this.tree.members.get(id)?.child;
    // Forgotten or begun anew meanwhile.
    if (child === undefined || this.shells.has(id)) return;
    const process = this.processes.of.get(id);
    const found = process?.incarnation === child.incarnation ? process : undefined;
    const kind =
      found === undefined
        ? "never_started"
        : found.alive
          ? "running"
          : found.exit === undefined
            ? "lost"
            : "finished";
    const action = reconcile(child, child.open ? kind : "not_begun", this.mono_ms);
    if (action.type === "leave" || action.type === "start") return;
    this.shells.set(id, new Shell(this, id, action, found));
  }

  #tick(): void {
    this.after(
      TICK_MS,
      () => true,
      () => {
        this.input({ type: "plan" });
        this.#tick();
      },
    );
  }

  // --- what must hold

  #check(before: TreeState, committed: readonly Stored[], rebuilt?: View["rebuilt"]): void {
    const view: View = {
      tree: this.tree,
      before,
      committed,
      rebuilt,
      head: this.disk.records.length,
      processes: this.processes,
      history: this.history,
      mailboxes: [...this.shells.values()].map(({ mailbox }) => mailbox.length),
      mono_ms: this.mono_ms,
      now_ms: this.timeline.now_ms,
      well_since_ms: this.#well_since_ms,
      specOf: this.specOf,
    };
    const violation = violationIn(view);
    if (violation !== undefined) throw new Violation(violation);
  }
}
