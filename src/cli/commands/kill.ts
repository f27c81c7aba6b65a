/** `agent kill`: stops workers, and tells their ends as they come. */
import { type CommandHandler, keyOf } from "../context.ts";
import { countEnds } from "./count-ends.ts";
import { chosen } from "./list.ts";
import { perWorker, withResults } from "./per-worker.ts";

export const kill: CommandHandler = async (context) => {
  const { flags } = context;
  const client = await context.connect();
  const ids = await chosen(context, client);
  if (ids.length === 0 && flags.all !== true) return perWorker([]);
  const again = flags.all ? "--all" : ids.join(" ");
  context.onInterrupt = {
    sentence: `The daemon keeps stopping them. To end their grace now: agent kill ${again}`,
  };
  const what = `stopping ${flags.all ? "all workers" : ids.join(", ")}`;
  const ask = () =>
    client.ask("agent/kill", {
      ids: [...ids],
      all: flags.all === true,
      subtree: flags.subtree === true,
      grace_ms: flags.grace as number | undefined,
      signal: flags.signal as string | undefined,
      reason: flags.reason as string | undefined,
      dry_run: flags["dry-run"] === true,
      idempotency_key: keyOf({ flags }),
    });
  if (flags["dry-run"]) return withResults(context, what, ask);
  return withResults(context, what, ask, await countEnds(context, client, flags.all ? undefined : ids));
};
