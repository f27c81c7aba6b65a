/** agent list, and the workers that a command with `--label` is for. */
import { LIST_PAGE_MAX_WORKERS } from "../../base/limits.ts";
import { commandLine } from "../../base/shell.ts";
import { didYouMean } from "../../base/suggest.ts";
import { kindOf } from "../../commands/kinds.ts";
import type { Client } from "../../daemon/client.ts";
import { AGENT_KIND_FORM } from "../../protocol/forms.ts";
import type { RequestInput } from "../../protocol/requests.ts";
import { type ListSort, WORKER_STATUSES } from "../../protocol/words.ts";
import type { WorkerStatus } from "../../protocol/worker.ts";
import type { CommandHandler, Context } from "../context.ts";
import type { Call } from "../parse.ts";
import { isWide } from "../render/wide.ts";
import { elsewhere, withElsewhere } from "./elsewhere.ts";

export const listProblems = ({ flags }: Call): readonly string[] => {
  const unknown = ((flags.state as string[] | undefined) ?? []).filter(
    (state) => !(WORKER_STATUSES as readonly string[]).includes(state),
  );
  const problems = unknown.map(
    (state) =>
      `--state knows no "${state}"${didYouMean(state, WORKER_STATUSES)}; it is ${WORKER_STATUSES.join(", ")}`,
  );
  // A configuration may add kinds: an unknown one is an empty list, and only what can be none is a mistake.
  for (const typed of (flags.kind as string[] | undefined) ?? [])
    if (kindOf(typed) === undefined && !AGENT_KIND_FORM.test(typed))
      problems.push(`--kind knows no "${typed}"`);
  if (flags.sort !== undefined && flags.cursor !== undefined)
    problems.push("--sort and --cursor exclude each other: a cursor continues in the order of ids");
  return problems;
};

export const list: CommandHandler = async (context) => {
  const { flags } = context;
  const all = flags.all === true;
  const asked = flags.limit as number | undefined;
  const limit = asked === 0 ? undefined : (asked ?? LIST_PAGE_MAX_WORKERS);
  const client = await context.connect();
  const filter = filterOf(flags);
  const archived = flags.archived === true ? true : undefined;
  // Filters that only the log of a node can tell leave out the workers of others.
  const isLocal = [flags.state, flags.since, flags.below, archived, flags.cursor, flags.quiet].some(Boolean);
  const others = isLocal
    ? []
    : elsewhere(context, client, { all, labels: filter.labels, kinds: filter.kinds });
  const listed = client.request("agent/list", {
    all,
    ...filter,
    archived,
    resources: isWide(flags) ? true : undefined,
    sort: flags.sort as ListSort | undefined,
    limit,
    cursor: flags.cursor as string | undefined,
  });
  const [reply, there] = await Promise.all([listed, others]);
  const result = withElsewhere(reply, there);
  if (reply.workers.length === 0)
    context.hint(isFiltered(filter) || archived ? "No worker agrees with that." : nobody(all));
  if (reply.cursor === undefined) return result;
  const again = [
    "agent",
    "list",
    ...(all ? ["--all"] : []),
    ...(archived ? ["--archived"] : []),
    ...filterWords(filter),
    "--limit",
    String(limit),
  ];
  const next = commandLine([...again, "--cursor", reply.cursor]);
  const more = `These are ${reply.workers.length} of ${reply.total} workers; the next page: ${next}`;
  if (asked === undefined) context.warn(more);
  else context.hint(more, "after");
  return { ...result, meta: { ...result.meta, truncated: true, cursor: reply.cursor } };
};

/** `--label`, `--state`, `--kind`, `--since` and `--below`, as a request takes them; a daemon of an older version knows none, so only those that were given. */
const filterOf = ({ label, state, kind, since, below }: Call["flags"]) => ({
  labels:
    label === undefined ? undefined : Object.fromEntries(label as readonly (readonly [string, string])[]),
  statuses: state as WorkerStatus[] | undefined,
  kinds: (kind as string[] | undefined)?.map((typed) => kindOf(typed)?.kind ?? typed),
  since_ms: since as number | undefined,
  below: below as string | undefined,
});
type ListFilter = ReturnType<typeof filterOf>;

const filterWords = ({ labels = {}, statuses, kinds, since_ms, below }: ListFilter): readonly string[] => [
  ...Object.entries(labels).flatMap(([key, value]) => ["--label", `${key}=${value}`]),
  ...(statuses === undefined ? [] : ["--state", statuses.join(",")]),
  ...(kinds === undefined ? [] : ["--kind", kinds.join(",")]),
  ...(since_ms === undefined ? [] : ["--since", `${since_ms}ms`]),
  ...(below === undefined ? [] : ["--below", below]),
];
const isFiltered = (filter: ListFilter): boolean => filterWords(filter).length > 0;

/** The workers that a command is for: those that are named, or the living (or those asked for) that have the labels of `--label`. */
export const chosen = async (
  context: Context,
  client: Client,
  among: Pick<RequestInput<"agent/list">, "statuses" | "archived"> = {},
): Promise<readonly string[]> => {
  const { call, flags } = context;
  const { labels } = filterOf(flags);
  if (labels === undefined) return call.args;
  const { workers } = await client.request("agent/list", { labels, ...among });
  const named = filterWords(filterOf({ label: flags.label })).join(" ");
  if (workers.length === 0)
    context.warn(`No ${among.statuses === undefined ? "living" : "ended"} worker agrees with ${named}.`);
  return workers.map(({ id }) => id);
};

export const nobody = (all: boolean): string =>
  all
    ? "No workers yet. Start one with: agent spawn -- sleep 60"
    : "No workers are running. See ended ones with: agent list --all";
