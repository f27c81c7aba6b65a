/** The facts of kind `qwen_code`: Qwen Code. */
import {
  ADD_DIRS,
  FORK,
  HEADLESS,
  MCP_SERVERS,
  MODEL,
  NON_INTERACTIVE,
  RESUME,
} from "../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { agentProblems, commaProblems, headerProblems } from "../../decoding/agent-rules.ts";
import { type KindFacts, NO_COST, NO_QUESTIONS } from "../../facts.ts";

/** The CLI refuses both. */
const schemaProblems = ({ interactive, output_schema }: WorkerSpec): readonly string[] =>
  interactive && output_schema !== undefined
    ? ["Qwen Code takes no schema in a conversation: leave out --interactive, or --output-schema."]
    : [];

export const facts = {
  kind: "qwen_code",
  aliases: ["qwen"],
  summary: "Qwen Code, headless: one prompt or a conversation, its answers, its tools, its session.",
  limits: [
    `${NO_QUESTIONS} \`acp:qwen\` asks.`,
    "A conversation takes no schema, its turns cannot be cancelled, and a message waits for the end of the turn before it; `acp:qwen` can cancel.",
    NO_COST,
    "It repeats a request that its provider refused with 429 or 5xx for minutes, and prints nothing meanwhile.",
    "It reports an answer that the provider cut off or refused as a good one. The text of a try that fails midway stays in the log, followed by the text of the next try.",
    "If a session is continued, and in a conversation, it reports the usage from the session's beginning. Holdfast then counts the messages of each turn, without the CLI's own side requests.",
  ],
  capabilities: [...HEADLESS, RESUME, FORK, MODEL, MCP_SERVERS, NON_INTERACTIVE, ADD_DIRS],
  binary: { name: "qwen", variable: "QWEN_BINARY" },
  credentials: [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_MODEL",
    "BAILIAN_CODING_PLAN_API_KEY",
    "DASHSCOPE_API_KEY",
    "GEMINI_API_KEY",
    "GEMINI_MODEL",
    "GOOGLE_API_KEY",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_CLOUD_PROJECT",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_MODEL",
    "QWEN_DEFAULT_AUTH_TYPE",
    "QWEN_HOME",
    "QWEN_MODEL",
    "QWEN_RUNTIME_DIR",
  ],
  default_restart: "transient",
  takes_output_schema: true,
  needs_prompt: true,
  dialogue: "turns",
  counts_cached_inside: true,
  sessions_under: ["QWEN_RUNTIME_DIR", "QWEN_HOME", "HOME"],
  reading_tools: ["glob", "grep_search", "list_directory", "read_file", "read_mcp_resource", "web_fetch"],
  state: [{ home: ".qwen", variable: "QWEN_HOME" }],
  validate: (spec, able) => [
    ...agentProblems(spec, able, { converses: true }),
    ...schemaProblems(spec),
    ...commaProblems(spec, "Qwen Code"),
    ...headerProblems(spec, "its arguments can be seen by others"),
  ],
} as const satisfies KindFacts;
