/** A daemon of the model: it carries out what `decideMember` says, over a network that loses and delays. */
import { CLUSTER_ANSWER_MS } from "../../../src/base/limits.ts";
import { decideMember, memberAtStart } from "../../../src/cluster/decide.ts";
import { keptOf, leaseAtStart, leaseFrom } from "../../../src/cluster/lease.ts";
import type {
  ClusterMember,
  MemberCommand,
  MemberDecision,
  MemberInput,
} from "../../../src/cluster/member.ts";
import type { ClusterView, NewNode } from "../../../src/cluster/rows.ts";
import type { CopiedRecord } from "../../../src/cluster/store.ts";
import type { ModelMachine, ModelWorld } from "./machine.ts";
import type { ModelStore } from "./store.ts";

const TICK_MS = 50;
const SHIP_MS = 200;
/** The share of messages that the network delays, of those that change who runs what, and by how much at most. */
const SLOW = 0.03;
const SLOW_CHANGES = 0.3;
const SLOW_MAX_MS = 4_000;
const OUTPUT_MS = 500;
const SHIP_MAX_RECORDS = 200;

/** A node beyond its daemons: its log, the place of the copy, and the network. */
export interface ModelNode extends NewNode {
  readonly machine: ModelMachine;
  readonly log: CopiedRecord[];
  acknowledged: number;
  /** Joins that were answered: the next one is a new session. */
  sessions: number;
  isCut: boolean;
}

interface Freeze {
  readonly after?: MemberCommand["type"] | undefined;
  readonly lasts_ms: number;
  readonly thawed?: () => void;
}

type Operation<Result> = (answer: (result: Result) => void) => void;

export class ModelDaemon {
  private isFrozen = false;
  private frost: Freeze | undefined;
  private readonly world: ModelWorld;
  private readonly node: ModelNode;
  private readonly store: ModelStore;
  private member: ClusterMember;
  private isAlive = true;
  private isShipping = false;
  /** Arrived while it is frozen. */
  private readonly waiting: (() => void)[] = [];

  constructor(world: ModelWorld, node: ModelNode, store: ModelStore) {
    this.world = world;
    this.node = node;
    this.store = store;
    const { machine } = node;
    const lease = leaseAtStart(machine.kept, machine.now());
    const found = [...machine.processes]
      .filter(({ isChild }) => !isChild)
      .map((run) => ({ ...run, starts: 0 }));
    const start = memberAtStart(node.id, lease, found);
    this.member = start.member;
    machine.onEnd = ({ worker, term }) => this.happens(() => this.take({ type: "ended", worker, term }));
    this.carryOut(start);
    this.every(TICK_MS, () => this.take({ type: "tick" }));
    this.every(SHIP_MS, () => this.ship());
    this.every(OUTPUT_MS, () => this.hear());
  }

  kill(): void {
    this.isAlive = false;
    this.waiting.length = 0;
    this.node.machine.onEnd = () => {};
  }

  /** Right after the next command of this type, which is where it does most harm; without a type, at once. */
  freeze({ after, lasts_ms, thawed = () => {} }: Freeze): void {
    this.frost = { after, lasts_ms, thawed };
    if (after === undefined) this.freezeNow();
  }

  thaw(): void {
    this.frost = undefined;
    this.isFrozen = false;
    for (const what of this.waiting.splice(0)) what();
  }

  private freezeNow(): void {
    const { frost } = this;
    if (frost === undefined) return;
    this.frost = undefined;
    this.isFrozen = true;
    this.world.clock.after(frost.lasts_ms, () => {
      if (this.isAlive) this.thaw();
      frost.thawed?.();
    });
  }

  private happens(what: () => void): void {
    if (!this.isAlive) return;
    if (this.isFrozen) this.waiting.push(what);
    else what();
  }

  private every(ms: number, what: () => void): void {
    this.world.clock.after(ms, () => {
      if (!this.isAlive) return;
      if (!this.isFrozen) what();
      this.every(ms, what);
    });
  }

  private take(input: MemberInput): void {
    this.carryOut(decideMember(this.member, input, this.node.machine.now()));
  }

  private carryOut({ member, commands }: MemberDecision): void {
    this.member = member;
    const { lease } = member;
    const { machine } = this.node;
    machine.kept = keptOf(lease);
    for (const command of commands) {
      this.obey(command);
      if (command.type === this.frost?.after) this.freezeNow();
    }
  }

  /** Each way takes its time, and may lose what is under way; an answer that takes too long has failed. */
  private ask<Result>(
    operation: Operation<Result>,
    answered: (result: Result) => void,
    failed: () => void,
    slow = SLOW,
  ): void {
    let isOpen = true;
    this.later(CLUSTER_ANSWER_MS, () => {
      if (isOpen) failed();
      isOpen = false;
    });
    const takes = (): number =>
      !this.world.isCalm && this.world.random.chance(slow)
        ? this.world.random.below(SLOW_MAX_MS)
        : 1 + this.world.random.below(20);
    const isLost = (): boolean => this.node.isCut || !this.store.isUp;
    if (isLost()) return;
    this.world.clock.after(takes(), () => {
      if (isLost()) return;
      operation((result) => {
        if (this.node.isCut) return;
        this.later(takes(), () => {
          const isLate = !isOpen;
          isOpen = false;
          if (!isLate) answered(result);
        });
      });
    });
  }

  private later(ms: number, what: () => void): void {
    this.world.clock.after(ms, () => this.happens(what));
  }

