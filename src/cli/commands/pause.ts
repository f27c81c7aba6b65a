/** `agent pause` and `agent unpause`. */
import { type CommandHandler, keyOf } from "../context.ts";
import { dryRun, wouldPause, wouldUnpause } from "./dry-run.ts";
import { chosen } from "./list.ts";
import { perWorker, withResults } from "./per-worker.ts";

export const pause: CommandHandler = async (context) => {
  const { flags } = context;
  const client = await context.connect();
  const ids = [...(await chosen(context, client))];
  if (ids.length === 0) return perWorker([]);
  const how = { reason: flags.reason as string | undefined, idempotency_key: keyOf({ flags }) };
  return withResults(context, `pausing ${ids.join(", ")}`, () =>
    flags["dry-run"] ? dryRun(client, ids, wouldPause) : client.ask("agent/pause", { ids, ...how }),
  );
};

export const unpause: CommandHandler = async (context) => {
  const { flags } = context;
  const client = await context.connect();
  const ids = [...(await chosen(context, client))];
  if (ids.length === 0) return perWorker([]);
  return withResults(context, `letting ${ids.join(", ")} go on`, () =>
    flags["dry-run"]
      ? dryRun(client, ids, wouldUnpause)
      : client.ask("agent/unpause", { ids, idempotency_key: keyOf({ flags }) }),
  );
};
