/** `agent restart`: ends the processes of workers, which then start anew. */
import { type CommandHandler, keyOf } from "../context.ts";
import { dryRun, wouldRestart } from "./dry-run.ts";
import { chosen } from "./list.ts";
import { perWorker, withResults } from "./per-worker.ts";

export const restart: CommandHandler = async (context) => {
  const { flags } = context;
  const client = await context.connect();
  const ids = [...(await chosen(context, client))];
  if (ids.length === 0) return perWorker([]);
  if (!flags["dry-run"])
    context.onInterrupt = { sentence: "The daemon keeps restarting them. See: agent list" };
  return withResults(context, `restarting ${ids.join(", ")}`, () =>
    flags["dry-run"]
      ? dryRun(client, ids, wouldRestart)
      : client.ask("agent/restart", { ids, idempotency_key: keyOf({ flags }) }),
  );
};
