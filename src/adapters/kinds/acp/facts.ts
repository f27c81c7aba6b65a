/**
 * The facts of kind `acp`: any agent that speaks the Agent Client Protocol, and named agents such as
 * `acp:gemini`.
 */
import {
  agentOptions,
  HEADLESS,
  MCP_SERVERS,
  MODEL,
  NON_INTERACTIVE,
  RESUME,
} from "../../../protocol/extensions.ts";
import { agentProblems, headerProblems } from "../../decoding/agent-rules.ts";
import { checkSessionId } from "../../decoding/events.ts";
import type { KindFacts, NamedAgent } from "../../facts.ts";

/** The extension key that selects a named agent. */
export const ACP_AGENT = "backend.acp.agent.v1";

/** The named agents. `presets` has the rest of what is needed to run them. */
export const AGENTS = [
  { name: "gemini", binary: "gemini", variable: "GEMINI_BINARY", variables: ["GEMINI_SYSTEM_MD"] },
  {
    name: "opencode",
    binary: "opencode",
    variable: "OPENCODE_BINARY",
    variables: ["OPENCODE_DISABLE_LSP_DOWNLOAD", "OPENCODE_DISABLE_MODELS_FETCH"],
  },
  { name: "copilot", binary: "copilot", variable: "COPILOT_BINARY", variables: [] },
  {
    name: "claude",
    binary: "claude-agent-acp",
    variable: "CLAUDE_ACP_BINARY",
    // An installation without its own CLI needs this variable to find one.
    variables: ["CLAUDE_CODE_EXECUTABLE"],
  },
  { name: "codex", binary: "codex-acp", variable: "CODEX_ACP_BINARY", variables: ["CODEX_PATH"] },
  { name: "qwen", binary: "qwen", variable: "QWEN_BINARY", variables: [] },
  {
    name: "kilo",
    binary: "kilo",
    variable: "KILO_BINARY",
    variables: [
      "KILO_API_KEY",
      "KILO_AUTH_CONTENT",
      "KILO_CONFIG",
      "KILO_CONFIG_CONTENT",
      "KILO_CONFIG_DIR",
      "KILO_DISABLE_LSP_DOWNLOAD",
      "KILO_DISABLE_MODELS_FETCH",
      "KILO_ORG_ID",
    ],
  },
  {
    name: "kimi",
    binary: "kimi",
    variable: "KIMI_BINARY",
    variables: [
      "KIMI_API_KEY",
      "KIMI_BASE_URL",
      "KIMI_CODE_HOME",
      "KIMI_MODEL_API_KEY",
      "KIMI_MODEL_BASE_URL",
      "KIMI_MODEL_NAME",
      "KIMI_MODEL_PROVIDER_TYPE",
    ],
  },
  {
    name: "cline",
    binary: "cline",
    variable: "CLINE_BINARY",
    variables: ["CLINE_API_KEY", "CLINE_DATA_DIR", "CLINE_DIR", "CLINE_MODEL", "CLINE_PROVIDER"],
  },
  {
    name: "auggie",
    binary: "auggie",
    variable: "AUGGIE_BINARY",
    variables: ["AUGMENT_API_TOKEN", "AUGMENT_API_URL", "AUGMENT_SESSION_AUTH", "GITHUB_API_TOKEN"],
    untried: "its tests end at its login, because it works only with an account of Augment",
  },
  {
    name: "goose",
    binary: "goose",
    variable: "GOOSE_BINARY",
    variables: [
      "ANTHROPIC_API_KEY",
      "ANTHROPIC_HOST",
      "GOOGLE_API_KEY",
      "GOOSE_MODEL",
      "GOOSE_PROVIDER",
      "OPENAI_API_KEY",
      "OPENAI_BASE_PATH",
      "OPENAI_HOST",
      "OPENROUTER_API_KEY",
    ],
    untried: "it was never run, because it has no npm package: its arguments are those of its documentation",
  },
] as const satisfies readonly NamedAgent[];

const KNOWN = AGENTS.map(({ name }) => `acp:${name}`).join(", ");

const validate: KindFacts["validate"] = (spec, able) => {
  const { [ACP_AGENT]: named, ...ext } = spec.ext;
  const problems = [...agentProblems({ ...spec, ext }, able, { converses: true, asks: true })];
  if (named !== undefined && AGENTS.every(({ name }) => name !== named))
    problems.push(`invalid ${ACP_AGENT}: it is one of ${AGENTS.map(({ name }) => name).join(", ")}.`);
  if (named === undefined && (spec.argv[0] ?? "") === "")
    problems.push(
      `An ACP agent needs its program, as in \`agent spawn acp "PROMPT" -- my-agent --acp\`, or a known name: ${KNOWN}.`,
    );
  problems.push(...headerProblems(spec, "its lines are on record"));
  const { session, fork } = agentOptions(spec);
  if (fork) problems.push("An ACP agent cannot fork a session: leave out --fork.");
  if (session?.by === "last")
    problems.push("An ACP agent needs the id of the session to continue: give it with --session.");
  if (session?.by === "id" && checkSessionId(session.id) !== "ok")
    problems.push("The id of the session is too long.");
  return problems;
};

export const facts = {
  kind: "acp",
  aliases: [],
  summary: "Any agent that speaks the Agent Client Protocol: prompts, tools, permissions, its session.",
  usage: `any agent that speaks the Agent Client Protocol, with its program after --, or a known one: ${KNOWN}`,
  limits: [
    "A session cannot be forked, and can be continued only by its id: there is no `last`.",
    "Files and terminals of the client are not offered: the agent uses its own, and such a request is refused.",
    "Copilot CLI and codex-acp report a successful turn when their provider failed; other output of theirs reveals the failure, so the turn counts as failed. Gemini CLI and claude-agent-acp reveal nothing: an answer that the provider cut off counts as complete.",
    "Unless everything is allowed, codex-acp is set to its mode `read-only` before its first prompt, and refused if it has no such mode. An action that its sandbox forbids then fails without a question, and it asks about patches and about commands that the model wants to run outside the sandbox. OpenCode and Kilo Code are configured to ask about edits and commands. Qwen Code, Kimi Code and Cline are told to ask, whatever their own settings say.",
    "With codex-acp, OpenCode and Copilot CLI, a cancelled turn may leave commands running. The turn's processes cannot be distinguished from the agent's servers, so they are ended with the worker.",
    "Warnings of codex-acp are recorded as Status; those of claude-agent-acp appear as text of the agent. Neither is in the final answer.",
    "OpenCode and Kilo Code report only the tokens of a turn's last request, so a budget of tokens does not count the turn's other requests. Kimi Code and Cline report none.",
    "Cline has no choice of model by `--model` for a provider of your own: it takes the model of its settings.",
    "Gemini CLI sends no shell output over ACP, and reports nothing after a denied call: Holdfast records the result when the turn ends.",
  ],
  capabilities: [...HEADLESS, RESUME, MODEL, MCP_SERVERS, NON_INTERACTIVE, ACP_AGENT],
  binary: null,
  no_program: {
    on_command_line:
      "kind acp needs its agent's program after --, as in: agent spawn acp PROMPT -- my-agent --acp; the named agents such as acp:gemini need none",
    in_file:
      "needs its agent's program, as in argv: [my-agent, --acp]; or acp:gemini, or another known one, as its kind",
  },
  named: { key: ACP_AGENT, agents: AGENTS },
  credentials: [],
  default_restart: "transient",
  needs_prompt: true,
  dialogue: "turns",
  sessions_under: ["HOME"],
  validate,
} as const satisfies KindFacts;
