/** Folding lines by hand, as the ingest does: decode, then the bounds. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type {
  AgentAdapter,
  DecodedItem,
  DecodedRecord,
  ExitFacts,
  Line,
  Opening,
} from "../../../src/adapters/adapter.ts";
import type { AgentEvent } from "../../../src/protocol/agent-event.ts";
import { boundEvent } from "../../../src/protocol/bounds.ts";
import { WorkerSpec, type WorkerSpecInput } from "../../../src/protocol/worker.ts";

const RECORDINGS = new URL("../../recordings/", import.meta.url).pathname;

/** Their folders. */
export const recordedKinds: readonly string[] = readdirSync(RECORDINGS);

/** Lines split on 0x0A alone, as the framer splits them. */
export const linesOf = (text: string): readonly Line[] => {
  const parts = text.split("\n");
  const last = parts.pop() ?? "";
  const lines: Line[] = parts.map((part) => ({ kind: "text", text: part, end: "\n" }));
  return last === "" ? lines : [...lines, { kind: "text", text: last, end: "" }];
};

export const recording = (kind: string, name: string): string =>
  readFileSync(join(RECORDINGS, kind, `${name}.ndjson`), "utf8");

/** Every recording of a kind, by its name. */
export const recordingsOf = (kind: string): readonly (readonly [string, string])[] =>
  readdirSync(join(RECORDINGS, kind)).map((file) => [
    file.replace(/\.ndjson$/, ""),
    readFileSync(join(RECORDINGS, kind, file), "utf8"),
  ]);

/** The same, as lists of lines. */
export const recordings = (kind: string): readonly (readonly string[])[] =>
  recordingsOf(kind).map(([, text]) => text.split("\n").slice(0, -1));

export const exit = (
  facts: Partial<ExitFacts> & { readonly code?: number | null; readonly signal?: string | null } = {},
): ExitFacts => ({
  status: { code: facts.code === undefined ? 0 : facts.code, signal: facts.signal ?? null },
  signals_sent: facts.signals_sent ?? [],
  stderr_tail: facts.stderr_tail ?? "",
  ...(facts.left !== undefined && { left: facts.left }),
  program: facts.program,
});

/** Events that are put on record, and not said to the agent. */
export const isRecord = (item: DecodedItem): item is DecodedRecord =>
  item.type !== "reply" && item.type !== "turn_usage";

/** Facts that a decoder may know before the first line. */
export const openingOf = (kind: string, spec: Partial<WorkerSpecInput> = {}): Opening => ({
  spec: WorkerSpec.parse({ kind, prompt: "a prompt", cwd: "/", restart: "temporary", ...spec }),
  incarnation: 1,
  session: undefined,
});

export const run = <S>(
  adapter: AgentAdapter<S>,
  text: string,
  facts: ExitFacts = exit(),
  opening: Opening = openingOf(adapter.kind),
) => {
  const items: DecodedItem[] = [];
  let state = adapter.initial(opening);
  for (const line of linesOf(text)) {
    const decoded = adapter.decode(state, line, "stdout");
    state = decoded.state;
    items.push(...decoded.records);
  }
  const { outcome, records: last } = adapter.finish(state, facts);
  const records = [...items.filter(isRecord), ...last];
  const events = records.flatMap((record) =>
    record.type === "agent.event" ? boundEvent(record.payload) : [],
  );
  /** Usage of open turns that budgets were told: tokens and dollars. */
  const spending = items.flatMap((item) => {
    if (item.type !== "turn_usage") return [];
    const { input_tokens, output_tokens, cost_usd } = item.usage;
    return [[input_tokens, output_tokens, cost_usd]];
  });
  return { state, records, events, outcome, spending };
};

export const ofKind = (events: readonly AgentEvent[], kind: AgentEvent["kind"]): readonly AgentEvent[] =>
  events.filter((event) => event.kind === kind);

export const textOf = (events: readonly AgentEvent[], channel: string): string =>
  events
    .filter((event) => event.channel === channel)
    .map((event) => event.text ?? "")
    .join("");

/** A member that JSON leaves out is left out here too. */
export const plain = <T>(value: T): unknown => JSON.parse(JSON.stringify(value));
