/** agent search: records by their words. */
import { didYouMean } from "../../base/suggest.ts";
import type { Client } from "../../daemon/client.ts";
import type { ElsewhereHit } from "../../protocol/replies/cluster.ts";
import type { SearchReply } from "../../protocol/replies/search.ts";
import type { RequestInput } from "../../protocol/requests.ts";
import { searchProblem } from "../../protocol/search-text.ts";
import type { CommandHandler, Context } from "../context.ts";
import type { Call } from "../parse.ts";
import { RECORD_TYPES } from "../render/sentences.ts";
import { elsewhereNamed, isAtNode } from "./elsewhere.ts";
import { AGENT_EVENT_KINDS } from "./follow.ts";
import { pageAsked, pageShown } from "./paging.ts";

const listed = (flags: Call["flags"], name: string): string[] => (flags[name] as string[] | undefined) ?? [];

export const searchProblems = ({ args, flags }: Call): readonly string[] => {
  const known = [...RECORD_TYPES, ...AGENT_EVENT_KINDS];
  const unknown = listed(flags, "type").filter((type) => !known.includes(type));
  const problem = args.length === 0 ? undefined : searchProblem(args.join(" "));
  return [
    ...(problem === undefined ? [] : [`TEXT: ${problem}`]),
    ...unknown.map((type) => `--type knows no "${type}"${didYouMean(type, known)}`),
  ];
};

export const search: CommandHandler = async (context) => {
  const { call, flags } = context;
  const since = flags.since as number | undefined;
  const workers = listed(flags, "worker");
  const types = listed(flags, "type");
  const client = await context.connect();
  const asked = { text: call.args.join(" "), workers, types, since_ms: since, ...pageAsked(context) };
  // The first search of a long log takes its words into an index.
  const done = context.progress("searching");
  const page = await searchHere(context, client, asked).finally(done);
  const elsewhere = await searchElsewhere(context, client, asked);
  if (page.hits.length + elsewhere.length === 0)
    context.hint("No record has all these words. A beginning of a word ends with a star: time*");
  const value = elsewhere.length === 0 ? page : { ...page, elsewhere };
  const shown = pageShown(context, value, {
    words: [
      ...["agent", "search", ...call.args],
      ...workers.flatMap((worker) => ["--worker", worker]),
      ...types.flatMap((type) => ["--type", type]),
      ...(since === undefined ? [] : ["--since", `${since}ms`]),
    ],
    there: "There are older ones",
  });
  return elsewhere.length === 0 ? shown : { ...shown, meta: { ...shown.meta, elsewhere } };
};

type AskedRecords = RequestInput<"agent/search"> & { readonly workers: string[] };

/** The log of this machine, which may know none of the workers. Throws if the cluster does not know them either. */
const searchHere = async (context: Context, client: Client, asked: AskedRecords): Promise<SearchReply> => {
  const found = await client.ask("agent/search", asked);
  if (found.ok) return found.value;
  if (found.error.code !== "WORKER_NOT_FOUND" || !isAtNode(context)) throw found.error;
  const here: string[] = [];
  for (const worker of asked.workers)
    if ((await client.ask("agent/info", { id: worker, here: true })).ok) here.push(worker);
    else if ((await elsewhereNamed(context, client, worker)) === undefined) throw found.error;
  return here.length === 0 ? { hits: [] } : client.request("agent/search", { ...asked, workers: here });
};

/** Those that this machine's log does not have, with its first page; none with a warning where the database is away. */
const searchElsewhere = async (
  context: Context,
  client: Client,
  { cursor, ...asked }: AskedRecords,
): Promise<readonly ElsewhereHit[]> => {
  if (cursor !== undefined || !isAtNode(context)) return [];
  const found = await client.ask("cluster/search", asked);
  if (!found.ok) {
    if (found.error.code === "UNAVAILABLE")
      context.warn(`The records of other nodes were not searched: ${found.error.message}`);
    return [];
  }
  const { hits, more } = found.value;
  if (more) context.warn(`Other nodes may have more records with these words than these ${hits.length}.`);
  return hits;
};
