/** Finds the turn that an incarnation left open, and its open calls of tools that do more than read. */

import { Effect } from "effect";
import type { AgentAdapter } from "../../adapters/adapter.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import { toolKeyOf, toolNameOf } from "../../protocol/tool-calls.ts";
import type { RecordFilter } from "../../store/event-log.ts";
import type { InterruptedTurn } from "../../supervisor/child/interruption.ts";
import type { LiveWorker } from "./worker.ts";

/** The number of tools that fit a sentence. They are sorted, so that two readers see the same ones. */
const TOOLS_NAMED_MAX = 8;

/**
 * For use after the exit. `drafts` are the last records, which are not in the log yet. Undefined if no turn is open.
 */
export const openTurn = (
  worker: LiveWorker,
  drafts: readonly RecordDraft[],
): Effect.Effect<InterruptedTurn | undefined> =>
  Effect.gen(function* () {
    const { journal, adapter, id } = worker;
    if (adapter.sessions_under === undefined) return undefined;
    const { incarnation } = journal.child();
    const [turn] = yield* journal.ask(({ views }) => views.turns(id, 1));
    const last = drafts.findLast(({ type }) => type === "turn_started" || type === "turn_completed");
    const isOpen =
      last === undefined
        ? turn?.incarnation === incarnation && turn.ended_at === null
        : last.type === "turn_started";
    if (!isOpen) return undefined;
    const row = yield* journal.ask(({ views }) => views.worker(id));
    const told = drafts.findLast(({ type }) => type === "session_started");
    const session_id = told?.type === "session_started" ? told.payload.session_id : (row?.session_id ?? null);
    return { tools: toolsWithEffects(adapter, (yield* openTools(worker, drafts)).values()), session_id };
  });

/** The tools that may have changed something, if their calls may come again. */
export const toolsWithEffects = (
  { never_repeats, reading_tools }: Pick<AgentAdapter, "never_repeats" | "reading_tools">,
  tools: Iterable<string>,
): readonly string[] => {
  const effects = [...tools].filter(
    (name) => never_repeats !== true && reading_tools?.includes(name) !== true,
  );
  return [...new Set(effects)].sort().slice(0, TOOLS_NAMED_MAX);
};

type OpenToolCalls = Map<string, string>;

const openTools = (
  { journal, id }: LiveWorker,
  drafts: readonly RecordDraft[],
): Effect.Effect<OpenToolCalls> =>
  Effect.gen(function* () {
    const filter: RecordFilter = {
      worker_ids: [id],
      types: ["turn_started"],
      kinds: ["ToolCall", "ToolResult"],
    };
    const { incarnation } = journal.child();
    const began = yield* journal.ask(({ log }) => log.stream(id, ["worker_state_changed"]));
    const calls: OpenToolCalls = new Map();
    const start = began.findLast(
      (one) =>
        one.incarnation === incarnation &&
        one.type === "worker_state_changed" &&
        one.payload.to === "starting",
    );
    yield* journal.records(start?.seq ?? 0, filter, (record) => fold(calls, record));
    for (const draft of drafts) fold(calls, draft);
    return calls;
  });

const fold = (calls: OpenToolCalls, record: RecordDraft): void => {
  // A call that an earlier turn did not wait for does not belong to the open turn.
  if (record.type === "turn_started") calls.clear();
  if (record.type !== "agent.event") return;
  const { kind, data } = record.payload;
  const key = toolKeyOf(data);
  if (kind === "ToolCall") calls.set(key, toolNameOf(data));
  else if (kind === "ToolResult") calls.delete(key);
};
