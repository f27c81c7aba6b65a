/** Follows the records of one stream of the log: of a namespace of the blackboard, or of a board. */
import { commandLine } from "../../base/shell.ts";
import { cursorOf, type StartCursor } from "../../protocol/cursor.ts";
import { isHostsCursor } from "../../protocol/hosts-cursor.ts";
import { success } from "../../protocol/outcome.ts";
import type { RequestInput } from "../../protocol/requests.ts";
import type { CommandResult, Context } from "../context.ts";
import { outlasting } from "../outlast.ts";
import type { Call } from "../parse.ts";

export const watchStreamProblems = ({ command, flags }: Call): readonly string[] =>
  flags.from !== undefined && flags.since !== undefined
    ? [`agent ${command.words.join(" ")} takes --from or --since, not both`]
    : isHostsCursor(flags.from as StartCursor | undefined)
      ? [`agent ${command.words.join(" ")} reads one log: --from is a seq or EPOCH:SEQ`]
      : [];

type WatchName = "bb/watch" | "board/watch";

interface StreamChoice<N extends WatchName> {
  readonly command: N;
  /** The words of the command, with those that say which stream. */
  readonly words: readonly string[];
  readonly of: Omit<RequestInput<N>, "from" | "since_ms" | "follow">;
}

/** It goes on over the end of a daemon, where it was. */
export const watchStream = async <N extends WatchName>(
  context: Context,
  { command, words, of }: StreamChoice<N>,
): Promise<CommandResult> => {
  const { flags } = context;
  const since_ms = flags.since as number | undefined;
  const follow = flags["no-follow"] !== true;
  let from = flags.from as StartCursor | undefined;
  let records = 0;
  if (follow && from === undefined && since_ms === undefined)
    context.hint("New records follow here; earlier ones: --from 0 or --since 1h. Ctrl-C ends this.");
  const resume = () =>
    commandLine(["agent", ...words, ...(from === undefined ? [] : ["--from", String(from)])]);
  const { next, cursor } = await outlasting(context, { resume }, async (client) => {
    const { epoch, head } = await client.request("daemon/status", {});
    if (since_ms === undefined) from ??= head;
    if (typeof from === "number" && from > 0) from = cursorOf(epoch, from);
    const begin = from === undefined ? { since_ms } : { from };
    return client.stream(command, { ...of, follow, ...begin } as RequestInput<N>, (record) => {
      from = cursorOf(epoch, record.seq);
      records += 1;
      return context.record(record);
    });
  });
  return success({ next, records, cursor });
};
