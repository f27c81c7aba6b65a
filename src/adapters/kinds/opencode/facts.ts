/** The facts of kind `opencode`: OpenCode. */
import { asObject, parseLine } from "../../../base/json.ts";
import { FORK, HEADLESS, MCP_SERVERS, MODEL, NON_INTERACTIVE, RESUME } from "../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { agentProblems } from "../../decoding/agent-rules.ts";
import { type KindFacts, NO_CONVERSATION, NO_QUESTIONS } from "../../facts.ts";

/** Its configuration in a variable. */
export const CONTENT = "OPENCODE_CONFIG_CONTENT";

/** The mistake of a variable that the plan could not extend. */
const contentProblems = ({ mcp, env, client_env }: WorkerSpec): readonly string[] => {
  if (mcp === undefined) return [];
  if (env[CONTENT] !== undefined)
    return [
      `Servers stand in ${CONTENT}, which --env would replace: put your settings into a file, and name it by OPENCODE_CONFIG.`,
    ];
  return asObject(parseLine(client_env[CONTENT] ?? "{}")) === undefined
    ? [
        `Your ${CONTENT} holds no JSON object, so no servers can be added to it: name a file by OPENCODE_CONFIG instead.`,
      ]
    : [];
};

export const facts = {
  kind: "opencode",
  aliases: [],
  summary: "OpenCode, headless: one prompt, its answer, its tools, its session.",
  limits: [
    NO_QUESTIONS,
    NO_CONVERSATION,
    "It prints whole parts and no deltas, a tool's call only with its result, and nothing before the model's first answer.",
    "If several start at once in a HOME where it has never run, some exit with 1 before their first line, because each creates the same database, and some hang. Start one alone first, or keep the default restart policy, which starts them again.",
    "It does not report retries, so a provider that refuses looks like one that is slow.",
    "Only its exit code marks the end of a run. The cost of a turn that never ended counts only for budgets.",
  ],
  capabilities: [...HEADLESS, RESUME, FORK, MODEL, MCP_SERVERS, NON_INTERACTIVE],
  binary: { name: "opencode", variable: "OPENCODE_BINARY" },
  credentials: [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "AWS_ACCESS_KEY_ID",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_API_KEY",
    "AZURE_RESOURCE_NAME",
    "CEREBRAS_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GITHUB_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENCODE_API_KEY",
    "OPENCODE_AUTH_CONTENT",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_CONTENT",
    "OPENCODE_CONFIG_DIR",
    "OPENROUTER_API_KEY",
    "VERTEX_LOCATION",
    "XAI_API_KEY",
  ],
  default_restart: "transient",
  needs_prompt: true,
  sessions_under: ["XDG_DATA_HOME", "HOME"],
  reading_tools: ["glob", "grep", "list", "read", "webfetch"],
  validate: (spec, able) => [...agentProblems(spec, able), ...contentProblems(spec)],
} as const satisfies KindFacts;
