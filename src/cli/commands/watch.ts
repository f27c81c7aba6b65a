/** agent watch: records from a cursor on, then live. */

import { didYouMean } from "../../base/suggest.ts";
import type { StartCursor } from "../../protocol/cursor.ts";
import { success } from "../../protocol/outcome.ts";
import type { CommandResult, Context } from "../context.ts";
import type { Call } from "../parse.ts";
import { RECORD_TYPES } from "../render/sentences.ts";
import { AGENT_EVENT_KINDS, follow, kindFilter, leavesRunning } from "./follow.ts";

export const watchProblems = ({ flags, args }: Call): readonly string[] => {
  const problems: string[] = [];
  const kinds = (flags.kinds as string[] | undefined) ?? [];
  const known = [...RECORD_TYPES, ...AGENT_EVENT_KINDS];
  for (const kind of kinds)
    if (!known.includes(kind)) problems.push(`--kinds knows no "${kind}"${didYouMean(kind, known)}`);
  if (flags.all && args.length > 0) problems.push("agent watch takes IDs or --all, not both");
  if (flags.subtree && args.length === 0) problems.push("agent watch --subtree needs an ID");
  if (flags.from !== undefined && flags.since !== undefined)
    problems.push("agent watch takes --from or --since, not both");
  return problems;
};

export const watch = async (context: Context): Promise<CommandResult> => {
  const { call, flags } = context;
  const ids = [...call.args];
  leavesRunning(context, ids);
  const isNewOnly = flags.from === undefined && flags.since === undefined;
  const client = await context.connect();
  if (isNewOnly) {
    // An unknown worker has no records to wait for, so it is refused.
    if (context.mode === "text" && context.isStderrTerminal)
      for (const id of ids) await client.request("agent/info", { id });
    context.hint(
      "New records follow here; earlier ones: --from 0 or --since 1h. Ctrl-C ends this, not the workers.",
    );
  }
  const query = {
    ids,
    all: ids.length === 0,
    subtree: flags.subtree === true,
    follow: ids.length === 0,
    from: flags.from as StartCursor | undefined,
    since_ms: flags.since as number | undefined,
    ...kindFilter((flags.kinds as string[] | undefined) ?? []),
  };
  const followed = await follow(context, query);
  if (isNewOnly && followed.records === 0)
    context.hint(
      `Nothing new: ${ids.length === 1 ? "it has" : "they have"} ended. See: agent logs ${ids[0]}`,
      "after",
    );
  return success(followed);
};
