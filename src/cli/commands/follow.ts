/** Following records: shared by watch, logs, spawn --watch and the demo. */
import type { LogRecord } from "../../protocol/records.ts";
import type { RequestInput } from "../../protocol/requests.ts";
import type { WorkerView } from "../../supervisor/facade.ts";
import type { Client } from "../client.ts";
import type { Context } from "../context.ts";
import { RECORD_TYPES } from "../render/sentences.ts";

export const AGENT_EVENT_KINDS = ["TextOutput", "ToolCall", "ToolResult", "Status", "Error", "Unknown"];

/** What Ctrl-C leaves behind, said with the command that would end it. */
export const leavesRunning = (context: Context, workers: readonly string[]): void => {
  const names = workers.join(" ");
  context.onInterrupt =
    workers.length === 0
      ? { workers, sentence: "The workers go on. To end one: agent kill ID" }
      : {
          workers,
          sentence: `${workers.length === 1 ? "The worker goes on" : "The workers go on"}. To end ${workers.length === 1 ? "it" : "them"}: agent kill ${names}`,
        };
};

/** Record types are asked of the daemon, kinds of agent events too; a mixture is a union, which is sifted here. */
export const kindFilter = (
  kinds: readonly string[],
): { readonly types: string[]; readonly kinds: string[]; readonly keep: (record: LogRecord) => boolean } => {
  const types = kinds.filter((kind) => RECORD_TYPES.includes(kind));
  const events = kinds.filter((kind) => AGENT_EVENT_KINDS.includes(kind));
  if (types.length === 0 || events.length === 0) return { types, kinds: events, keep: () => true };
  return {
    types: [],
    kinds: [],
    keep: (record) =>
      types.includes(record.type) || (record.type === "agent.event" && events.includes(record.payload.kind)),
  };
};

/** Follow to the end of the stream. In JSON modes the names in records are not needed. */
export const follow = async (
  context: Context,
  client: Client,
  query: RequestInput<"agent/watch">,
  keep: (record: LogRecord) => boolean = () => true,
): Promise<{ readonly next: number; readonly records: number }> => {
  if (context.mode === "text") {
    const { workers } = await client.request("agent/list", { all: true });
    const refs = query.ids ?? [];
    const isMeant = ({ id, name }: WorkerView): boolean =>
      refs.length === 0 || refs.some((ref) => id.startsWith(ref) || name === ref);
    for (const worker of workers) if (isMeant(worker)) context.know(worker.id, worker.name);
  }
  let records = 0;
  const { next } = await client.watch(query, (record) => {
    if (!keep(record)) return;
    records++;
    return context.record(record);
  });
  return { next, records };
};
