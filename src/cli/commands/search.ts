/** agent search: records by their words. */
import { didYouMean } from "../../base/suggest.ts";
import { searchProblem } from "../../protocol/search-text.ts";
import type { CommandHandler } from "../context.ts";
import type { Call } from "../parse.ts";
import { RECORD_TYPES } from "../render/sentences.ts";
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
  // The first search of a long log takes its words into an index.
  const done = context.progress("searching");
  const page = await client
    .request("agent/search", {
      text: call.args.join(" "),
      workers,
      types,
      since_ms: since,
      ...pageAsked(context),
    })
    .finally(done);
  if (page.hits.length === 0)
    context.hint("No record has all these words. A beginning of a word ends with a star: time*");
  return pageShown(context, page, {
    words: [
      ...["agent", "search", ...call.args],
      ...workers.flatMap((worker) => ["--worker", worker]),
      ...types.flatMap((type) => ["--type", type]),
      ...(since === undefined ? [] : ["--since", `${since}ms`]),
    ],
    there: "There are older ones",
  });
};
