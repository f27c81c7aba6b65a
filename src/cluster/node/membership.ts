/**
 * The life of a node in a cluster, as a fiber: it takes one input at a time, decides, and has the commands carried out beside it, each
 * of which answers by an input. An end of the fiber ends no run: the next daemon goes on with the same lease.
 */
import { Effect, Queue, Schedule, type Scope } from "effect";
import {
  CLUSTER_ANSWER_MS,
  CLUSTER_INPUTS_MAX,
  CLUSTER_RETRY_MS,
  CLUSTER_TICK_MS,
} from "../../base/limits.ts";
import { decideMember, memberAtStart } from "../decide.ts";
import { NameHeldError } from "../errors.ts";
import { keptOf, leaseAtStart, mayRun } from "../lease.ts";
import type { ClusterMember, MemberCommand, MemberDecision, MemberInput } from "../member.ts";
import { type ClusterNode, type ClusterView, isGone, type NewNode, type RunFence } from "../rows.ts";
import type { ClusterStore } from "../store.ts";
import type { KeptMembership, NodeMachine, RunOfMember } from "./machine.ts";

export interface Membership {
  readonly node: NewNode;
  readonly store: ClusterStore;
  readonly machine: NodeMachine;
  /** As an earlier daemon kept it. */
  readonly kept: KeptMembership | undefined;
  /** Left running by an earlier daemon. */
  readonly found: readonly RunOfMember[];
  /** A store that cannot be reached, or a machine that cannot do what it must; told each time. */
  readonly report: (what: string, cause: unknown) => void;
  /** Each view of the cluster, before anything is decided by it. */
  readonly saw?: (view: ClusterView) => void;
  /** Its daemon is being stopped. */
  readonly isStopping?: () => boolean;
}

/** Runs until its scope is closed. */
export const liveAsMember = (membership: Membership): Effect.Effect<never, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope;
    const inputs = yield* Queue.bounded<MemberInput>(CLUSTER_INPUTS_MAX);
    const life = new MemberLife(membership, inputs);
    const act = (commands: readonly MemberCommand[]) =>
      Effect.forEach(commands, (command) => Effect.forkIn(life.obey(command), scope), { discard: true });
    const tick = Queue.offer(inputs, { type: "tick" } as const);
    yield* Effect.forkScoped(Effect.repeat(tick, Schedule.spaced(CLUSTER_TICK_MS)));
    for (const run of membership.found) yield* Effect.forkScoped(life.watch(run));
    yield* act(life.start());
    return yield* Effect.forever(
      Effect.flatMap(Queue.take(inputs), (input) => Effect.suspend(() => act(life.take(input)))),
    );
  });

class MemberLife {
  private readonly membership: Membership;
  private readonly inputs: Queue.Queue<MemberInput>;
  private member: ClusterMember;
  private kept: KeptMembership;
  /** The last write of the lease failed. */
  private isUnkept = false;
  /** The row of its name, as of the newest look. */
  private row: ClusterNode | undefined;
  private readonly first: readonly MemberCommand[];

  constructor(membership: Membership, inputs: Queue.Queue<MemberInput>) {
    const { machine, node, found } = membership;
    this.membership = membership;
    this.inputs = inputs;
    this.kept = membership.kept ?? { term: 0, until_ms: null, session: machine.newSession() };
    const runs = found.map((run) => ({ ...run, starts: 0 }));
    const { member, commands } = memberAtStart(node.id, leaseAtStart(this.kept, machine.now()), runs);
    this.member = member;
    this.first = commands;
  }

  start(): readonly MemberCommand[] {
    this.keep();
    return this.first;
  }

  take(input: MemberInput): readonly MemberCommand[] {
    const before = this.member;
    const decision = this.decide(before, input);
    if (this.keep() || input.type !== "granted") return decision.commands;
    // Nothing runs under a lease that is not kept (decision 0074), so this one counts as not granted.
    return this.decide(before, { type: "renewal_failed", sent_ms: input.sent_ms }).commands;
  }

