/** Machines, their daemons and a store, with what must always be true of them. */
import type { NewPlacement, PartitionPolicy } from "../../../src/cluster/rows.ts";
import { type Random, randomOf } from "../../sim/random.ts";
import { ModelClock } from "./clock.ts";
import { ModelDaemon, type ModelNode } from "./daemon.ts";
import { ModelMachine, type ModelProcess, type ModelWorld } from "./machine.ts";
import type { Mistake } from "./mistakes.ts";
import { ModelStore } from "./store.ts";

/** A killed worker that stops without a lease has ended by then, whatever happens to its node. */
const TOMBSTONE_MAX_MS = 20_000;
const NODES = 3;
/** More records than a node has copied between two looks. */
const NEWEST = 2_000;
/** Records that peace may leave uncopied: those of the last moments. */
const UNCOPIED_MAX = 100;

export interface ModelOptions {
  readonly seed: number;
  readonly mistake?: Mistake | undefined;
  readonly isCalm?: boolean;
}

export class ModelCluster implements ModelWorld {
  readonly clock = new ModelClock();
  readonly random: Random;
  readonly mistake: Mistake | undefined;
  readonly isCalm: boolean;
  readonly store: ModelStore;
  readonly nodes: readonly ModelNode[];
  readonly violations: string[] = [];
  /** Starts of main processes, by worker. */
  readonly starts = new Map<string, { readonly node: string; readonly at: number }[]>();
  private readonly daemons = new Map<string, ModelDaemon>();
  private readonly killed = new Map<string, number>();
  private count = 0;

  constructor({ seed, mistake, isCalm = false }: ModelOptions) {
    this.random = randomOf(seed);
    this.mistake = mistake;
    this.isCalm = isCalm;
    this.store = new ModelStore(this, (what) => this.violated(what));
    this.nodes = Array.from({ length: NODES }, (_, at) => ({
      id: `n${at}`,
      store_id: `n${at}`,
      labels: { shared: "yes" },
      capacity: 100,
      endpoint: "",
      machine: new ModelMachine(this),
      log: [],
      acknowledged: 0,
      sessions: 0,
      isCut: false,
    }));
    for (const node of this.nodes) this.startDaemon(node);
  }

  node(id: string): ModelNode {
    return this.nodes.find((node) => node.id === id) as ModelNode;
  }

  daemonOf(node: ModelNode): ModelDaemon | undefined {
    return this.daemons.get(node.id);
  }

  startDaemon(node: ModelNode): void {
    if (this.daemons.has(node.id) || !node.machine.isOn) return;
    this.daemons.set(node.id, new ModelDaemon(this, node, this.store));
  }

  killDaemon(node: ModelNode): void {
    this.daemons.get(node.id)?.kill();
    this.daemons.delete(node.id);
  }

  switchOff(node: ModelNode): void {
    this.killDaemon(node);
    node.machine.switchOff();
  }

  switchOn(node: ModelNode): void {
    node.machine.isOn = true;
    this.startDaemon(node);
  }

  place(on_partition: PartitionPolicy, needs: NewPlacement["needs"] = { shared: "yes" }): string {
    const worker = `w${this.count++}`;
    this.store.rows.place({ worker, spec_digest: "", on_partition, needs });
    return worker;
  }

  kill(worker: string): void {
    if (!this.store.isUp || this.store.rows.placements.get(worker)?.desired !== "running") return;
    this.store.write(
      worker,
      () => this.store.rows.kill(worker),
      () => this.killed.set(worker, this.clock.now),
    );
  }

  /** All that could be wrong and takes back no fault: the rest is told as it happens. */
  look(): void {
    for (const process of this.alive()) {
      const since = this.killed.get(process.worker);
      if (since === undefined || process.on_partition === "continue") continue;
      if (this.clock.now - since > TOMBSTONE_MAX_MS)
        this.violated(`${process.worker} runs ${this.clock.now - since} ms after it was killed`);
    }
    for (const { id, acknowledged } of this.nodes) {
      const copied = this.store.copy.get(id);
      // The copy forgets nothing, so the newest are enough.
      for (let seq = Math.max(1, acknowledged - NEWEST); seq <= acknowledged; seq++)
        if (copied?.has(seq) !== true) this.violated(`the acknowledged record ${seq} of ${id} is lost`);
    }
  }

  /** Everything is well again, and there was time: what shall run runs once, and nothing else does. */
  lookAtPeace(): void {
    this.look();
    for (const { worker, desired } of this.store.rows.placements.values()) {
      const running = this.alive().filter((process) => process.worker === worker && !process.isChild);
      const expected = desired === "running" ? 1 : 0;
      if (running.length !== expected)
        this.violated(`${worker} has ${running.length} processes at peace, and should have ${expected}`);
    }
    for (const { id, log, acknowledged } of this.nodes)
      if (acknowledged < log.length - UNCOPIED_MAX) this.violated(`${id} has records that were never copied`);
  }

  alive(): readonly ModelProcess[] {
    return this.nodes.flatMap(({ machine }) => [...machine.processes]);
  }

  whereIs(worker: string): ModelNode | undefined {
    return this.nodes.find(({ machine }) =>
      [...machine.processes].some((process) => process.worker === worker && !process.isChild),
    );
  }

  started(machine: ModelMachine, { worker, term, isChild }: ModelProcess): void {
    for (const other of this.nodes)
      for (const process of other.machine.processes)
        if (process.worker === worker && !(isChild && other.machine === machine && process.term === term))
          this.violated(`${worker} started under term ${term} beside one of term ${process.term}`);
    if (isChild) return;
    const { id } = this.nodes.find((node) => node.machine === machine) as ModelNode;
    this.starts.set(worker, [...(this.starts.get(worker) ?? []), { node: id, at: this.clock.now }]);
  }

  ended(machine: ModelMachine, { worker, term, isChild }: ModelProcess): void {
    const node = this.nodes.find((each) => each.machine === machine);
    const daemon = node === undefined ? undefined : this.daemons.get(node.id);
    if (!isChild) daemon?.note(worker, term);
  }

  private violated(what: string): void {
    this.violations.push(`at ${Math.round(this.clock.now)} ms: ${what}`);
  }
}
