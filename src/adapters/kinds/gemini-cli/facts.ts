/** The facts of kind `gemini_cli`: Google's Gemini CLI. */
import { ADD_DIRS, HEADLESS, MODEL, NON_INTERACTIVE, RESUME } from "../../../protocol/extensions.ts";
import { agentProblems, commaProblems, forkProblems } from "../../decoding/agent-rules.ts";
import { type KindFacts, NO_CONVERSATION, NO_COST, NO_FORK, NO_QUESTIONS } from "../../facts.ts";

export const facts = {
  kind: "gemini_cli",
  aliases: ["gemini"],
  summary: "Gemini CLI, headless: one prompt, its answer, its tools, its session.",
  limits: [
    NO_QUESTIONS,
    NO_CONVERSATION,
    NO_FORK,
    NO_COST,
    "It reads MCP servers only from settings of the user, of the project and of the machine, and those of the machine only if root owns the file, so `--mcp` is refused. `acp:gemini` takes it.",
    "The CLI never prints its reasoning.",
    "It does not mark messages, so the text of an abandoned try and of the next one become a single text.",
    "The CLI reports a failed command as a successful result, so Holdfast records it as one.",
  ],
  capabilities: [...HEADLESS, RESUME, MODEL, NON_INTERACTIVE, ADD_DIRS],
  binary: { name: "gemini", variable: "GEMINI_BINARY" },
  provider: "gcp.gemini",
  credentials: [
    "GEMINI_API_KEY",
    "GEMINI_CLI_HOME",
    "GEMINI_MODEL",
    "GOOGLE_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_ACCESS_TOKEN",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_PROJECT_ID",
    "GOOGLE_CLOUD_QUOTA_PROJECT",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_VERTEX_BASE_URL",
  ],
  default_restart: "transient",
  needs_prompt: true,
  counts_cached_inside: true,
  sessions_under: ["GEMINI_CLI_HOME", "HOME"],
  reading_tools: [
    "glob",
    "google_web_search",
    "list_directory",
    "read_file",
    "read_many_files",
    "search_file_content",
    "web_fetch",
  ],
  validate: (spec, able) => [
    ...agentProblems(spec, able),
    ...forkProblems(spec),
    ...commaProblems(spec, "Gemini CLI"),
  ],
} as const satisfies KindFacts;
