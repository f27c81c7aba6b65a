/**
 * The budgets that are in force: who counts in which, what was spent, and what a breach does. A budget belongs to a worker,
 * for itself and all that its agent spawned, or to a supervisor of a file, for all that run below it. The sum that was spent is what the records say, ended incarnations and removed workers too: it is read once and kept up here while somebody spends.
 *
 * A breach is looked for where an increment is on record, before every start, and on the tick; what it asks for is found
 * again each time, so a daemon that dies in the middle leaves nothing undone.
 */

import { Effect } from "effect";
import type { Spender, Spending } from "../../actors/spending.ts";
import { LAST_BREATH_MS } from "../../base/limits.ts";
import type { ClockStamp } from "../../protocol/clock-stamp.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import type { RecordDraft, RecordPayloads, RecordType } from "../../protocol/records.ts";
import { treeStream, workerStream } from "../../protocol/records.ts";
import type { Budget } from "../../protocol/worker.ts";
import type { EventLog } from "../../store/port.ts";
import { type Breach, boundsOf, breachOf, raised } from "../../supervisor/budgets/budgets.ts";
import { breachSentence } from "../../supervisor/child/stop-errors.ts";
import type { Gaps } from "../../supervisor/clocks/gaps.ts";
import { pausedMs } from "../../supervisor/holds/pause.ts";
import type { BudgetView } from "../replies.ts";
import { type Guarded, keyOf, type Owner, Owners } from "./budget-owners.ts";
import { Meters } from "./meters.ts";

type Question = Extract<RecordPayloads["worker_question"], { readonly about: "budget" }>;
export type BudgetAnswer = Question["answers"][number];

interface Account {
  owner: Owner;
  readonly meters: Meters;
  /** Bounds that somebody has raised. */
  granted: Budget;
  /** The newest question that was not answered with `continue`. */
  question: Question | undefined;
  stopped: boolean;
  /** Its question is on its way to the log. */
  asking: boolean;
  /** A breach was found, and not lifted since. */
  breached: boolean;
  /** Turns that are to begin, and wait for it: one, or none. */
  wanted: number;
}

export interface Accounts extends Spending {
  /** Trees are made after this: by the path of a supervisor. */
  plant(find: (path: string) => Guarded | undefined): void;
  /** It is to be stopped before it begins: it need not wait for money. */
  letGo(id: string): void;
  /** Its life is over. */
  left(id: string): void;
  isWaiting(id: string): boolean;
  tick(): void;
  /** The tree was taken down: what a next one of this name spends is another matter. */
  forget(tree: string): void;
  /** Those that the worker counts in, or those of a supervisor. */
  views(ref: string): readonly BudgetView[];
  /** The spent budget that keeps a worker from going on: its own first. */
  spentFor(id: string): { readonly question_id?: string; readonly sentence: string } | undefined;
  answer(
    ref: string,
    said: BudgetAnswer,
    by: string,
    question_id: string | undefined,
  ): Effect.Effect<{ readonly question_id: string }, HoldfastError>;
}

export interface AccountPorts {
  readonly log: EventLog;
  readonly live: () => ReadonlyMap<string, Spender>;
  readonly gaps: Gaps;
  readonly monoMs: () => number;
  readonly wallMs: () => number;
  readonly stamp: () => ClockStamp;
  readonly report: (message: string, cause?: unknown) => void;
}

const asksNothing = (ref: string): HoldfastError =>
  new HoldfastError("INVALID_STATE", `No budget of ${ref} is spent: it asks nothing.`, {
    suggestion: "See what was spent with `agent info`.",
  });

const ANSWERS: Question["answers"] = ["continue", "stop"];
const OF_QUESTIONS: readonly RecordType[] = [
  "worker_question",
  "worker_answered",
  "worker_question_withdrawn",
  "tree_removed",
];

