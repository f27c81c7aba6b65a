/** Answers to holds: one way for a permission, a stall, an interrupted turn, a spent budget and a pause. */
import { Effect } from "effect";
import { attempt } from "../../actors/machine/attempt.ts";
import type { Worker } from "../../actors/worker/worker.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import {
  answersOf,
  HOLD_ANSWERS,
  type Hold,
  type HoldAnswer,
  type HoldOf,
  type HoldReason,
} from "../../protocol/holds.ts";
import { workerStream } from "../../protocol/records.ts";
import type { WorkerRow } from "../../store/views.ts";
import type { AnswerOptions, RuntimeApi } from "../api.ts";
import { asker } from "../authority/asker.ts";
import type { Core } from "../core.ts";
import type { BudgetAnswer } from "../limits/account.ts";
import type { Answered } from "../replies.ts";
import { type Forest, findSupervisor } from "../trees/forest.ts";
import type { Approvals } from "./approvals.ts";

/** The part of a hold that its answer needs. */
type AnswerableHold = Pick<Hold, "reason" | "id"> & { readonly answers: readonly HoldAnswer[] };

/** If several holds of a worker take the same answer, it goes to the first of these. */
const PRECEDENCE: readonly HoldReason[] = ["interrupted", "budget", "stall", "approval", "pause"];

export class Answers {
  private readonly core: Core;
  private readonly forest: Forest;
  private readonly approvals: Approvals;

  constructor(core: Core, forest: Forest, approvals: Approvals) {
    this.core = core;
    this.forest = forest;
    this.approvals = approvals;
  }

  readonly answer: RuntimeApi["answer"] = (ref, said, options = {}) =>
    Effect.suspend(() => {
      // The inbox's names: `WORKER:HOLD` or `SUPERVISOR:HOLD`.
      const [subject = ref, id] = ref.split(":");
      const { question_id = id, ...how } = options;
      if (how.budget !== undefined && said !== "continue") return Effect.fail(takesNoBudget());
      const isSupervisor = findSupervisor(this.forest, subject) !== undefined;
      return isSupervisor
        ? this.ofSupervisor(subject, said, question_id, how)
        : this.ofWorker(subject, said, question_id, how);
    });

  private ofSupervisor(
    path: string,
    said: HoldAnswer,
    question_id: string | undefined,
    how: AnswerOptions,
  ): Effect.Effect<Answered, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      if (!isBudgetAnswer(said)) return yield* Effect.fail(takesNot(path, said, HOLD_ANSWERS.budget));
      const by = yield* asker(this.core.authority.permitOn, how, "answer", path);
      const done = yield* this.core.accounts.answer(path, said, by, { question_id, budget: how.budget });
      return { id: path, answer: said, effect: "updated", ...done };
    });
  }

  private ofWorker(
    ref: string,
    said: HoldAnswer,
    question_id: string | undefined,
    how: AnswerOptions,
  ): Effect.Effect<Answered, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const request = yield* this.approvals.named(ref);
      if (request !== undefined) return yield* this.permission(request, said, how);
      const row = yield* this.core.find(ref);
      const asked = yield* attempt(() => this.askedBy(row));
      const hold = yield* pick(row, asked, said, question_id);
      if (how.budget !== undefined && hold.reason !== "budget") return yield* Effect.fail(takesNoBudget());
      switch (hold.reason) {
        case "approval":
          return yield* this.permission(hold.id, said, how);
        case "budget":
          return yield* this.budget(row, said as BudgetAnswer, question_id, how);
        default:
          return yield* this.worker(row, hold, said, how);
      }
    });
  }

  /**
   * The holds that a person can answer, by precedence. A spent budget may belong to another worker or supervisor in whose
   * budget this one counts.
   */
  private askedBy(row: WorkerRow): readonly AnswerableHold[] {
    const { views } = this.core.services;
    const own = views.holdsOf(workerStream(row.id)).map(({ hold }) => hold);
    const budgets = this.core.accounts.views(row.id).flatMap(({ question_id: id }): AnswerableHold[] => {
      return id === undefined ? [] : [{ reason: "budget", id, answers: HOLD_ANSWERS.budget }];
    });
    const others = own
      .filter(({ reason }) => reason !== "budget")
      .map((hold): AnswerableHold => ({ reason: hold.reason, id: hold.id, answers: answersOf(hold) }));
    const all = [...others, ...budgets].filter(({ answers }) => answers.length > 0);
    return all.sort((a, b) => PRECEDENCE.indexOf(a.reason) - PRECEDENCE.indexOf(b.reason));
  }

  private permission(
    ref: string,
    said: HoldAnswer,
    how: AnswerOptions,
  ): Effect.Effect<Answered, HoldfastError> {
    if (said !== "allow" && said !== "deny") return Effect.fail(takesNot(ref, said, HOLD_ANSWERS.approval));
    return Effect.map(this.approvals.approve(ref, said, how), ({ worker_id, approval_id, effect }) => ({
      id: worker_id,
      question_id: approval_id,
      answer: said,
      effect,
    }));
  }

  /** Answers for the budget's owner, whichever worker that counts in it was named. */
  private budget(
    row: WorkerRow,
    said: BudgetAnswer,
    question_id: string | undefined,
    how: AnswerOptions,
  ): Effect.Effect<Answered, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const { accounts, authority, services } = this.core;
      const spent = accounts.views(row.id).find((budget) => budget.question_id !== undefined)!;
      const by = yield* asker(authority.permit, how, "answer", row);
      const owner = yield* attempt(() => services.views.worker(spent.owner));
      if (owner === undefined) yield* asker(authority.permitOn, how, "answer", spent.owner);
      else yield* asker(authority.permit, how, "answer", owner);
      const done = yield* accounts.answer(row.id, said, by, { question_id, budget: how.budget });
      return { id: row.id, answer: said, effect: "updated", ...done };
    });
  }

  private worker(
    row: WorkerRow,
    { reason, id: question_id }: AnswerableHold,
    said: HoldAnswer,
    how: AnswerOptions,
  ): Effect.Effect<Answered, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const by = yield* asker(
        this.core.authority.permit,
        how,
        reason === "pause" ? "unpause" : "answer",
        row,
      );
      const worker = yield* this.living(row);
      const { grace_ms } = worker.spec;
      yield* worker.input(
        reason === "pause"
          ? { type: "unpause", by, reason: "operator" }
          : { type: "answer", question_id, answer: said as WorkerAnswer, by, grace_ms },
      );
      return { id: row.id, question_id, answer: said, effect: "updated" };
    });
  }

  private living(row: WorkerRow): Effect.Effect<Worker, HoldfastError> {
    const worker = this.core.roster.live.get(row.id);
    return worker === undefined
      ? Effect.fail(new HoldfastError("UNAVAILABLE", `Worker ${row.id} is not under supervision yet.`))
      : Effect.succeed(worker);
  }
}

