/**
 * An adapter for a program that converses, and asks for permission (docs/how-to/writing-adapters.md, An agent that is spoken with). It reads one
 * JSON object a line: {"message":"ID","text":"..."}, {"permission":"ID","decision":"deny","message":"why"} (or "allow"; a message is optional) and {"stop":true}; and prints
 * {"taken":"ID"} when it begins with a message, {"say":"text"}, {"ask":"ID","tool":"Shell","input":{}} and {"done":true} after each one.
 * @import { AgentAdapter, DecodedItem } from "holdfast"
 */

/** @typedef {{ once: boolean, turn: number, open: boolean }} State */

const kind = "asks";
const NOTHING_USED = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: null,
};
const line = (value) => `${JSON.stringify(value)}\n`;
const event = (fields) => ({ type: "agent.event", payload: { agent_kind: kind, ...fields } });
const isText = (value) => typeof value === "string" && value !== "" && value.length <= 256;

const parsed = (text) => {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
};

/** @returns {{ state: State, records: DecodedItem[] }} */
const decoded = (state, said) => {
  if (isText(said.taken)) {
    const turn = state.open ? state.turn : state.turn + 1;
    const taken = { message_id: said.taken, state: "acknowledged", turn };
    return {
      state: { ...state, turn, open: true },
      records: [
        ...(state.open ? [] : [{ type: "turn_started", payload: { turn } }]),
        { type: "worker_message", payload: taken },
      ],
    };
  }
  if (typeof said.say === "string")
    return { state, records: [event({ kind: "TextOutput", channel: "assistant", text: said.say })] };
  if (isText(said.ask) && isText(said.tool)) {
    const words = { title: `It wants to use ${said.tool}.`, input: said.input ?? null };
    const asked = { approval_id: said.ask, tool: said.tool, tool_use_id: null, ...words, reply: said.ask };
    return { state, records: [{ type: "approval_requested", payload: asked }] };
  }
  if (said.done === true && state.open) {
    const done = { turn: state.turn, usage: NOTHING_USED, duration_ms: null };
    return {
      state: { ...state, open: false },
      // The one prompt is answered, and the input ends.
      records: [
        { type: "turn_completed", payload: done },
        ...(state.once ? [{ type: "reply", closes: true }] : []),
      ],
    };
  }
  return { state, records: [event({ kind: "Unknown" })] };
};

/** @type {AgentAdapter<State>} */
const adapter = {
  kind,
  aliases: [],
  summary: "A program that converses in JSON lines, and asks for permission.",
  capabilities: ["agent_api.run", "agent_api.events", "agent_api.events.live", "agent_api.control.cancel.v1"],
  binary: { name: "asks-agent", variable: "ASKS_BINARY" },
  credentials: [],
  streams: ["stdout"],
  default_restart: "transient",

  validate: () => [],

  // The prompt is the first message.
  converses: () => true,
  plan: ({ spec, binary }) => ({
    argv: [binary, ...spec.argv],
    env: {},
    stdin: { kind: "open", text: "" },
  }),

  messages: {
    // It says which message it has begun with: what it has not, its next incarnation is given again.
    acknowledges: true,
    frame: (message_id, text) => line({ message: message_id, text }),
    answer: (permission, { decision, message }) => line({ permission, decision, message }),
    interrupt: ({ open }) => (open ? line({ stop: true }) : undefined),
  },

  decoder_version: 1,
  initial: ({ spec }) => ({ once: !spec.interactive, turn: 0, open: false }),
  decode: (state, { kind: how, text }) =>
    how === "text" && text.trim() !== "" ? decoded(state, parsed(text)) : { state, records: [] },

  finish: ({ open, turn }, { status }) => {
    const completion = { status };
    if (status.code === 0 && turn > 0 && !open)
      return { outcome: { status: "completed", completion }, records: [] };
    const message = open
      ? "It ended in the middle of a turn."
      : status.code === 0
        ? "It ended before it had begun with a message."
        : `It ended with ${status.signal ?? `code ${status.code}`}.`;
    const error = { code: "AGENT_FAILED", message };
    return {
      outcome: { status: "failed", completion, error },
      records: [event({ kind: "Error", channel: "error", message, data: { code: error.code } })],
    };
  },
};

export default adapter;
