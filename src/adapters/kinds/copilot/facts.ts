/** The facts of kind `copilot`: GitHub's Copilot CLI. */
import {
  ADD_DIRS,
  HEADLESS,
  MCP_SERVERS,
  MODEL,
  NON_INTERACTIVE,
  RESUME,
} from "../../../protocol/extensions.ts";
import { agentProblems, forkProblems } from "../../decoding/agent-rules.ts";
import { type KindFacts, NO_CONVERSATION, NO_QUESTIONS } from "../../facts.ts";

export const facts = {
  kind: "copilot",
  aliases: [],
  summary: "Copilot CLI, headless: one prompt, its answer, its tools, its session.",
  limits: [
    NO_QUESTIONS,
    NO_CONVERSATION,
    "The CLI tells its tokens only at its end, in a file, and no cost. A budget counts them then. A sandbox and another runtime have no place for the file, after SIGKILL there is none, and the file sums the whole session: nothing is counted then, nor for a run that goes on in a session.",
    "It prints its session only in its last line. Holdfast therefore chooses the id of a new session and records it with the prompt. If the run's own arguments name a session and the run is cut off, the session is unknown.",
    "The text of a try that fails midway stays in the log, followed by the text of the next try.",
  ],
  capabilities: [...HEADLESS, RESUME, MODEL, MCP_SERVERS, NON_INTERACTIVE, ADD_DIRS],
  binary: { name: "copilot", variable: "COPILOT_BINARY" },
  credentials: [
    "COPILOT_GITHUB_TOKEN",
    "COPILOT_HOME",
    "COPILOT_MODEL",
    "COPILOT_OFFLINE",
    "COPILOT_PROVIDER_API_KEY",
    "COPILOT_PROVIDER_API_KEY_COMMAND",
    "COPILOT_PROVIDER_BASE_URL",
    "COPILOT_PROVIDER_BEARER_TOKEN",
    "COPILOT_PROVIDER_TYPE",
    "COPILOT_PROVIDER_WIRE_API",
    "GH_HOST",
    "GH_TOKEN",
    "GITHUB_TOKEN",
  ],
  default_restart: "transient",
  needs_prompt: true,
  counts_cached_inside: true,
  sessions_under: ["COPILOT_HOME", "HOME"],
  reading_tools: ["glob", "grep", "view"],
  validate: (spec, able) => [...agentProblems(spec, able), ...forkProblems(spec)],
} as const satisfies KindFacts;
