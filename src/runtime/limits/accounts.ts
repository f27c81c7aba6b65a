/**
 * The active budgets: which workers count in each, the spending, and the effects of a breach. A budget belongs to a worker,
 * for itself and everything its agent spawned, or to a supervisor of a file, for everything below it. The spending comes
 * from the records, including ended incarnations and removed workers. It is read once and kept up to date here while a
 * worker spends.
 *
 * Each recorded increment, each start and each tick checks for a breach. Every check finds again what the breach asks for,
 * so a daemon that dies in the middle leaves nothing undone.
 */
import { Effect } from "effect";
import type { Budgets } from "../../actors/ports.ts";
import type { Spender, Spending } from "../../actors/spending.ts";
import { ENDING_GRACE_MS } from "../../base/limits.ts";
import type { ClockStamp } from "../../protocol/clock-stamp.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import type { RecordDraft, RecordType, Usage } from "../../protocol/records.ts";
import { treeStream, workerStream } from "../../protocol/records.ts";
import type { EventLog } from "../../store/event-log.ts";
import type { Views } from "../../store/views.ts";
import type { Breach } from "../../supervisor/budgets/budgets.ts";
import type { Gaps } from "../../supervisor/clocks/gaps.ts";
import { causesOf, pausedMs } from "../../supervisor/holds/pause.ts";
import type { AnswerOptions } from "../api.ts";
import type { BudgetView } from "../replies.ts";
import { Account, ANSWERS, type BudgetAnswer, type BudgetQuestion } from "./account.ts";
import { askerOf, type GuardedSupervisor, keyOf, type Owner, Owners } from "./budget-owners.ts";
import { Meters } from "./meters.ts";
import { portionFor } from "./portions.ts";
import { Settlements } from "./settlements.ts";

export interface AccountPorts {
  readonly log: EventLog;
  readonly views: Views;
  readonly live: () => ReadonlyMap<string, Spender>;
  /** False for a worker whose runtime cannot pause a run. */
  readonly canPause: (worker: Spender) => boolean;
  readonly gaps: Gaps;
  readonly monoMs: () => number;
  readonly wallMs: () => number;
  readonly stamp: () => ClockStamp;
  readonly report: (message: string, cause?: unknown) => void;
  readonly budgets?: Budgets | undefined;
}

const asksNothing = (ref: string): HoldfastError =>
  new HoldfastError("INVALID_STATE", `No budget of ${ref} is spent, so there is nothing to answer.`, {
    suggestion: "See what was spent with `agent info`.",
  });

const OF_QUESTIONS: readonly RecordType[] = [
  "worker_question",
  "worker_answered",
  "worker_question_withdrawn",
  "tree_removed",
];

const isHeld = (worker: Spender): boolean =>
  causesOf(worker.child()).some(({ reason }) => reason === "budget");

export class Accounts implements Spending {
  private readonly ports: AccountPorts;
  private readonly accounts = new Map<string, Account>();
  private readonly waiters = new Map<string, () => void>();
  /**
   * Workers that have answered their only prompt and are about to end by themselves, with the time until which they are
   * left alone.
   */
  private readonly ending = new Map<string, number>();
  private readonly owners: Owners;
  private readonly settlements: Settlements;

  constructor(ports: AccountPorts) {
    this.ports = ports;
    this.owners = new Owners(ports.log, ports.views, ports.live);
    this.settlements = new Settlements(ports.monoMs);
  }

  /** Sets the search for a supervisor by its path, because trees are made later. */
  plant(find: (path: string) => GuardedSupervisor | undefined): void {
    this.owners.plant(find);
  }

  look(worker: Spender, isEnding = false, open?: Usage): void {
    if (isEnding) this.ending.set(worker.id, this.ports.monoMs() + ENDING_GRACE_MS);
    else this.ending.delete(worker.id);
    const counted = this.owners.of(worker.id);
    if (counted.length === 0) {
      // Its file no longer has a budget.
      if (isHeld(worker)) this.tell(worker, { type: "unpause", by: "budget", reason: "budget" });
      return;
    }
    const row = this.ports.views.worker(worker.id);
    for (const owner of counted) {
      const account = this.accountOf(owner);
      this.settlements.forget(keyOf(owner));
      if (row !== undefined) account.meters.counted(row, open);
      account.meters.ran(worker.id, this.wallOf(worker));
      this.check(account);
    }
    if (isHeld(worker) && this.spentOf(worker.id).length === 0)
      this.tell(worker, { type: "unpause", by: "budget", reason: "budget" });
  }

