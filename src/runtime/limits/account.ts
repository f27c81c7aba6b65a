/** One active budget: the spending, the open question and the answers. */
import { HoldfastError } from "../../protocol/errors.ts";
import { HOLD_ANSWERS } from "../../protocol/holds.ts";
import type { RecordDraft, RecordPayloads } from "../../protocol/records.ts";
import type { Budget } from "../../protocol/worker.ts";
import {
  type Breach,
  boundsOf,
  breachAt,
  breachOf,
  fieldOf,
  raised,
  type SpentAmounts,
} from "../../supervisor/budgets/budgets.ts";
import { breachSentence } from "../../supervisor/child/stop-errors.ts";
import type { BudgetView } from "../replies.ts";
import type { Owner } from "./budget-owners.ts";
import type { PortionedBudget } from "./leased.ts";
import type { Meters } from "./meters.ts";

export type BudgetQuestion = Extract<RecordPayloads["worker_question"], { readonly about: "budget" }>;
export const ANSWERS = HOLD_ANSWERS.budget;
export type BudgetAnswer = (typeof ANSWERS)[number];

export class Account {
  owner: Owner;
  readonly meters: Meters;
  /** The newest question not answered with `continue`. */
  question: BudgetQuestion | undefined;
  /** The question is on its way to the log. */
  asking = false;
  /** A breach was found and has not been lifted since. */
  breached = false;
  /** Turns that wait for the budget to begin: 0 or 1. */
  wanted = 0;
  /** Bounds that a person has raised. */
  private granted: Budget = {};
  private stopped = false;

  /** The budget is one of the cluster, so this machine has a portion of it. */
  leased: PortionedBudget | undefined;

  constructor(owner: Owner, meters: Meters, leased?: PortionedBudget) {
    this.owner = owner;
    this.meters = meters;
    this.leased = leased;
  }

  hear(record: RecordDraft): void {
    // A later tree of the same name starts afresh.
    if (record.type === "tree_removed") {
      this.granted = {};
      this.question = undefined;
      this.stopped = false;
      return;
    }
    if (record.type === "worker_question") {
      const { payload } = record;
      if (payload.about !== "budget" || payload.owner !== this.owner.id) return;
      this.question = payload;
      this.stopped = false;
      this.wanted = payload.limit === "turns" ? 1 : 0;
      return;
    }
    if (record.type !== "worker_answered" && record.type !== "worker_question_withdrawn") return;
    if (record.payload.question_id !== this.question?.question_id) return;
    if (record.type === "worker_answered" && record.payload.answer === "stop") {
      this.stopped = true;
      return;
    }
    if (record.type === "worker_answered") this.granted = record.payload.budget ?? this.granted;
    this.question = undefined;
    this.stopped = false;
    this.wanted = 0;
  }

  bounds(): Budget {
    return this.leased?.bounds() ?? this.whole();
  }

  /** In all, on other machines too. */
  spent(): SpentAmounts {
    return this.leased?.total(this.meters.sum) ?? this.meters.sum;
  }

  private whole(): Budget {
    return this.leased?.whole() ?? boundsOf(this.owner.budget, this.granted);
  }

  /** Bounds that allow the budget's workers to go on: the given ones, else as much again. Throws INVALID_REQUEST if they do not. */
  granting(given: Budget | undefined): Budget {
    const { owner, wanted } = this;
    const granted = this.whole();
    const spent = this.leased?.passed(this.spent()) ?? this.spent();
    if (given === undefined) return raised(owner.budget, granted, spent, wanted);
    const unknown = Object.keys(given).filter((field) => !(field in owner.budget));
    if (unknown.length > 0)
      throw grantsNot(`The budget of ${owner.id} has no bound for ${unknown.join(" and ")}.`);
    const bounds = boundsOf(owner.budget, { ...granted, ...given });
    const breach = breachOf(bounds, spent, wanted);
    if (breach === undefined) return bounds;
    throw grantsNot(`It would still wait: ${breachSentence(undefined, breach.limit, breach.bound)}.`);
  }

  breach(): Breach | undefined {
    const own = breachOf(this.bounds(), this.spent(), this.wanted);
    if (own !== undefined) return own;
    const found = this.leased?.found();
    return found === undefined ? undefined : breachAt(found, this.whole(), this.spent());
  }

  /** Its portion is spent, and more of the budget may be in the cluster: nothing is ended for it yet. */
  isUncertain(): boolean {
    const { leased } = this;
    if (leased?.isUncertain !== true) return false;
    if (leased.isUnknown) return true;
    return breachOf(this.whole(), leased.shown(this.meters.sum), this.wanted) === undefined;
  }

  /** A budget that is spent is spent for all machines. */
  tell(breach: Breach): void {
    if (!this.isUncertain()) this.leased?.find(fieldOf(breach));
  }

  isStopped(): boolean {
    if (this.stopped || this.leased?.isStopped === true) return true;
    return this.owner.on_breach === "stop" && !this.isUncertain();
  }

  sentence({ limit, bound }: Breach, id: string): string {
    return breachSentence(this.owner.id === id ? undefined : this.owner.id, limit, bound);
  }

  view(): BudgetView {
    const { owner, question, meters } = this;
    const state = this.breach() === undefined ? "open" : this.isStopped() ? "stopped" : "asked";
    return {
      owner: owner.id,
      state,
      spent: this.leased?.shown(meters.sum) ?? meters.sum,
      bounds: this.whole(),
      unpriced: meters.isUnpriced(),
      estimated: meters.isEstimated(),
      ...(question === undefined ? {} : { question_id: question.question_id }),
    };
  }
}

const grantsNot = (message: string): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", message, {
    suggestion: "Give more of what is spent, or no budget, which grants as much again.",
  });
