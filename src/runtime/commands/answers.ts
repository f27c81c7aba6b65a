/** Answers to what workers and supervisors ask: whether they are stuck, may spend more, or go on in a turn that was interrupted. */
import { Effect } from "effect";
import { attempt } from "../../actors/machine/attempt.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { WorkerRow } from "../../store/port.ts";
import { isInterruptedAnswer } from "../../supervisor/child/interruption.ts";
import type { RuntimeApi } from "../api.ts";
import { asker } from "../authority/asker.ts";
import type { Core } from "../core.ts";
import { type Forest, findSupervisor } from "../trees/forest.ts";

export const makeAnswering = (core: Core, forest: Forest): RuntimeApi["answer"] => {
  const {
    authority,
    find,
    roster: { live },
  } = core;
  return (ref, said, { question_id, ...how } = {}) =>
    Effect.gen(function* () {
      if (findSupervisor(forest, ref) !== undefined && (said === "continue" || said === "stop")) {
        const by = yield* asker(authority.permitOn, how, "answer", ref);
        return { id: ref, answer: said, ...(yield* core.accounts.answer(ref, said, by, question_id)) };
      }
      const row = yield* find(ref);
      const by = yield* asker(authority.permit, how, "answer", row);
      const worker = live.get(row.id);
      const { ladder, interrupted = null } = worker?.child() ?? {};
      const isThis = question_id === undefined || question_id === interrupted?.question_id;
      if (worker !== undefined && interrupted !== null && isThis && isInterruptedAnswer(said)) {
        const asked = interrupted.question_id;
        const input = { type: "answer", question_id: asked, answer: said, by } as const;
        yield* worker.input({ ...input, grace_ms: worker.spec.grace_ms });
        return { id: row.id, question_id: asked, answer: said };
      }
      const spent = core.accounts.views(row.id).find((budget) => budget.question_id !== undefined);
      const isSpent = spent !== undefined;
      if (isSpent && (said === "continue" || said === "stop")) {
        // It is the owner's budget that is answered for, by whichever of those that count in it.
        const owner = yield* attempt(() => core.services.log.worker(spent.owner));
        if (owner === undefined) yield* asker(authority.permitOn, how, "answer", spent.owner);
        else yield* asker(authority.permit, how, "answer", owner);
        return {
          id: row.id,
          answer: said,
          ...(yield* core.accounts.answer(row.id, said, by, question_id)),
        };
      }
      const isStuck = ladder?.stage === "asked";
      const isForOther = said === "fresh" || said === "continue" || said === "stop";
      if (worker === undefined || !isStuck || isForOther) {
        const permissions = worker?.approvals?.waiting() ?? 0;
        const asked = { isInterrupted: interrupted !== null, isStuck, isSpent, permissions };
        return yield* Effect.fail(asksNothing(row, asked));
      }
      if (question_id !== undefined && question_id !== ladder.question_id)
        return yield* Effect.fail(
          new HoldfastError("INVALID_STATE", `Worker ${row.id} does not ask ${question_id} any more.`),
        );
      const { grace_ms } = worker.spec;
      yield* worker.input({
        type: "answer",
        question_id: ladder.question_id,
        answer: said,
        by,
        grace_ms,
      });
      return { id: row.id, question_id: ladder.question_id, answer: said };
    });
};

interface Asked {
  readonly isInterrupted: boolean;
  readonly isStuck: boolean;
  readonly isSpent: boolean;
  readonly permissions: number;
}

const asksNothing = ({ id, name }: WorkerRow, asked: Asked): HoldfastError => {
  const somethingElse = (what: string, suggestion: string): HoldfastError =>
    new HoldfastError("INVALID_STATE", `Worker ${id} asks something else: ${what}.`, { suggestion });
  const by = (answers: string): string => `Answer it with: agent answer ${name ?? id} ${answers}`;
  const { permissions } = asked;
  if (asked.isInterrupted) return somethingElse("whether to go on", by("continue|fresh|stop"));
  if (asked.isStuck) return somethingElse("whether it is stuck", by("wait|restart|kill"));
  if (asked.isSpent) return somethingElse("whether it may spend more", by("continue|stop"));
  if (permissions > 0)
    return somethingElse(
      "for a permission",
      `See what it asks with: agent approvals ${name ?? id}. Answer it with: agent approvals approve|deny ${permissions === 1 ? (name ?? id) : "ID"}`,
    );
  return new HoldfastError("INVALID_STATE", `Worker ${id} asks nothing.`, {
    suggestion: "See what it does with `agent logs`.",
  });
};
