/** agent usage: the tokens, cost and time that workers used. */

import { success } from "../../protocol/outcome.ts";
import { USAGE_BY } from "../../protocol/words.ts";
import type { UsageReply } from "../../runtime/replies.ts";
import type { CommandHandler } from "../context.ts";
import type { Call } from "../parse.ts";
import { count } from "../render/units.ts";

export const usageProblems = ({ args, flags }: Call): readonly string[] => {
  const problems: string[] = [];
  const by = flags.by as string | undefined;
  if (by !== undefined && !USAGE_BY.test(by))
    problems.push(`--by is day, kind, model, worker or label:KEY, not "${by}"`);
  if (flags.subtree && args.length === 0) problems.push("--subtree needs the ID of a worker");
  return problems;
};

/** Warns of usage that is in no sum, with a remedy. */
const unpricedSentence = ({ total, unpriced_models }: UsageReply): string | undefined => {
  if (total.unpriced === 0) return undefined;
  const names = unpriced_models.map((model) => model ?? "one without a name").join(", ");
  return `${count(total.unpriced, "turn")} reported no cost, and no price is known for the model (${names}): neither sum has them. Give prices with HOLDFAST_PRICES.`;
};

export const usage: CommandHandler = async (context) => {
  const { call, flags } = context;
  const done = context.progress("adding up what was used");
  const client = await context.connect();
  const reply = await client
    .request("agent/usage", {
      ids: [...call.args],
      by: (flags.by as string | undefined) ?? "day",
      since_ms: flags.since as number | undefined,
      subtree: flags.subtree === true,
    })
    .finally(done);
  if (reply.rows.length === 0) context.hint("No turn has been completed there; only those are counted.");
  const unpriced = unpricedSentence(reply);
  if (unpriced !== undefined) context.warn(unpriced);
  if (reply.omitted === 0) return success(reply);
  context.warn(`${count(reply.omitted, "more row")} not shown; the total has all of them.`);
  return { ...success(reply), meta: { truncated: true } };
};