  wrote(worker: Spender, bytes: number, open?: Usage): void {
    for (const owner of this.owners.of(worker.id)) {
      const account = this.accountOf(owner);
      account.meters.wrote(worker.id, worker.child().incarnation, bytes, open);
      this.check(account);
    }
  }

  takesTurn(worker: Spender, underWay: number): boolean {
    let may = true;
    for (const owner of this.owners.of(worker.id)) {
      const account = this.accountOf(owner);
      const bound = account.bounds().turns;
      if (bound === undefined || account.spent().turns + underWay < bound) continue;
      may = false;
      // An open turn may still use up the budget: ask only after it.
      if (underWay > 0) continue;
      account.wanted = 1;
      this.check(account);
    }
    return may;
  }

  gate(worker: Spender): Promise<void> | undefined {
    this.look(worker);
    if (this.spentOf(worker.id).length === 0) return undefined;
    return new Promise<void>((resolve) => {
      this.waiters.set(worker.id, () => {
        this.waiters.delete(worker.id);
        resolve();
      });
    });
  }

  isFree(worker: Pick<Spender, "id">): boolean {
    return this.owners.of(worker.id).length === 0;
  }

  /** Called when a waiting worker is to be stopped: it need not wait for the budget. */
  letGo(id: string): void {
    this.waiters.get(id)?.();
  }

  /** Called when a worker's life has ended. */
  left(id: string): void {
    for (const owner of this.owners.of(id)) {
      if (owner.tree !== null || askerOf(owner) !== id || owner.leased === undefined) continue;
      // A worker that this start found ended has no account yet.
      const { leased, meters, asking } = this.accountOf(owner);
      if (leased !== undefined) this.settlements.settle(keyOf(owner), leased, meters.sum);
      // A next life of the worker takes portions anew.
      if (!asking) this.accounts.delete(keyOf(owner));
    }
    this.waiters.delete(id);
    this.ending.delete(id);
  }

  isWaiting(id: string): boolean {
    return this.waiters.has(id);
  }

  readonly tick = (): void => {
    this.owners.freshen();
    this.settlements.again();
    for (const [key, account] of this.accounts) this.lookAt(key, account);
  };

  /** Called when a tree was taken down: a later tree of the same name has its own spending. */
  forget(tree: string): void {
    for (const [key, { owner, leased, meters }] of this.accounts) {
      if (owner.tree !== tree) continue;
      if (leased !== undefined) this.settlements.settle(key, leased, meters.sum);
      this.accounts.delete(key);
    }
    this.owners.freshen();
  }

  /** The budgets that a worker counts in, or the one of a supervisor. */
  views(ref: string): readonly BudgetView[] {
    return this.askedOf(ref).map((owner) => this.accountOf(owner).view());
  }

  /** The spent budget that stops a worker, its own first. */
  spentFor(id: string): { readonly question_id?: string; readonly sentence: string } | undefined {
    const [account] = this.spentOf(id);
    const breach = account?.breach();
    if (account === undefined || breach === undefined) return undefined;
    const { question } = account;
    return {
      sentence: account.sentence(breach, id),
      ...(question === undefined ? {} : { question_id: question.question_id }),
    };
  }

  /** The budget of an open question, if a worker that counts in it waits for the answer. */
  askedBy(question_id: string): Account | undefined {
    return [...this.accounts.values()].find(
      (account) =>
        account.question?.question_id === question_id &&
        !account.isStopped() &&
        this.membersOf(account).length > 0,
    );
  }

