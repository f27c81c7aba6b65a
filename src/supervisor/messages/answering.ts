/** Answers to what workers and supervisors ask: whether they are stuck, may spend more, or go on in a turn that was interrupted. */
import { Effect } from "effect";
import { HoldfastError } from "../../protocol/errors.ts";
import type { WorkerRow } from "../../store/port.ts";
import type { Core } from "../core.ts";
import type { RuntimeApi } from "../facade.ts";
import { isInterruptedAnswer } from "../sessions/interruption.ts";
import { type Forest, findSupervisor } from "../tree/forest.ts";

export const makeAnswering = (core: Core, forest: Forest): RuntimeApi["answer"] => {
  const {
    find,
    roster: { live },
  } = core;
  return (ref, said, { question_id, by = "user" } = {}) =>
    Effect.gen(function* () {
      if (findSupervisor(forest, ref) !== undefined && (said === "continue" || said === "stop"))
        return { id: ref, answer: said, ...(yield* core.accounts.answer(ref, said, by, question_id)) };
      const row = yield* find(ref);
      const worker = live.get(row.id);
      const { ladder, interrupted = null } = worker?.child() ?? {};
      const isThis = question_id === undefined || question_id === interrupted?.question_id;
      if (worker !== undefined && interrupted !== null && isThis && isInterruptedAnswer(said)) {
        const asked = interrupted.question_id;
        const input = { type: "answer", question_id: asked, answer: said, by } as const;
        yield* worker.input({ ...input, grace_ms: worker.spec.grace_ms });
        return { id: row.id, question_id: asked, answer: said };
      }
      if (said === "continue" || said === "stop")
        return {
          id: row.id,
          answer: said,
          ...(yield* core.accounts.answer(row.id, said, by, question_id)),
        };
      if (worker === undefined || ladder?.stage !== "asked" || said === "fresh")
        return yield* Effect.fail(asksNothing(row, interrupted !== null, worker?.approvals?.waiting() ?? 0));
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

const asksNothing = ({ id, name }: WorkerRow, isInterrupted: boolean, permissions: number): HoldfastError => {
  if (isInterrupted)
    return new HoldfastError("INVALID_STATE", `Worker ${id} asks something else: whether to go on.`, {
      suggestion: `Answer it with: agent answer ${id} continue|fresh|stop`,
    });
  if (permissions > 0)
    return new HoldfastError("INVALID_STATE", `Worker ${id} asks something else: for a permission.`, {
      suggestion: `See what it asks with: agent approvals ${name ?? id}. Answer it with: agent approvals approve|deny ${permissions === 1 ? (name ?? id) : "ID"}`,
    });
  return new HoldfastError("INVALID_STATE", `Worker ${id} asks nothing.`, {
    suggestion: "See what it does with `agent logs`.",
  });
};