  private obey(command: MemberCommand): void {
    const { machine, id } = this.node;
    const { rows } = this.store;
    switch (command.type) {
      case "join":
      case "renew":
        this.renew(command);
        break;
      case "look":
        this.ask<ClusterView>(
          (answer) => answer(rows.view(id)),
          (view) => this.take({ type: "looked", asked_ms: command.asked_ms, view }),
          () => this.take({ type: "look_failed", asked_ms: command.asked_ms }),
        );
        break;
      case "bury":
        this.change((answer) => {
          const beat =
            this.world.mistake === "blind_burial" ? rows.nodes.get(command.node)?.beat : command.beat;
          answer(rows.bury(command.node, command.term, beat ?? command.beat));
        });
        break;
      case "claim": {
        const to = { node: id, node_term: this.member.lease.term };
        this.change((answer) => this.store.claim(command.worker, command.term, to, answer));
        break;
      }
      case "adopt":
      case "release":
        this.moved(command);
        break;
      case "sweep":
        if (this.world.mistake !== "skipped_sweep") machine.sweep(({ worker }) => worker === command.worker);
        this.later(this.world.random.below(100), () => this.take({ ...command, type: "swept" }));
        break;
      case "begin":
        this.begin(command);
        break;
      case "launch":
        this.launch(command);
        break;
      case "stop":
        machine.stop(
          ({ worker }) => worker === command.worker,
          () => this.happens(() => this.take({ ...command, type: "ended" })),
        );
        break;
      case "stop_all":
        machine.stop(
          ({ on_partition }) => on_partition === "stop",
          () => this.happens(() => this.take({ type: "stopped_all" })),
        );
        break;
    }
  }

  private renew(command: Extract<MemberCommand, { type: "join" | "renew" }>): void {
    const { id } = this.node;
    const { rows } = this.store;
    const { sent_ms } = command;
    const session = `${id}/${this.node.sessions}`;
    const operation: Operation<number | undefined> = (answer) =>
      answer(
        command.type === "join"
          ? rows.join(this.node, session)
          : rows.renew({ node: id, node_term: command.term })
            ? command.term
            : undefined,
      );
    const answered = (term: number | undefined): void => {
      if (term !== undefined && command.type === "join") this.node.sessions++;
      if (term !== undefined) this.granted(term, sent_ms);
      else if (command.type === "renew") this.take({ type: "refused", sent_ms, term: command.term });
      else this.take({ type: "renewal_failed", sent_ms });
    };
    this.ask(operation, answered, () => this.take({ type: "renewal_failed", sent_ms }));
  }

  private granted(term: number, sent_ms: number): void {
    this.take({ type: "granted", term, sent_ms });
    if (this.world.mistake !== "late_renew") return;
    const until_ms = leaseFrom(this.node.machine.now());
    this.carryOut({ member: { ...this.member, lease: { phase: "held", term, until_ms } }, commands: [] });
  }

  private change(operation: Operation<boolean>): void {
    this.ask(
      operation,
      () => this.take({ type: "changed" }),
      () => {},
      SLOW_CHANGES,
    );
  }

  private moved(command: Extract<MemberCommand, { type: "adopt" | "release" }>): void {
    const { worker, term } = command;
    // Its records come first, so that the next node knows them.
    const isCopied = this.node.log.length === this.node.acknowledged;
    if (command.type === "release" && !isCopied) return;
    const run = { node: this.node.id, node_term: this.member.lease.term, worker, term };
    const { rows } = this.store;
    this.change((answer) =>
      this.store.write(
        worker,
        () => (command.type === "adopt" ? rows.adopt(run) : rows.release(run, this.seenStarts(command))),
        answer,
      ),
    );
  }

  private seenStarts({ worker, starts }: Extract<MemberCommand, { type: "release" }>): number {
    const isLate = this.world.mistake === "late_release";
    return isLate ? (this.store.rows.placements.get(worker)?.starts ?? starts) : starts;
  }

  private begin({ worker, term }: { readonly worker: string; readonly term: number }): void {
    const run = { node: this.node.id, node_term: this.member.lease.term, worker, term };
    const told = (isTrue: boolean): void => this.take({ type: "begun", worker, term, isTrue });
    this.ask(
      (answer) => this.store.write(worker, () => this.store.rows.begin(run), answer),
      told,
      () => told(false),
    );
  }

  /** Between the decision and the start the daemon may stand still for any time. */
  private launch({ worker, term }: { readonly worker: string; readonly term: number }): void {
    const run = this.member.runs.get(worker);
    this.later(this.world.random.below(100), () => {
      const { machine } = this.node;
      const isStarted = run !== undefined && run.term === term && machine.start(run);
      this.note(worker, term);
      if (!isStarted) this.take({ type: "ended", worker, term });
    });
  }

  /** A record of its log, durable there. */
  note(worker: string, term: number): void {
    this.node.log.push({ seq: this.node.log.length + 1, run: { worker, term }, text: "" });
  }

  /** Its processes say something. */
  private hear(): void {
    for (const { worker, term, isChild } of this.node.machine.processes)
      if (!isChild) this.note(worker, term);
  }

  private ship(): void {
    if (this.isShipping) return;
    const { log, acknowledged, id } = this.node;
    const records = log.slice(acknowledged, acknowledged + SHIP_MAX_RECORDS);
    if (records.length === 0) return;
    this.isShipping = true;
    this.ask(
      (answer: (seq: number) => void) => this.store.append(id, records, answer),
      (seq) => {
        this.isShipping = false;
        this.node.acknowledged = Math.max(this.node.acknowledged, seq);
      },
      () => {
        this.isShipping = false;
      },
    );
  }
}