  private decide(member: ClusterMember, input: MemberInput): MemberDecision {
    const isStopping = this.membership.isStopping?.() ?? false;
    const decision = decideMember({ ...member, isStopping }, input, this.membership.machine.now());
    this.member = decision.member;
    return decision;
  }

  obey(command: MemberCommand): Effect.Effect<unknown> {
    const { machine } = this.membership;
    switch (command.type) {
      case "join":
      case "renew":
        return this.renew(command);
      case "look":
        return this.look(command.asked_ms);
      case "bury":
      case "claim":
      case "adopt":
      case "release":
        return this.change(command);
      case "sweep":
        if (this.isItsFirst(command.worker)) return this.tell({ ...command, type: "swept" });
        return this.sure("a search for what a run left", () => machine.sweep(command.worker), {
          ...command,
          type: "swept",
        });
      case "begin":
        return this.begin(command);
      case "launch":
        return this.launch(command);
      case "stop":
        return this.sure("a stop", () => machine.stop(command.worker), { ...command, type: "ended" });
      case "stop_all":
        return this.sure("the stop of all runs", () => machine.stopAll(), { type: "stopped_all" });
    }
  }

  /** Its name was claimed once, and never begun: no machine has anything of it. */
  private isItsFirst(worker: string): boolean {
    const run = this.member.runs.get(worker);
    return run?.term === 1 && run.starts === 0;
  }

  /** Tells when a run of an earlier daemon has ended. */
  watch(run: RunOfMember): Effect.Effect<unknown> {
    const { worker, term } = run;
    return this.sure("the watch of a run", () => this.membership.machine.ended(run, this.rightOf(run)), {
      type: "ended",
      worker,
      term,
    });
  }

  /** Whether the lease is kept. A write that failed is tried again with each input. */
  private keep(): boolean {
    const { machine, report } = this.membership;
    const { term, until_ms } = keptOf(this.member.lease);
    // A join that was answered is over: the next one is another.
    const isJoined = term !== 0 && this.kept.term !== term;
    const isSame = !isJoined && term === this.kept.term && until_ms === this.kept.until_ms;
    if (isSame && !this.isUnkept) return true;
    const kept = { term, until_ms, session: isJoined ? machine.newSession() : this.kept.session };
    try {
      machine.keep(kept);
      this.kept = kept;
      this.isUnkept = false;
    } catch (cause) {
      this.isUnkept = true;
      report("the keeping of the lease", cause);
    }
    return !this.isUnkept;
  }

  private tell(input: MemberInput): Effect.Effect<unknown> {
    return Queue.offer(this.inputs, input);
  }

  /** Undefined where the store did not answer in time: it may have done it all the same. */
  private ask<Result>(
    what: string,
    question: () => Promise<Result>,
  ): Effect.Effect<{ value: Result } | undefined> {
    return Effect.tryPromise(question).pipe(
      Effect.timeout(CLUSTER_ANSWER_MS),
      Effect.map((value) => ({ value })),
      Effect.catchCause((cause) => {
        this.membership.report(what, cause);
        return Effect.succeed(undefined);
      }),
    );
  }

  /** The node goes on only when it is done, so it is tried until then. */
  private sure(what: string, deed: () => Promise<void>, done: MemberInput): Effect.Effect<unknown> {
    const trying = Effect.tryPromise(deed).pipe(
      Effect.tapCause((cause) => Effect.sync(() => this.membership.report(what, cause))),
      Effect.retry(Schedule.spaced(CLUSTER_RETRY_MS)),
      Effect.orDie,
    );
    return Effect.andThen(trying, this.tell(done));
  }

  private renew(command: Extract<MemberCommand, { type: "join" | "renew" }>): Effect.Effect<unknown> {
    const { node, store } = this.membership;
    const { sent_ms } = command;
    const failed = this.tell({ type: "renewal_failed", sent_ms });
    // A node that renewed a lease that it cannot keep would hold its workers back from all others.
    if (this.isUnkept) return failed;
    if (command.type === "join")
      return Effect.flatMap(
        this.ask("the join of the cluster", () => store.join(node, this.kept.session)),
        (answer) => {
          if (answer?.value !== undefined) return this.tell({ type: "granted", term: answer.value, sent_ms });
          if (answer !== undefined) this.refused();
          return failed;
        },
      );
    const { term } = command;
    return Effect.flatMap(
      this.ask("a renewal of the lease", () => store.renew({ node: node.id, node_term: term })),
      (answer) =>
        answer === undefined
          ? failed
          : this.tell(answer.value ? { type: "granted", term, sent_ms } : { type: "refused", term, sent_ms }),
    );
  }