  answer(
    ref: string,
    said: BudgetAnswer,
    by: string,
    { question_id, budget }: Pick<AnswerOptions, "question_id" | "budget"> = {},
  ): Effect.Effect<{ readonly question_id: string }, HoldfastError> {
    const answered = async () => {
      const account = this.askedOf(ref)
        .map((owner) => this.accountOf(owner))
        .find(({ question }) => question !== undefined);
      const question = account?.question;
      if (account === undefined || question === undefined) throw asksNothing(ref);
      if (question_id !== undefined && question_id !== question.question_id)
        throw new HoldfastError("INVALID_STATE", `${ref} no longer asks ${question_id}.`);
      const payload = {
        question_id: question.question_id,
        answer: said,
        by,
        ...(said === "continue" ? { budget: account.granting(budget) } : {}),
        clock: this.ports.stamp(),
      };
      if (payload.budget !== undefined) await account.leased?.raise(payload.budget);
      else await account.leased?.stop();
      account.hear(await this.commit(account.owner, { type: "worker_answered", payload }));
      if (said === "continue") this.lift(account, by);
      else this.check(account);
      return { question_id: question.question_id };
    };
    return Effect.tryPromise({ try: answered, catch: asHoldfastError });
  }

  private askedOf(ref: string): readonly Owner[] {
    return this.owners.isSupervisor(ref) ? this.owners.at(ref) : this.owners.of(ref);
  }

  private accountOf(owner: Owner): Account {
    const known = this.accounts.get(keyOf(owner));
    if (known !== undefined) return this.renewed(known, owner);
    const { log, views } = this.ports;
    const { tree } = owner;
    const account = new Account(
      owner,
      new Meters(log, views, this.owners.past(owner)),
      portionFor(owner, this.ports),
    );
    const told =
      tree === null ? log.stream(askerOf(owner), OF_QUESTIONS) : log.treeStream(tree, OF_QUESTIONS);
    for (const record of told) account.hear(record);
    this.accounts.set(keyOf(owner), account);
    return account;
  }

  /** The file may have another budget by now, or placed workers for the first time. */
  private renewed(account: Account, owner: Owner): Account {
    const { owner: before } = account;
    account.owner = owner;
    const isSame = before === owner || (before.budget === owner.budget && !before.leased === !owner.leased);
    if (!isSame && owner.tree !== null) account.leased = portionFor(owner, this.ports);
    return account;
  }

  private wallOf(worker: Spender): number {
    const { monoMs, gaps } = this.ports;
    const { open, spawned, started_ms, spent_ms, pause } = worker.child();
    if (!open || !spawned || started_ms === null) return spent_ms;
    const now = monoMs();
    return spent_ms + Math.max(0, now - started_ms - gaps.forgiven(started_ms) - pausedMs(pause, now));
  }

  private membersOf(account: Account): readonly Spender[] {
    return account.meters.ids().flatMap((id) => this.ports.live().get(id) ?? []);
  }

  private isSpared({ id }: Pick<Spender, "id">): boolean {
    return (this.ending.get(id) ?? 0) > this.ports.monoMs();
  }

  private tell(worker: Spender, input: Parameters<Spender["input"]>[0]): void {
    Effect.runPromise(worker.input(input)).catch((cause) =>
      this.ports.report(
        `the budget of worker ${worker.id} could not be carried out; it is tried again`,
        cause,
      ),
    );
  }

  private lookAt(key: string, account: Account): void {
    const { owner, meters } = account;
    meters.letGo((id) => this.ports.live().has(id));
    // No worker spends from it any more. A later query reads it from the log again.
    if (owner.tree === null && !account.asking && this.membersOf(account).length === 0) {
      this.accounts.delete(key);
      return;
    }
    if (owner.tree !== null) {
      const [now] = this.owners.at(owner.id);
      if (now === undefined) {
        this.drop(key, account);
        return;
      }
      this.renewed(account, now);
    }
    if (owner.budget.wall_ms !== undefined)
      for (const worker of this.membersOf(account)) meters.ran(worker.id, this.wallOf(worker));
    const isLeased = account.leased !== undefined;
    if (account.breached || isLeased || owner.budget.wall_ms !== undefined) this.check(account);
  }

  private check(account: Account): void {
    const heard = () => {
      account.leased?.heard(account.breach() !== undefined);
      this.check(account);
    };
    account.leased?.look(account.meters.sum, heard, () => this.membersOf(account).length > 0);
    const breach = account.breach();
    if (breach === undefined) {
      // The file may allow more now.
      if (account.question !== undefined && !account.asking) this.withdraw(account, account.question);
      if (account.breached) this.lift(account, "budget");
      return;
    }
    account.breached = true;
    account.tell(breach);
    if (account.isStopped()) this.stopAll(account, breach);
    else if (account.question !== undefined) this.pauseAll(account, account.question, breach);
    else if (!account.asking && this.membersOf(account).some((worker) => !this.isSpared(worker)))
      this.ask(account, breach);
  }

