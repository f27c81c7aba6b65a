/** A worker's records as the bars of a timeline: one lane for each thing that takes time. Pure. */
import { WEB_BARS_MAX } from "../../base/limits.ts";
import type { AgentEvent } from "../../protocol/agent-event.ts";
import type { LogRecord, RecordType } from "../../protocol/records.ts";

export const LANES = ["run", "turn", "tool", "person", "pause", "backoff"] as const;
export type LaneName = (typeof LANES)[number];

export interface StoryBar {
  readonly lane: LaneName;
  readonly label: string;
  readonly from_ms: number;
  /** Null: it is not over. */
  readonly to_ms: number | null;
  readonly end: "open" | "good" | "bad" | "neutral";
  /** The record that began it. */
  readonly seq: number;
}

export interface Story {
  readonly bars: readonly StoryBar[];
  readonly from_ms: number;
  readonly to_ms: number;
}

type OpenBar = Omit<StoryBar, "to_ms" | "end"> & { readonly key: string };

class Teller {
  readonly bars: StoryBar[] = [];
  private readonly open = new Map<string, OpenBar>();

  begin(record: LogRecord, lane: LaneName, key: string, label: string): void {
    this.end(record, lane, key, "neutral");
    const id = `${lane} ${key}`;
    this.open.set(id, { key: id, lane, label, from_ms: timeOf(record), seq: record.seq });
  }

  end(record: LogRecord, lane: LaneName, key: string, end: StoryBar["end"]): void {
    this.close(`${lane} ${key}`, timeOf(record), end);
  }

  drop(lane: LaneName, key: string): void {
    this.open.delete(`${lane} ${key}`);
  }

  /** Everything of a lane, or of all lanes below the run. */
  endAll(record: LogRecord, end: StoryBar["end"], ...lanes: readonly LaneName[]): void {
    for (const { key, lane } of [...this.open.values()])
      if (lanes.includes(lane)) this.close(key, timeOf(record), end);
  }

  rest(): readonly StoryBar[] {
    return [...this.open.values()].map(({ key: _, ...bar }) => ({ ...bar, to_ms: null, end: "open" }));
  }

  private close(id: string, to_ms: number, end: StoryBar["end"]): void {
    const bar = this.open.get(id);
    if (bar === undefined) return;
    this.open.delete(id);
    const { key: _, ...rest } = bar;
    this.bars.push({ ...rest, to_ms: Math.max(to_ms, bar.from_ms), end });
  }
}

const timeOf = ({ recorded_at }: LogRecord): number => Date.parse(recorded_at);

interface ToolInEvent {
  readonly tool?: {
    readonly tool_name?: unknown;
    readonly tool_use_id?: unknown;
    readonly is_error?: unknown;
  };
}

const toolOf = (event: AgentEvent): { readonly key: string; readonly name: string } => {
  const { tool } = (event.data ?? {}) as ToolInEvent;
  const name = typeof tool?.tool_name === "string" ? tool.tool_name : "tool";
  return { key: typeof tool?.tool_use_id === "string" ? tool.tool_use_id : name, name };
};

const tellEvent = (told: Teller, record: LogRecord, event: AgentEvent): void => {
  if (event.kind !== "ToolCall" && event.kind !== "ToolResult") return;
  const { key, name } = toolOf(event);
  if (event.kind === "ToolCall") told.begin(record, "tool", key, name);
  else told.end(record, "tool", key, "good");
};

const isGood = (record: Extract<LogRecord, { type: "worker_exited" }>): StoryBar["end"] =>
  record.payload.exit_code === 0 ? "good" : record.payload.signal === null ? "bad" : "neutral";

type Tellers = {
  readonly [T in RecordType]?: (told: Teller, record: Extract<LogRecord, { readonly type: T }>) => void;
};

