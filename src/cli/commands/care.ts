/** agent archive, rename and prune: names, lists, and what is left of ended workers. */
import { Readable } from "node:stream";
import type { Client } from "../../daemon/client.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { PruneReply } from "../../protocol/replies/care.ts";
import type { RequestInput } from "../../protocol/requests.ts";
import type { WorkerStatus } from "../../protocol/worker.ts";
import { type CommandHandler, type Context, keyOf } from "../context.ts";
import type { Call } from "../parse.ts";
import { bytes, count } from "../render/units.ts";
import { chosen } from "./list.ts";
import { withResults } from "./per-worker.ts";

/** Statuses of workers that have ended. */
const ENDED: readonly WorkerStatus[] = ["completed", "failed", "cancelled"];

export const archive: CommandHandler = async (context) => {
  const client = await context.connect();
  const undo = context.flags.undo === true;
  const ids = [...(await chosen(context, client, { statuses: [...ENDED], archived: undo || undefined }))];
  return withResults(context, `archiving ${ids.join(", ")}`, async () =>
    ids.length === 0
      ? success({ results: [] })
      : client.ask("agent/archive", { ids, undo, idempotency_key: keyOf(context) }),
  );
};

export const rename: CommandHandler = async (context) => {
  const [id, name] = context.call.args as readonly [string, string];
  const client = await context.connect();
  return success(await client.request("agent/rename", { id, name, idempotency_key: keyOf(context) }));
};

export const pruneProblems = ({ flags }: Call): readonly string[] =>
  ((flags.state as string[] | undefined) ?? [])
    .filter((state) => !(ENDED as readonly string[]).includes(state))
    .map((state) => `--state takes ${ENDED.join(", ")} here, not "${state}": only ended workers are pruned`);

/** All pages of a prune as one answer. */
const pruned = async (client: Client, asked: RequestInput<"agent/prune">): Promise<PruneReply> => {
  const pages: PruneReply[] = [];
  for (let cursor: string | undefined; pages.length === 0 || cursor !== undefined; ) {
    const page = await client.request("agent/prune", { ...asked, cursor });
    pages.push(page);
    ({ cursor } = page);
  }
  return {
    effect: pages.find(({ effect }) => effect !== "noop")?.effect ?? "noop",
    workers: pages.flatMap(({ workers }) => workers),
    kept: pages.flatMap(({ kept }) => kept),
    freed_bytes: pages.reduce((sum, { freed_bytes }) => sum + freed_bytes, 0),
  };
};

const isAgreed = async (context: Context, question: string): Promise<boolean> => {
  // Loaded here, because its dozen modules would be a part of every command's start.
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: Readable.from(context.stdin()) });
  try {
    context.stderr(`${question} [y/N] `);
    for await (const line of lines) return /^y(es)?$/i.test(line.trim());
    return false;
  } finally {
    lines.close();
  }
};

const questionOf = ({ workers, freed_bytes }: PruneReply): string => {
  const trees = workers.filter(({ worktree }) => worktree !== null).length;
  const worktrees =
    trees === 0 ? "" : `, and ${count(trees, "worktree")} as far as nothing in them would be lost`;
  const what = `the run directories of ${count(workers.length, "ended worker")} (${bytes(freed_bytes)})${worktrees}`;
  return `This removes ${what}. They cannot be started again. Their records stay. Go on?`;
};

export const prune: CommandHandler = async (context) => {
  const { flags } = context;
  const { label, state, until } = flags as {
    readonly label?: readonly (readonly [string, string])[];
    readonly state?: WorkerStatus[];
    readonly until?: number;
  };
  const asked: RequestInput<"agent/prune"> = {
    labels: label === undefined ? undefined : Object.fromEntries(label),
    statuses: state,
    ended_before_ms: until,
  };
  const client = await context.connect();
  if (flags["dry-run"] === true) return success(await pruned(client, { ...asked, dry_run: true }));
  if (flags.force !== true) {
    const planned = await pruned(client, { ...asked, dry_run: true });
    if (planned.workers.length === 0) return success(planned);
    if (!context.isStdinTerminal())
      throw new HoldfastError(
        "INVALID_REQUEST",
        `${questionOf(planned).replace(" Go on?", "")} Nothing was done.`,
        {
          phase: "validation",
          suggestion: "To do it without being asked: agent prune --force; to see it: agent prune --dry-run",
        },
      );
    if (!(await isAgreed(context, questionOf(planned))))
      return success({ ...planned, effect: "noop", workers: [], freed_bytes: 0 });
  }
  const done = context.progress("pruning");
  return success(await pruned(client, { ...asked, idempotency_key: keyOf(context) }).finally(done));
};
