/** The refusal to start a worker by name whose budget is spent, with the next step. */
import { HoldfastError } from "../protocol/errors.ts";
import type { WorkerRow } from "../store/views.ts";

export const spentRefusal = (
  { id }: WorkerRow,
  { sentence, question_id }: { readonly sentence: string; readonly question_id?: string },
): HoldfastError =>
  new HoldfastError("BUDGET_EXCEEDED", `Worker ${id} cannot be started: ${sentence}.`, {
    suggestion:
      question_id === undefined
        ? "Raise the budget in its file and run `agent up`, or spawn it again with more."
        : `Grant as much again with \`agent answer ${id} continue\`.`,
  });
