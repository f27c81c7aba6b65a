/**
 * An adapter of one's own, for a program that prints one JSON object a line: {"session":"ID"} once, {"say":"text"} as often as it likes,
 * and {"done":true} or {"error":"why"} at the end. A daemon loads it with this in $HOLDFAST_HOME/config.yaml:
 *
 *     adapters:
 *       - module: /path/to/examples/adapters/lines.mjs
 *     binaries:
 *       lines: /path/to/examples/adapters/lines-agent.sh
 *
 * and then `agent spawn lines "hello" --watch` runs it. docs/how-to/writing-adapters.md explains each part.
 * @import { AgentAdapter, DecodedRecord } from "holdfast"
 */

/** State that is kept between two lines: small, and JSON, because it is kept in the log. */
/** @typedef {{ session: string | null, done: boolean, error: string | null }} State */

const kind = "lines";

/** @returns {DecodedRecord} */
const event = (fields) => ({ type: "agent.event", payload: { agent_kind: kind, ...fields } });

const parsed = (text) => {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const isSession = (id) => typeof id === "string" && /^[A-Za-z0-9_-]{1,128}$/.test(id);

/** @type {AgentAdapter<State>} */
const adapter = {
  kind,
  aliases: [],
  summary: "A program that prints one JSON object a line.",
  capabilities: [
    "agent_api.run",
    "agent_api.events",
    "agent_api.events.live",
    "agent_api.control.cancel.v1",
    "agent_api.session.handle.v1",
  ],
  binary: { name: "lines-agent", variable: "LINES_BINARY" },
  credentials: ["LINES_API_KEY"],
  streams: ["stdout"],
  default_restart: "transient",

  validate: (spec) => ((spec.prompt ?? "").trim() === "" ? ["The prompt must not be empty."] : []),

  // The prompt goes to stdin: as an argument it could begin with a dash, or be too long.
  plan: ({ spec, binary, session }) => ({
    argv: [binary, ...(session === undefined ? [] : [`--session=${session}`]), ...spec.argv],
    env: {},
    stdin: { kind: "text", text: spec.prompt ?? "" },
  }),

  decoder_version: 1,
  initial: () => ({ session: null, done: false, error: null }),

  // A pure fold: the same lines give the same records, also after a restart of the daemon between two of them.
  decode: (state, line) => {
    if (line.kind !== "text" || line.text.trim() === "") return { state, records: [] };
    const value = parsed(line.text);
    if (typeof value?.say === "string")
      return { state, records: [event({ kind: "TextOutput", channel: "assistant", text: value.say })] };
    if (isSession(value?.session) && value.session !== state.session) {
      const facet = { schema: "agent_api.session.handle.v1", session: { id: value.session } };
      const told = event({ kind: "Status", channel: "status", message: "session started", data: facet });
      const started = { type: "session_started", payload: { session_id: value.session } };
      return {
        state: { ...state, session: value.session },
        // The facet is on one event of a run.
        records: state.session === null ? [started, told] : [started],
      };
    }
    if (value?.done === true) return { state: { ...state, done: true }, records: [] };
    // An agent's words about its failure may hold anything: our own sentence is told.
    if (value?.error !== undefined)
      return { state: { ...state, error: "It said that it failed." }, records: [] };
    return { state, records: [event({ kind: "Unknown" })] };
  },

  // The agent's own last word decides; then its exit.
  finish: (state, { status }) => {
    const completion = { status };
    if (state.done && state.error === null && status.code === 0)
      return { outcome: { status: "completed", completion }, records: [] };
    const message =
      state.error ??
      (status.code === 0
        ? "It exited without saying that it is done."
        : `It exited with code ${status.code}.`);
    const error = { code: "AGENT_FAILED", message };
    return {
      outcome: { status: "failed", completion, error },
      records: [event({ kind: "Error", channel: "error", message, data: { code: error.code } })],
    };
  },
};

export default adapter;