const TELLERS: Tellers = {
  worker_state_changed: (told, record) => {
    if (record.payload.to !== "starting") return;
    told.endAll(record, "neutral", "backoff", "person");
    told.begin(record, "run", String(record.incarnation), `run ${record.incarnation}`);
  },
  worker_exited: (told, record) => {
    told.endAll(record, "neutral", "turn", "tool", "pause", "person");
    told.endAll(record, isGood(record), "run");
  },
  worker_restart_scheduled: (told, record) => {
    const { delay_ms, reason } = record.payload;
    if (delay_ms > 0) told.begin(record, "backoff", "", `waits to restart: ${reason}`);
  },
  turn_started: (told, record) =>
    told.begin(record, "turn", String(record.payload.turn), `turn ${record.payload.turn}`),
  turn_completed: (told, record) => {
    told.endAll(record, "neutral", "tool");
    told.end(record, "turn", String(record.payload.turn), record.payload.error ? "bad" : "good");
  },
  worker_paused: (told, record) =>
    told.begin(record, "pause", record.payload.reason, `paused: ${record.payload.reason}`),
  worker_unpaused: (told, record) => told.end(record, "pause", record.payload.reason, "neutral"),
  approval_requested: (told, record) =>
    told.begin(record, "person", record.payload.approval_id, record.payload.title),
  approval_answered: (told, record) => {
    const { approval_id, by, decision } = record.payload;
    // A rule has answered: no person was asked.
    if (by === "policy") told.drop("person", approval_id);
    else told.end(record, "person", approval_id, decision === "allow" ? "good" : "bad");
  },
  approval_withdrawn: (told, record) => told.end(record, "person", record.payload.approval_id, "neutral"),
  worker_question: (told, record) =>
    told.begin(record, "person", record.payload.question_id, `question: ${record.payload.about}`),
  worker_answered: (told, record) => told.end(record, "person", record.payload.question_id, "neutral"),
  worker_question_withdrawn: (told, record) =>
    told.end(record, "person", record.payload.question_id, "neutral"),
  worker_ended: (told, record) => told.endAll(record, "neutral", ...LANES),
  "agent.event": (told, record) => tellEvent(told, record, record.payload),
};

/** The records of these few types tell the whole life of a worker. */
export const LANDMARKS = ["worker_spawn_requested", ...Object.keys(TELLERS)].filter(
  (type) => type !== "agent.event",
);

const tell = (told: Teller, record: LogRecord): void => {
  // A record over the limit of an envelope comes without its payload.
  if (record.payload === undefined) return;
  // The type determines the record, which the table cannot express.
  (TELLERS[record.type] as ((told: Teller, record: LogRecord) => void) | undefined)?.(told, record);
};

/** The newest bars of each lane. `records` in the order of their seqs; undefined if there are none. */
export const storyOf = (records: readonly LogRecord[], now_ms: number): Story | undefined => {
  const [first] = records;
  const last = records.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const told = new Teller();
  for (const record of records) tell(told, record);
  const open = told.rest();
  const all = [...told.bars, ...open].sort((a, b) => a.seq - b.seq);
  const bars = LANES.flatMap((lane) => all.filter((bar) => bar.lane === lane).slice(-WEB_BARS_MAX));
  return {
    bars,
    from_ms: timeOf(first),
    to_ms: open.length > 0 ? Math.max(now_ms, timeOf(last)) : timeOf(last),
  };
};

/** The place of a bar within a range of time, in hundredths of it; undefined if it is outside. */
export const placeOf = (
  bar: Pick<StoryBar, "from_ms" | "to_ms">,
  from_ms: number,
  to_ms: number,
): { readonly left: number; readonly width: number } | undefined => {
  const end = bar.to_ms ?? to_ms;
  if (end < from_ms || bar.from_ms > to_ms || to_ms <= from_ms) return undefined;
  const share = (ms: number): number =>
    (100 * (Math.min(Math.max(ms, from_ms), to_ms) - from_ms)) / (to_ms - from_ms);
  return { left: share(bar.from_ms), width: share(end) - share(bar.from_ms) };
};