  /** It asks again and again, and tells a person why. Before the first look it does not know. */
  private refused(): void {
    const { node, machine, report } = this.membership;
    const { row } = this;
    if (row === undefined) return;
    if (isGone(row)) {
      // A free name is refused to a session that has left, so the next join is another one.
      this.kept = { ...this.kept, session: machine.newSession() };
      this.isUnkept = true;
      this.keep();
    } else report("the join of the cluster", new NameHeldError(node.id, row.store_id === node.store_id));
  }

  private look(asked_ms: number): Effect.Effect<unknown> {
    const { node, store } = this.membership;
    return Effect.flatMap(
      this.ask("a look at the cluster", () => store.view(node.id)),
      (answer) => {
        if (answer === undefined) return this.tell({ type: "look_failed", asked_ms });
        this.row = answer.value.nodes.find(({ id }) => id === node.id);
        this.membership.saw?.(answer.value);
        return this.tell({ type: "looked", asked_ms, view: answer.value });
      },
    );
  }

  private change(
    command: Extract<MemberCommand, { type: "bury" | "claim" | "adopt" | "release" }>,
  ): Effect.Effect<unknown> {
    const { machine, store } = this.membership;
    const changing = Effect.andThen(
      this.ask(`a ${command.type}`, () => {
        switch (command.type) {
          case "bury":
            return store.bury(command.node, command.term, command.beat);
          case "claim":
            return store.claim(command.worker, command.term, this.fenceOf(command));
          case "adopt":
            return store.adopt(this.fenceOf(command));
          case "release":
            return store.release(this.fenceOf(command), command.starts);
        }
      }),
      this.tell({ type: "changed" }),
    );
    if (command.type !== "release") return changing;
    // Its records come first, so that the next node knows them. If that takes long, the next look asks again.
    const { worker } = command;
    return Effect.flatMap(
      this.ask("the copy of a worker's records", () => machine.copied(worker)),
      (answer) => (answer === undefined ? Effect.void : changing),
    );
  }

  private begin(command: Extract<MemberCommand, { type: "begin" }>): Effect.Effect<unknown> {
    const { worker, term } = command;
    return Effect.flatMap(
      this.ask("the beginning of a run", () => this.membership.store.begin(this.fenceOf(command))),
      (answer) => this.tell({ type: "begun", worker, term, isTrue: answer?.value === true }),
    );
  }

  private launch({ worker, term }: Extract<MemberCommand, { type: "launch" }>): Effect.Effect<unknown> {
    const { machine, report } = this.membership;
    const run = this.member.runs.get(worker);
    const launching = Effect.tryPromise(
      async () => run && (await machine.launch(run, this.rightOf({ worker, term }))),
    ).pipe(Effect.catchCause((cause) => Effect.sync(() => report("a start", cause))));
    // A further start of it may have begun where it was stopped: then this is no news.
    const isLast = (): boolean => this.member.runs.get(worker)?.starts === run?.starts;
    return Effect.andThen(
      launching,
      Effect.suspend(() => (isLast() ? this.tell({ type: "ended", worker, term }) : Effect.void)),
    );
  }

  private rightOf({ worker, term }: Pick<RunOfMember, "worker" | "term">): () => boolean {
    return () => {
      const known = this.member.runs.get(worker);
      const now = this.membership.machine.now();
      return known?.term === term && known.phase === "running" && mayRun(this.member.lease, now);
    };
  }

  private fenceOf({ worker, term }: { readonly worker: string; readonly term: number }): RunFence {
    return { node: this.membership.node.id, node_term: this.member.lease.term, worker, term };
  }
}