type WorkerAnswer = (typeof HOLD_ANSWERS)[HoldOf<"stall" | "interrupted">["reason"]][number];

const isBudgetAnswer = (said: HoldAnswer): said is BudgetAnswer =>
  HOLD_ANSWERS.budget.some((answer) => answer === said);

const pick = (
  row: WorkerRow,
  asked: readonly AnswerableHold[],
  said: HoldAnswer,
  question_id: string | undefined,
): Effect.Effect<AnswerableHold, HoldfastError> => {
  const meant = question_id === undefined ? asked : asked.filter(({ id }) => id === question_id);
  if (question_id !== undefined && meant.length === 0)
    return Effect.fail(new HoldfastError("INVALID_STATE", `Worker ${row.id} no longer asks ${question_id}.`));
  const [first, ...more] = meant.filter(({ answers }) => answers.includes(said));
  if (first === undefined) return Effect.fail(asksOther(row, asked));
  const requests = [first, ...more].filter(({ reason }) => reason === "approval");
  return first.reason === "approval" && requests.length > 1
    ? Effect.fail(asksMore(row, requests))
    : Effect.succeed(first);
};

/** The question of each reason, in words for people. */
const ABOUT: Readonly<Record<HoldReason, string>> = {
  interrupted: "whether to go on",
  stall: "whether it is stuck",
  budget: "whether it may spend more",
  approval: "for a permission",
  pause: "to be unpaused",
  passivated: "for a message",
  placement: "where it should run",
};

const asksOther = ({ id, name }: WorkerRow, [first, ...more]: readonly AnswerableHold[]): HoldfastError => {
  if (first === undefined)
    return new HoldfastError("INVALID_STATE", `Worker ${id} asks nothing.`, {
      suggestion: "See what waits for you: agent inbox",
    });
  const others = more.length === 0 ? "" : `, and ${more.length} more`;
  return new HoldfastError(
    "INVALID_STATE",
    `Worker ${id} asks something else: ${ABOUT[first.reason]}${others}.`,
    {
      suggestion: `Answer it with: agent answer ${name ?? id} ${first.answers.join("|")}`,
    },
  );
};

const asksMore = ({ id, name }: WorkerRow, requests: readonly AnswerableHold[]): HoldfastError =>
  new HoldfastError(
    "INVALID_STATE",
    `Worker ${name ?? id} waits for ${requests.length} permissions: ${requests.map((one) => one.id).join(", ")}.`,
    { suggestion: `Name the request: agent answer ${requests[0]!.id} allow|deny` },
  );

const takesNoBudget = (): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", "A budget is given with continue, to a budget that is spent.");

const takesNot = (ref: string, said: HoldAnswer, answers: readonly HoldAnswer[]): HoldfastError =>
  new HoldfastError("INVALID_STATE", `${ref} does not take the answer "${said}".`, {
    suggestion: `Answer it with: agent answer ${ref} ${answers.join("|")}`,
  });