  private ask(account: Account, breach: Breach): void {
    const { owner } = account;
    const { limit, value, bound } = breach;
    const question: BudgetQuestion = {
      question_id: newId(this.ports.wallMs()),
      about: "budget",
      owner: owner.id,
      limit,
      value,
      bound,
      answers: ANSWERS,
      clock: this.ports.stamp(),
    };
    account.asking = true;
    const asked = this.commit(owner, { type: "worker_question", payload: question });
    // Pause right after the question, without waiting for it: the workers go on spending meanwhile.
    this.pauseAll(account, question, breach);
    asked
      .then((draft) => {
        account.asking = false;
        account.hear(draft);
        this.check(account);
      })
      .catch((cause) => {
        account.asking = false;
        this.ports.report(`the budget of ${owner.id} is spent, and that could not be recorded yet`, cause);
      });
  }

  private withdraw(account: Account, { question_id }: BudgetQuestion): void {
    const { stamp, report } = this.ports;
    account.asking = true;
    const payload = { question_id, reason: "raised" as const, clock: stamp() };
    this.commit(account.owner, { type: "worker_question_withdrawn", payload })
      .then((draft) => account.hear(draft))
      .catch((cause) => report(`the question of ${account.owner.id} could not be withdrawn yet`, cause))
      .finally(() => {
        account.asking = false;
      });
  }

  private async commit(
    { id, tree, member }: Owner,
    record: Pick<RecordDraft, "type" | "payload">,
  ): Promise<RecordDraft> {
    const asker = askerOf({ id, member });
    const of =
      tree === null ? { stream: workerStream(asker), worker_id: asker } : { stream: treeStream(tree) };
    const draft = { ...of, ...record } as RecordDraft;
    await this.ports.log.commit([draft]);
    return draft;
  }

  private pauseAll(account: Account, { question_id }: BudgetQuestion, breach: Breach): void {
    for (const worker of this.membersOf(account)) {
      const { open, stop } = worker.child();
      if (!open || stop !== null || this.isSpared(worker) || isHeld(worker)) continue;
      if (!this.ports.canPause(worker)) {
        if (account.isUncertain()) continue;
        this.stop(account, worker, { ...breach, unpausable: true });
        continue;
      }
      const pid = this.ports.views.worker(worker.id)?.pid ?? null;
      this.tell(worker, {
        type: "pause",
        reason: "budget",
        detail: account.sentence(breach, worker.id),
        question_id,
        pids: pid === null ? [] : [pid],
      });
    }
  }

  private stopAll(account: Account, breach: Breach): void {
    for (const worker of this.membersOf(account)) {
      if (worker.child().stop !== null || this.isSpared(worker)) continue;
      this.stop(account, worker, breach);
    }
  }

  private stop(account: Account, worker: Spender, breach: Breach & { readonly unpausable?: true }): void {
    const owner = account.owner.id === worker.id ? {} : { owner: account.owner.id };
    const { grace_ms } = worker.spec;
    this.tell(worker, { type: "limit", ...breach, ...owner, grace_ms, waiting: true });
  }

  private spentOf(id: string): readonly Account[] {
    return this.owners.of(id).flatMap((owner) => {
      const account = this.accountOf(owner);
      return account.breach() === undefined ? [] : [account];
    });
  }

  /** Unpauses the workers, except those that another spent budget stops. */
  private lift(account: Account, by: string): void {
    account.breached = false;
    for (const worker of this.membersOf(account)) {
      if (this.spentOf(worker.id).length > 0) continue;
      if (isHeld(worker)) this.tell(worker, { type: "unpause", by, reason: "budget" });
      this.waiters.get(worker.id)?.();
    }
  }

  /** Drops an account whose file no longer has a budget. */
  private drop(key: string, account: Account): void {
    this.accounts.delete(key);
    if (account.question !== undefined) this.withdraw(account, account.question);
    this.lift(account, "budget");
  }
}
