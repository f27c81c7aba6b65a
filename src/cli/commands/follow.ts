/** Follows records, for watch, logs, spawn --watch and the demo. */

import { type Client, placeOfAge } from "../../daemon/client.ts";
import type { Replies } from "../../daemon/replies.ts";
import { cursorOf } from "../../protocol/cursor.ts";
import { isHostsCursor, readHostsCursor } from "../../protocol/hosts-cursor.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { RequestInput } from "../../protocol/requests.ts";
import type { WorkerView } from "../../runtime/api.ts";
import type { Context } from "../context.ts";
import { outlasting } from "../outlast.ts";
import { RECORD_TYPES } from "../render/sentences.ts";

export const AGENT_EVENT_KINDS = ["TextOutput", "ToolCall", "ToolResult", "Status", "Error", "Unknown"];

/** Names the workers that keep running after Ctrl-C, with the command that would end them. */
export const leavesRunning = (context: Context, workers: readonly string[]): void => {
  const names = workers.join(" ");
  context.onInterrupt =
    workers.length === 0
      ? { sentence: "The workers keep running. To end one: agent kill ID" }
      : {
          workers,
          sentence: `${workers.length === 1 ? "The worker keeps running" : "The workers keep running"}. To end ${workers.length === 1 ? "it" : "them"}: agent kill ${names}`,
        };
};

/** `--kinds` as the request has them: record types, and kinds of agent events. */
export const kindFilter = (
  kinds: readonly string[],
): { readonly types: string[]; readonly kinds: string[] } => ({
  types: kinds.filter((kind) => RECORD_TYPES.includes(kind)),
  kinds: kinds.filter((kind) => AGENT_EVENT_KINDS.includes(kind)),
});

interface FollowOptions {
  /** The command may start the next daemon. */
  readonly start?: boolean;
  /** Undefined: every record is printed. */
  readonly isWanted?: ((record: LogRecord) => boolean) | undefined;
}

/** Follows to the end of the stream, even if the daemon ends meanwhile. JSON modes do not need the names of workers. */
export const follow = async (
  context: Context,
  query: RequestInput<"agent/watch">,
  { start = false, isWanted = () => true }: FollowOptions = {},
): Promise<Replies["agent/watch"]> => {
  const refs = query.ids ?? [];
  const began = performance.now();
  let { from } = query;
  let records = 0;
  const resume = (): string =>
    [
      ...["agent watch", ...refs],
      ...(query.subtree === true ? ["--subtree"] : []),
      ...(from === undefined ? [] : ["--from", from]),
    ].join(" ");
  const { next, cursor } = await outlasting(context, { start, resume }, async (client) => {
    if (context.mode === "text") await learnNames(context, client, refs);
    const { epoch, head, store_id } = await client.request("daemon/status", {});
    if (isHostsCursor(from)) from = readHostsCursor(from)?.get(store_id) ?? isNew(context);
    // Use a full cursor from the start: "the end of the log" and "ten minutes ago" would be other places for the next daemon,
    // and a bare seq would name another record if an older copy of the log is restored meanwhile.
    const { since_ms = 0 } = query;
    const late_ms = context.late_ms();
    if (since_ms + late_ms > 0)
      from ??= await placeOfAge(client, since_ms + late_ms + performance.now() - began);
    from ??= head;
    if (typeof from === "number" && from > 0) from = cursorOf(epoch, from);
    await context.at({ store_id, cursor: typeof from === "string" ? from : cursorOf(epoch, 0) });
    return client.watch({ ...query, from, since_ms: undefined }, (record) => {
      from = cursorOf(epoch, record.seq);
      if (!isWanted(record)) return undefined;
      records++;
      void context.at({ store_id, cursor: from });
      return context.record(record);
    });
  });
  return { next, records, cursor };
};

/** A log without a place in the cursor was not read then: its records follow from now on. */
const isNew = (context: Context): undefined => {
  context.notice("The cursor of --from has no place in this log: its new records follow.");
};

const learnNames = async (context: Context, client: Client, refs: readonly string[]): Promise<void> => {
  const { workers } = await client.request("agent/list", { all: true });
  const isMeant = ({ id, name }: WorkerView): boolean =>
    refs.length === 0 || refs.some((ref) => id.startsWith(ref.toUpperCase()) || name === ref);
  for (const worker of workers) if (isMeant(worker)) context.know(worker.id, worker.name);
};
