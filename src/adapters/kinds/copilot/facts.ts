/** The facts of kind `copilot`: GitHub's Copilot CLI. */
import { ADD_DIRS, HEADLESS, MODEL, NON_INTERACTIVE, RESUME } from "../../../protocol/extensions.ts";
import { agentProblems, forkProblems } from "../../decoding/agent-rules.ts";
import { type KindFacts, NO_CONVERSATION, NO_QUESTIONS } from "../../facts.ts";

export const facts = {
  kind: "copilot",
  aliases: [],
  summary: "Copilot CLI, headless: one prompt, its answer, its tools, its session. It tells no usage.",
  limits: [
    NO_QUESTIONS,
    NO_CONVERSATION,
    "The CLI prints neither tokens nor cost, so such budgets count nothing for it. It writes its tokens into a file at its end alone (`--usage-output-file`), which is not read: in a sandbox there is no place for it, and after SIGKILL none is written.",
    "Its session is told in its last line. Holdfast chooses the id of a new one and tells it with the prompt; of a run whose own arguments name a session, and that was cut off, it is not known.",
    "Each try that failed in the middle of its deltas stays told; the next one is told behind it.",
  ],
  capabilities: [...HEADLESS, RESUME, MODEL, NON_INTERACTIVE, ADD_DIRS],
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
  sessions_under: ["COPILOT_HOME", "HOME"],
  reading_tools: ["glob", "grep", "view"],
  validate: (spec, able) => [...agentProblems(spec, able), ...forkProblems(spec)],
} as const satisfies KindFacts;
