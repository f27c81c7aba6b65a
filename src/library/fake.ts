/**
 * A kind whose agent is a script in a test (`openForTest`). It keeps the name, capabilities and validation of the kind that
 * it replaces. It prints lines of JSON: {"begin":true} or {"taken":"ID"}, {"say":"text"}, {"tool":"NAME","id":"ID"},
 * {"result":"ID","failed":false}, {"ask":"ID","tool":"NAME","input":…}, {"error":{…}} and {"done":true,"usage":{…}}. It
 * reads {"message":"ID","text":"…"}, {"permission":"ID","decision":"allow","message":"…"} and {"stop":true}.
 */

import type { AgentAdapter, Decoded, DecodedItem, Line } from "../adapters/adapter.ts";
import { type ToolFacts, voiceOf } from "../adapters/decoding/events.ts";
import type { JsonValue, Usage, WorkerError } from "../protocol/records.ts";

export interface FakeState {
  readonly once: boolean;
  readonly turn: number;
  readonly open: boolean;
  readonly error: WorkerError | null;
}

export type FakeLine =
  | { readonly begin: true }
  | { readonly taken: string }
  | { readonly say: string }
  | { readonly ask: string; readonly tool: string; readonly input: JsonValue }
  | { readonly tool: string; readonly id: string }
  | { readonly result: string; readonly name: string; readonly failed: boolean }
  | { readonly error: WorkerError }
  | { readonly done: true; readonly usage?: Partial<Usage> | undefined };

const NOTHING_USED: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: null,
};

const toolOf = (name: string, use_id: string): ToolFacts => ({
  item_id: null,
  thread_id: null,
  kind: "tool_use",
  name,
  use_id,
});

/** Whether the agent of this spec reads messages while it runs. */
const isSpokenWith: NonNullable<AgentAdapter["converses"]> = ({
  interactive,
  permission,
  permission_rules,
}) => interactive || permission === "ask" || permission_rules.some(({ action }) => action === "ask");

const linesOf = (value: unknown): string => `${JSON.stringify(value)}\n`;

const began = (state: FakeState): Decoded<FakeState> => {
  const turn = state.turn + 1;
  return {
    state: { ...state, turn, open: true },
    records: [{ type: "turn_started", payload: { turn } }],
  };
};

const taken = (state: FakeState, message_id: string): Decoded<FakeState> => {
  const { state: next, records } = state.open ? { state, records: [] } : began(state);
  const payload = { message_id, state: "acknowledged", turn: next.turn } as const;
  return { state: next, records: [...records, { type: "worker_message", payload }] };
};

const done = (state: FakeState, usage: Partial<Usage> | undefined): Decoded<FakeState> => {
  const payload = { turn: state.turn, usage: { ...NOTHING_USED, ...usage }, duration_ms: null };
  const ends: readonly DecodedItem[] = state.once ? [{ type: "reply", closes: true }] : [];
  return {
    state: { ...state, open: false },
    records: [{ type: "turn_completed", payload }, ...ends],
  };
};

const said = (voice: ReturnType<typeof voiceOf>, state: FakeState, line: FakeLine): Decoded<FakeState> => {
  const told = (...records: readonly DecodedItem[]): Decoded<FakeState> => ({ state, records });
  if ("begin" in line) return began(state);
  if ("taken" in line) return taken(state, line.taken);
  if ("say" in line) return told(voice.text("assistant", line.say));
  if ("ask" in line) {
    const { ask, tool, input } = line;
    const title = `It wants to use ${tool}.`;
    const payload = { approval_id: ask, tool, tool_use_id: null, title, input, reply: ask };
    return told({ type: "approval_requested", payload });
  }
  if ("tool" in line) return told(voice.toolCall(toolOf(line.tool, line.id)));
  if ("result" in line) {
    const end = { failed: line.failed, exit_code: null };
    return told(voice.toolResult(toolOf(line.name, line.result), end));
  }
  if ("error" in line) return { state: { ...state, error: line.error }, records: [] };
  return "done" in line && state.open ? done(state, line.usage) : told();
};

export const fakeOf = (real: AgentAdapter): AgentAdapter<FakeState> => {
  const voice = voiceOf(real.kind);

  return {
    ...(real as unknown as AgentAdapter<FakeState>),
    streams: ["stdout"],
    converses: isSpokenWith,
    plan: ({ spec, binary }) => ({
      argv: [binary, ...spec.argv],
      env: {},
      stdin: isSpokenWith(spec) ? { kind: "open", text: "" } : { kind: "text", text: spec.prompt ?? "" },
    }),
    messages: {
      acknowledges: true,
      frame: (message, text) => linesOf({ message, text }),
      answer: (permission, answer) => linesOf({ permission, ...answer }),
      interrupt: ({ open }) => (open ? linesOf({ stop: true }) : undefined),
    },
    decoder_version: 1,
    initial: ({ spec }) => ({
      once: isSpokenWith(spec) && !spec.interactive,
      turn: 0,
      open: false,
      error: null,
    }),
    decode: (state, line) => {
      const told = lineOf(line);
      return told === undefined ? { state, records: [] } : said(voice, state, told);
    },
    finish: ({ error: told }, { status }) => {
      const completion = { status };
      if (status.code === 0 && told === null)
        return { outcome: { status: "completed", completion }, records: [] };
      const message = `It ended with ${status.signal ?? `code ${status.code}`}.`;
      const error: WorkerError = told ?? { code: "AGENT_FAILED", message };
      return { outcome: { status: "failed", completion, error }, records: [voice.error(error)] };
    },
  };
};

const lineOf = (line: Line): FakeLine | undefined => {
  if (line.kind !== "text" || line.text.trim() === "") return undefined;
  return JSON.parse(line.text) as FakeLine;
};
