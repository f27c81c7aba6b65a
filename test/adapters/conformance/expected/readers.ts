/** The reader of each kind, and where its recorded runs are. */
import { acp } from "./acp.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { codexAppServer } from "./codex-app-server.ts";
import { copilot } from "./copilot.ts";
import { type Asked, messageId, type OurNames, TOMORROW } from "./dialogue.ts";
import type { Reader } from "./expected.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { type Printed, readLine } from "./printed.ts";
import { qwen } from "./qwen.ts";

export interface Recorded {
  /** Name of the kind for `adapterFor`. */
  readonly kind: string;
  /** The way in which a kind of two ways is run. */
  readonly way?: string;
  readonly read: Reader;
  /** Folders of transcripts, by CLI and version. */
  readonly versions: readonly string[];
  /** Folder of our own recordings below test/recordings. */
  readonly recordings: string;
  /** A line that says how a turn ended; without all of them nothing says that it went well. */
  readonly isTerminal: (line: Printed["value"]) => boolean;
  /** Members that make of such a line one that says it did not go well. */
  readonly failing: object;
  /** The CLI has no word for a good end but its exit code 0. */
  readonly byExit?: true;
  /** A line of a type that there is not yet. */
  readonly tomorrow: Printed;
  readonly dialogue?: Dialogue;
}

/** Readers for agents that are spoken with: their lines depend on what they are told. */
export interface Dialogue {
  /** The requests of the harness that recorded the transcripts, as ours. */
  readonly names: OurNames;
  /** Members of the spec, beside what was asked for. */
  readonly spec: object;
  /** The requests in our own recordings, by their names. */
  readonly asked: Readonly<Record<string, Asked>>;
}

const OF_TYPES = readLine('{"type":"a_type_of_tomorrow","text":"of tomorrow"}');

const isOf =
  (...types: readonly string[]) =>
  (line: Printed["value"]): boolean =>
    types.includes(String(line?.type));

const acpNames: OurNames = (method, nth) => {
  if (method === "initialize") return { id: "holdfast:initialize" };
  if (method === "session/new" || method === "session/load") return { id: "holdfast:session" };
  const id = messageId(nth);
  return method === "session/prompt" ? { id: `prompt:${id}`, mark: `mark:${id}` } : undefined;
};

const codexNames: OurNames = (method, nth) => {
  if (method === "initialize") return { id: "holdfast:initialize" };
  if (method === "thread/start") return { id: "holdfast:thread" };
  if (method === "turn/start") return { id: `turn:${messageId(nth)}` };
  return method === "turn/interrupt" ? { id: `interrupt:${nth}` } : undefined;
};

/** An answer to the request of a message. */
const isAnswerTo =
  (prefix: string) =>
  (line: Printed["value"]): boolean =>
    typeof line?.method !== "string" && String(line?.id).startsWith(prefix);

export const RECORDED: readonly Recorded[] = [
  {
    kind: "claude",
    read: claude,
    versions: ["claude-2.1.329", "claude-2.1.197"],
    recordings: "claude-code",
    isTerminal: isOf("result"),
    tomorrow: OF_TYPES,
    failing: { is_error: true },
  },
  {
    kind: "codex",
    read: codex,
    versions: ["codex-0.169.0"],
    recordings: "codex",
    isTerminal: isOf("turn.completed", "turn.failed"),
    tomorrow: OF_TYPES,
    failing: { type: "turn.failed" },
  },
  {
    kind: "gemini",
    read: gemini,
    versions: ["gemini-0.61.0"],
    recordings: "gemini-cli",
    isTerminal: isOf("result"),
    tomorrow: OF_TYPES,
    failing: { status: "error" },
  },
  {
    kind: "opencode",
    read: opencode,
    versions: ["opencode-1.18.33"],
    recordings: "opencode",
    isTerminal: isOf("step_finish"),
    tomorrow: OF_TYPES,
    failing: { part: { reason: "length" } },
    byExit: true,
  },
  {
    kind: "copilot",
    read: copilot,
    versions: ["copilot-1.0.102"],
    recordings: "copilot",
    isTerminal: isOf("result"),
    tomorrow: OF_TYPES,
    failing: { exitCode: 1 },
  },
  {
    kind: "qwen",
    read: qwen,
    versions: [],
    recordings: "qwen-code",
    isTerminal: isOf("result"),
    tomorrow: OF_TYPES,
    failing: { is_error: true },
  },
  {
    kind: "codex",
    way: "app-server",
    read: codexAppServer,
    versions: ["codex-app-server-0.169.0"],
    recordings: "codex-app-server",
    isTerminal: (line) => line?.method === "turn/completed",
    tomorrow: TOMORROW,
    failing: { params: { turn: { status: "failed" } } },
    dialogue: { names: codexNames, spec: { permission: "ask" }, asked: {} },
  },
  {
    kind: "acp",
    read: acp,
    versions: [
      "claude-agent-acp-0.100.0",
      "codex-acp-2.6.0",
      "copilot-acp-1.0.102",
      "gemini-acp-0.61.0",
      "opencode-acp-1.18.33",
      "acp-sdk-example-0.28.1",
    ],
    recordings: "acp",
    isTerminal: isAnswerTo("prompt:"),
    tomorrow: TOMORROW,
    failing: { result: { stopReason: "refusal" } },
    dialogue: {
      names: acpNames,
      spec: { argv: ["agent"] },
      asked: { loaded: { session: "session-1" }, model: { model: "fancy" } },
    },
  },
];
