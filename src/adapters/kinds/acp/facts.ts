/** The facts of kind `acp`: any agent that speaks the Agent Client Protocol, and those that are known by a name of their own (`acp:gemini`). */
import { agentOptions, HEADLESS, MODEL, NON_INTERACTIVE, RESUME } from "../../../protocol/extensions.ts";
import { agentProblems } from "../../decoding/agent-rules.ts";
import { checkSessionId } from "../../decoding/events.ts";
import type { KindFacts } from "../../facts.ts";

/** The extension key of a worker's spec that names one. */
export const ACP_AGENT = "backend.acp.agent.v1";

/** How each one is run, `presets` knows. */
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
    // It brings no CLI of its own where it was installed without one.
    variables: ["CLAUDE_CODE_EXECUTABLE"],
  },
  { name: "codex", binary: "codex-acp", variable: "CODEX_ACP_BINARY", variables: ["CODEX_PATH"] },
] as const;

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
  const { session, fork } = agentOptions(spec);
  if (fork) problems.push("An ACP agent cannot fork a session: leave --fork out.");
  if (session?.by === "last")
    problems.push("An ACP agent needs the id of the session to continue: give it with --session.");
  if (session?.by === "id" && checkSessionId(session.id) !== "ok")
    problems.push("The id of the session is over the bound of an id.");
  return problems;
};

export const facts = {
  kind: "acp",
  aliases: [],
  summary: "Any agent that speaks the Agent Client Protocol: prompts, tools, permissions, its session.",
  usage: `any agent of the Agent Client Protocol, its program after --, or one that is known: ${KNOWN}`,
  limits: [
    "A session cannot be forked, and is gone on with by its id alone: there is no `last`.",
    "Files and terminals of the client are not offered: the agent uses its own, and such a request is refused.",
    "Copilot CLI and codex-acp end a turn well where their provider failed; what they give away beside it makes it a failure. Gemini CLI and claude-agent-acp give nothing away: an answer that the provider broke off is told as one that is complete.",
    "Unless everything is allowed, codex-acp is put into its mode `read-only` before its first prompt, and refused where it has none: what its sandbox forbids fails without a question, and it asks about patches and about commands that the model wants to run outside the sandbox. OpenCode is told to ask about edits and commands.",
    "A turn that is cancelled may leave commands running, of codex-acp, OpenCode and Copilot CLI: which processes are that turn's own cannot be told from the agent's servers, so they are ended with the worker.",
    "Warnings of codex-acp are told as Status; those of claude-agent-acp come as words of the agent. Neither is in the final answer.",
    "OpenCode tells the tokens of a turn's last request alone: a budget of tokens counts the others of a turn as nothing.",
    "Gemini CLI prints no output of its shell over ACP, and tells nothing after a denied call: its result is told by us when the turn ends.",
  ],
  capabilities: [...HEADLESS, RESUME, MODEL, NON_INTERACTIVE, ACP_AGENT],
  binary: null,
  no_program: {
    on_command_line:
      "kind acp needs its agent's program after --, as in: agent spawn acp PROMPT -- my-agent --acp; acp:gemini and the others have one",
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
