/** agent spawn-many: several agents by their roles, all of them or none. */
import { SPAWN_MANY_FILE_MAX_BYTES } from "../../base/limits.ts";
import { asHoldfastError } from "../../protocol/errors.ts";
import { type CommandHandler, type CommandResult, type Context, keyOf } from "../context.ts";
import { invalid } from "../parse.ts";
import { leavesRunning } from "./follow.ts";
import { readBounded, whyUnreadable } from "./read-file.ts";
import { readStdin } from "./spawn.ts";
import { ALWAYS_INHERITED, sentEnvironment } from "./spawn-spec.ts";
import { waitFor } from "./wait.ts";

const WORDS = "spawn-many";

const textOf = async (context: Context, file: string): Promise<string> => {
  if (file === "-") return readStdin(context, SPAWN_MANY_FILE_MAX_BYTES);
  let bytes: Buffer | undefined;
  try {
    bytes = await readBounded(file, SPAWN_MANY_FILE_MAX_BYTES);
  } catch (cause) {
    throw invalid([`FILE ${file} ${whyUnreadable(cause)}`], WORDS);
  }
  if (bytes === undefined) throw invalid([`FILE ${file} is over ${SPAWN_MANY_FILE_MAX_BYTES} bytes`], WORDS);
  return bytes.toString("utf8");
};

export const spawnMany: CommandHandler = async (context) => {
  const { call, flags } = context;
  const file = call.args[0]!;
  // Loaded on demand, because it loads zod and yaml.
  const { readSpawnRequest } = await import("../spawn-request.ts");
  const read = readSpawnRequest(await textOf(context, file));
  if ("problems" in read)
    throw invalid(
      read.problems.map((problem) => `FILE ${file}: ${problem}`),
      WORDS,
    );
  const { wait_for_completion, ...asked } = read.request;
  const isWaited = flags.wait === true || wait_for_completion;
  const client = await context.connect({ start: true });
  // The wait outlasts a daemon, so it is a request of its own.
  const outcome = await client.ask("agent/spawn-many", {
    ...asked,
    epic_id: (flags.epic as string | undefined) ?? asked.epic_id,
    spawn_reason: (flags.reason as string | undefined) ?? asked.spawn_reason,
    cwd: context.cwd,
    client_env: sentEnvironment([ALWAYS_INHERITED], context),
    idempotency_key: keyOf({ flags }),
  });
  if (!outcome.ok || !isWaited) return outcome;
  const { spawned_agents, ...rest } = outcome.value;
  const ids = spawned_agents.map(({ id }) => id);
  leavesRunning(context, ids);
  const waited: Promise<CommandResult> = waitFor(context, ids, {
    names: spawned_agents.map(({ role }) => role),
    start: true,
    shape: (results) => ({
      ...rest,
      spawned_agents: spawned_agents.map((one) => ({
        ...one,
        status: results.find(({ id }) => id === one.id)?.status ?? one.status,
      })),
    }),
  });
  // The group runs, whatever became of the wait: its ids must not be lost.
  return waited.catch((cause) => ({ ok: false, error: asHoldfastError(cause), value: outcome.value }));
};
