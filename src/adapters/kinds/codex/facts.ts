/** The facts of kind `codex`: OpenAI's codex. */
import {
  ADD_DIRS,
  EXTERNAL_SANDBOX,
  FORK,
  HEADLESS,
  MCP_SERVERS,
  MODEL,
  NON_INTERACTIVE,
  oneOf,
  RESUME,
} from "../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { agentProblems, asksPermission } from "../../decoding/agent-rules.ts";
import { type KindFacts, NO_COST } from "../../facts.ts";
import { APPROVAL_POLICY, SANDBOX_MODE } from "./settings.ts";

/** Notes A.5: the values that codex itself uses. */
const OWN_KEYS = {
  [APPROVAL_POLICY]: oneOf(APPROVAL_POLICY, ["untrusted", "on-failure", "on-request", "never"]),
  [SANDBOX_MODE]: oneOf(SANDBOX_MODE, ["read-only", "workspace-write", "danger-full-access"]),
};

const policyProblems = (spec: WorkerSpec): readonly string[] => {
  const { ext, permission } = spec;
  const problems: string[] = [];
  const policy = ext[APPROVAL_POLICY];
  if (policy !== undefined && policy !== "never" && ext[NON_INTERACTIVE] !== false)
    problems.push(`${APPROVAL_POLICY} must be "never" unless ${NON_INTERACTIVE} is false.`);
  else if (policy === "on-failure")
    problems.push(`codex no longer supports ${APPROVAL_POLICY}="on-failure": use "on-request".`);
  else if (policy === "never" && asksPermission(spec))
    problems.push(
      `${APPROVAL_POLICY}="never" contradicts --permission ask and rules, because codex then asks nothing.`,
    );
  if (permission === "allow")
    for (const key of [APPROVAL_POLICY, SANDBOX_MODE])
      if (ext[key] !== undefined)
        problems.push(`${key} contradicts --permission allow, which asks nothing and has no sandbox.`);
  return problems;
};

export const facts = {
  kind: "codex",
  aliases: [],
  summary: "OpenAI codex, headless: one prompt or a conversation, its answers, its tools, its session.",
  limits: [
    "One prompt is `codex exec --json`, which the table shows. With `--interactive`, `--permission ask`, a rule for a tool or `--fork` it is `codex app-server`: answers then come in pieces, codex asks about commands, patches and further permissions (`shell`, `patch`, `network`, `permissions`), and a turn can be cancelled.",
    "When it asks, commands that codex knows to be read-only run without a question (its policy `untrusted`). Allowed commands run in its sandbox, which can write to the working directory.",
    "A rule with an argument matches a patch of a single file, by its path. Questions of its MCP servers are declined.",
    NO_COST,
    "`codex exec` prints whole items and no deltas: an answer is seen when it is complete.",
    "`codex exec` reports no usage of its sub-agents, so the tokens of a turn do not include it.",
    "A turn that is cancelled leaves its commands running, because codex does not end them: they are ended with the worker.",
    "codex prints nothing about a command that its sandbox refused without a question, so neither a call nor a result is recorded.",
    "Its sandbox leaves empty directories (`.agents .aws .codex .git`) when it is stopped during a command. They are removed when the run has ended. In /tmp `codex exec` leaves none, because it may not write there; `acp:codex` may, and they are removed there too.",
    "`codex exec` reports errors only as text: known texts get an error code, all others AGENT_FAILED.",
  ],
  capabilities: [
    ...HEADLESS,
    RESUME,
    FORK,
    MODEL,
    MCP_SERVERS,
    NON_INTERACTIVE,
    ADD_DIRS,
    "agent_api.tools.mcp.list.v1",
    "agent_api.tools.mcp.get.v1",
    "backend.codex.exec_stream",
    APPROVAL_POLICY,
    SANDBOX_MODE,
  ],
  ways_of_running: ["backend.codex.exec_stream"],
  opt_ins: {
    allow_external_sandbox_exec: [EXTERNAL_SANDBOX],
    allow_mcp_write: ["agent_api.tools.mcp.add.v1", "agent_api.tools.mcp.remove.v1"],
  },
  binary: { name: "codex", variable: "CODEX_BINARY" },
  provider: "openai",
  credentials: ["CODEX_API_KEY", "CODEX_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
  default_restart: "transient",
  takes_output_schema: true,
  needs_prompt: true,
  dialogue: "turns",
  counts_cached_inside: true,
  sessions_under: ["CODEX_HOME", "HOME"],
  reading_tools: ["web_search"],
  state: [{ home: ".codex", variable: "CODEX_HOME" }],
  validate: (spec, able) => [
    ...agentProblems(spec, able, { keys: OWN_KEYS, converses: true, asks: true }),
    ...policyProblems(spec),
  ],
} as const satisfies KindFacts;
