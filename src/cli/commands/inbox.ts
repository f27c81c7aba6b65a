/** agent inbox and agent answer: everything that waits for a person, and the one command that answers it. */

import type { HoldAnswer } from "../../protocol/holds.ts";
import { success } from "../../protocol/outcome.ts";
import type { Budget } from "../../protocol/worker.ts";
import { type CommandHandler, keyOf } from "../context.ts";
import { pageAsked, pageShown } from "./paging.ts";

export const inbox: CommandHandler = async (context) => {
  const [id] = context.call.args;
  const page = await (await context.connect()).request("agent/inbox", {
    id,
    all: context.flags.all === true,
    ...pageAsked(context),
  });
  if (page.holds.length === 0)
    context.hint(id === undefined ? "Nothing waits for you." : `${id} does not wait for you.`);
  else context.hint("Answer one with: agent answer FOR ANSWER");
  const words = ["agent", "inbox", ...(id === undefined ? [] : [id])];
  return pageShown(context, page, { words, there: "There are more" });
};

export const answer: CommandHandler = async ({ call, flags, connect }) => {
  const [id, said] = call.args;
  const reply = await (await connect()).request("agent/answer", {
    id: id!,
    answer: said as HoldAnswer,
    message: flags.reason as string | undefined,
    budget: flags.budget as Budget | undefined,
    idempotency_key: keyOf({ flags }),
  });
  return success({ ...reply, effect: reply.effect ?? "updated" });
};