export const makeAccounts = (ports: AccountPorts): Accounts => {
  const { log, live, gaps, monoMs, report } = ports;
  const accounts = new Map<string, Account>();
  const waiters = new Map<string, () => void>();
  /** Workers that have answered their one prompt and are about to end by themselves: until when it is left alone. */
  const breathing = new Map<string, number>();
  const owners = new Owners(log, live);

  // --- what was spent

  const accountOf = (owner: Owner): Account => {
    const known = accounts.get(keyOf(owner));
    if (known !== undefined) {
      known.owner = owner;
      return known;
    }
    const account: Account = {
      owner,
      meters: new Meters(log, owners.past(owner)),
      granted: {},
      question: undefined,
      stopped: false,
      asking: false,
      breached: false,
      wanted: 0,
    };
    for (const record of questionsOf(owner)) hear(account, record);
    accounts.set(keyOf(owner), account);
    return account;
  };

  const questionsOf = ({ id, tree }: Owner) =>
    tree === null ? log.stream(id, OF_QUESTIONS) : log.treeStream(tree, OF_QUESTIONS);

  const hear = (account: Account, record: RecordDraft): void => {
    // A next tree of this name has nothing to do with it.
    if (record.type === "tree_removed") {
      account.granted = {};
      account.question = undefined;
      account.stopped = false;
      return;
    }
    if (record.type === "worker_question") {
      const { payload } = record;
      if (payload.about !== "budget" || payload.owner !== account.owner.id) return;
      account.question = payload;
      account.stopped = false;
      account.wanted = payload.limit === "turns" ? 1 : 0;
      return;
    }
    if (record.type !== "worker_answered" && record.type !== "worker_question_withdrawn") return;
    if (record.payload.question_id !== account.question?.question_id) return;
    if (record.type === "worker_answered" && record.payload.answer === "stop") {
      account.stopped = true;
      return;
    }
    if (record.type === "worker_answered") account.granted = record.payload.budget ?? account.granted;
    account.question = undefined;
    account.stopped = false;
    account.wanted = 0;
  };

  const wallOf = (worker: Spender): number => {
    const { open, spawned, started_ms, spent_ms, pause } = worker.child();
    if (!open || !spawned || started_ms === null) return spent_ms;
    const now = monoMs();
    return spent_ms + Math.max(0, now - started_ms - gaps.forgiven(started_ms) - pausedMs(pause, now));
  };

  // --- what a breach does

  const membersOf = (account: Account): readonly Spender[] =>
    account.meters.ids().flatMap((id) => live().get(id) ?? []);

  const bounds = ({ owner, granted }: Account): Budget => boundsOf(owner.budget, granted);
  const breachIn = (account: Account): Breach | undefined =>
    breachOf(bounds(account), account.meters.sum, account.wanted);
  const isSpared = ({ id }: Pick<Spender, "id">): boolean => (breathing.get(id) ?? 0) > monoMs();
  const isStopped = ({ owner, stopped }: Account): boolean => owner.on_breach === "stop" || stopped;
  const sentenceOf = ({ owner }: Account, { limit, bound }: Breach, id: string): string =>
    breachSentence(owner.id === id ? undefined : owner.id, limit, bound);

  const tell = (worker: Spender, input: Parameters<Spender["input"]>[0]): void => {
    Effect.runPromise(worker.input(input)).catch((cause) =>
      report(`the budget of worker ${worker.id} could not be carried out; it is tried again`, cause),
    );
  };

  const check = (account: Account): void => {
    const breach = breachIn(account);
    if (breach === undefined) {
      // Its file allows more by now.
      if (account.question !== undefined && !account.asking) withdraw(account, account.question);
      if (account.breached) lift(account, "budget");
      return;
    }
    account.breached = true;
    if (isStopped(account)) stopAll(account, breach);
    else if (account.question !== undefined) pauseAll(account, account.question, breach);
    else if (!account.asking && membersOf(account).some((worker) => !isSpared(worker))) ask(account, breach);
  };

  const ask = (account: Account, { limit, value, bound }: Breach): void => {
    const { owner } = account;
    const question: Question = {
      question_id: newId(ports.wallMs()),
      about: "budget",
      owner: owner.id,
      limit,
      value,
      bound,
      answers: ANSWERS,
      clock: ports.stamp(),
    };
    account.asking = true;
    const asked = commit(owner, { type: "worker_question", payload: question });
    // Behind it in the log, and in the same transaction where they can be: money is spent meanwhile.
    pauseAll(account, question, { limit, value, bound });
    asked
      .then((draft) => {
        account.asking = false;
        hear(account, draft);
        check(account);
      })
      .catch((cause) => {
        account.asking = false;
        report(`the budget of ${owner.id} is spent, and that could not be recorded yet`, cause);
      });
  };

  const withdraw = (account: Account, { question_id }: Question): void => {
    account.asking = true;
    const payload = { question_id, reason: "raised" as const, clock: ports.stamp() };
    commit(account.owner, { type: "worker_question_withdrawn", payload })
      .then((draft) => hear(account, draft))
      .catch((cause) => report(`the question of ${account.owner.id} could not be withdrawn yet`, cause))
      .finally(() => {
        account.asking = false;
      });
  };

  const commit = async (
    { id, tree }: Owner,
    record: Pick<RecordDraft, "type" | "payload">,
  ): Promise<RecordDraft> => {
    const of = tree === null ? { stream: workerStream(id), worker_id: id } : { stream: treeStream(tree) };
    const draft = { ...of, ...record } as RecordDraft;
    await log.commit([draft]);
    return draft;
  };

  const isHeld = (worker: Spender): boolean =>
    worker.child().pause.causes.some(({ reason }) => reason === "budget");

  const pauseAll = (account: Account, { question_id }: Question, breach: Breach): void => {
    for (const worker of membersOf(account)) {
      const { open, stop } = worker.child();
      if (!open || stop !== null || isSpared(worker) || isHeld(worker)) continue;
      const pid = log.worker(worker.id)?.pid ?? null;
      tell(worker, {
        type: "pause",
        reason: "budget",
        detail: sentenceOf(account, breach, worker.id),
        question_id,
        pids: pid === null ? [] : [pid],
      });
    }
  };

  const stopAll = (account: Account, breach: Breach): void => {
    for (const worker of membersOf(account)) {
      if (worker.child().stop !== null || isSpared(worker)) continue;
      const owner = account.owner.id === worker.id ? {} : { owner: account.owner.id };
      tell(worker, { type: "limit", ...breach, ...owner, grace_ms: worker.spec.grace_ms, waiting: true });
    }
  };

  const spentOf = (id: string): readonly Account[] =>
    owners.of(id).flatMap((owner) => {
      const account = accountOf(owner);
      return breachIn(account) === undefined ? [] : [account];
    });

  /** A worker that counts in another spent budget goes on waiting for that one. */
  const lift = (account: Account, by: string): void => {
    account.breached = false;
    for (const worker of membersOf(account)) {
      if (spentOf(worker.id).length > 0) continue;
      if (isHeld(worker)) tell(worker, { type: "unpause", by, reason: "budget" });
      waiters.get(worker.id)?.();
    }
  };

  const look: Accounts["look"] = (worker, breath = false, open) => {
    if (breath) breathing.set(worker.id, monoMs() + LAST_BREATH_MS);
    else breathing.delete(worker.id);
    const counted = owners.of(worker.id);
    if (counted.length === 0) {
      // Its budget is in the file no more.
      if (isHeld(worker)) tell(worker, { type: "unpause", by: "budget", reason: "budget" });
      return;
    }
    const row = log.worker(worker.id);
    for (const owner of counted) {
      const account = accountOf(owner);
      if (row !== undefined) account.meters.counted(row, open);
      account.meters.ran(worker.id, wallOf(worker));
      check(account);
    }
    if (isHeld(worker) && spentOf(worker.id).length === 0)
      tell(worker, { type: "unpause", by: "budget", reason: "budget" });
  };

  const gate: Accounts["gate"] = (worker) => {
    look(worker);
    if (spentOf(worker.id).length === 0) return undefined;
    return new Promise<void>((resolve) => {
      waiters.set(worker.id, () => {
        waiters.delete(worker.id);
        resolve();
      });
    });
  };

  const viewOf = (account: Account): BudgetView => {
    const { owner, question, meters } = account;
    const breach = breachIn(account);
    const state = breach === undefined ? "open" : isStopped(account) ? "stopped" : "asked";
    return {
      owner: owner.id,
      state,
      spent: meters.sum,
      bounds: bounds(account),
      unpriced: meters.isUnpriced(),
      estimated: meters.isEstimated(),
      ...(question === undefined ? {} : { question_id: question.question_id }),
    };
  };

  /** Its file gives no budget any more. */
  const drop = (key: string, account: Account): void => {
    accounts.delete(key);
    if (account.question !== undefined) withdraw(account, account.question);
    lift(account, "budget");
  };

  return {
    plant: (find) => owners.plant(find),
    look,
    wrote: (worker, bytes, open) => {
      for (const owner of owners.of(worker.id)) {
        const account = accountOf(owner);
        account.meters.wrote(worker.id, worker.child().incarnation, bytes, open);
        check(account);
      }
    },
    takesTurn: (worker, underWay) => {
      let may = true;
      for (const owner of owners.of(worker.id)) {
        const account = accountOf(owner);
        const bound = bounds(account).turns;
        if (bound === undefined || account.meters.sum.turns + underWay < bound) continue;
        may = false;
        // One that is under way may still use it up: nobody is asked before it has.
        if (underWay > 0) continue;
        account.wanted = 1;
        check(account);
      }
      return may;
    },
    gate,
    letGo: (id) => waiters.get(id)?.(),
    left: (id) => {
      waiters.delete(id);
      breathing.delete(id);
    },
    isWaiting: (id) => waiters.has(id),
    tick: () => {
      owners.freshen();
      for (const [key, account] of accounts) {
        const { owner, meters } = account;
        meters.letGo((id) => live().has(id));
        // Nobody spends of it any more; who asks what was spent has it from the log again.
        if (owner.tree === null && !account.asking && membersOf(account).length === 0) {
          accounts.delete(key);
          continue;
        }
        if (owner.tree !== null) {
          const [now] = owners.at(owner.id);
          if (now === undefined) {
            drop(key, account);
            continue;
          }
          account.owner = now;
        }
        if (owner.budget.wall_ms !== undefined)
          for (const worker of membersOf(account)) meters.ran(worker.id, wallOf(worker));
        if (account.breached || owner.budget.wall_ms !== undefined) check(account);
      }
    },
    forget: (tree) => {
      for (const [key, { owner }] of accounts) if (owner.tree === tree) accounts.delete(key);
      owners.freshen();
    },
    views: (ref) =>
      (owners.isSupervisor(ref) ? owners.at(ref) : owners.of(ref)).map((owner) => viewOf(accountOf(owner))),
    spentFor: (id) => {
      const [account] = spentOf(id);
      const breach = account && breachIn(account);
      if (account === undefined || breach === undefined) return undefined;
      const { question } = account;
      return {
        sentence: sentenceOf(account, breach, id),
        ...(question === undefined ? {} : { question_id: question.question_id }),
      };
    },
    answer: (ref, said, by, question_id) =>
      Effect.tryPromise({
        try: async () => {
          const asked = owners.isSupervisor(ref) ? owners.at(ref) : owners.of(ref);
          const account = asked.map(accountOf).find(({ question }) => question !== undefined);
          const question = account?.question;
          if (account === undefined || question === undefined) throw asksNothing(ref);
          if (question_id !== undefined && question_id !== question.question_id)
            throw new HoldfastError("INVALID_STATE", `${ref} does not ask ${question_id} any more.`);
          const { owner, granted, meters } = account;
          const payload = {
            question_id: question.question_id,
            answer: said,
            by,
            ...(said === "continue"
              ? { budget: raised(owner.budget, granted, meters.sum, account.wanted) }
              : {}),
            clock: ports.stamp(),
          };
          hear(account, await commit(owner, { type: "worker_answered", payload }));
          if (said === "continue") lift(account, by);
          else check(account);
          return { question_id: question.question_id };
        },
        catch: (cause) => asHoldfastError(cause),
      }),
  };
};
