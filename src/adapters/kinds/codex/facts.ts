/** The facts of kind `codex`: OpenAI's codex. */
import {
  ADD_DIRS,
  EXTERNAL_SANDBOX,
  FORK,
  HEADLESS,
  MODEL,
  NON_INTERACTIVE,
  oneOf,
  RESUME,
} from "../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { agentProblems, asksPermission } from "../../decoding/agent-rules.ts";
import { type KindFacts, NO_COST } from "../../facts.ts";
import { APPROVAL_POLICY, SANDBOX_MODE } from "./settings.ts";

/** Notes A.5: the words of codex itself. */
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
      `${APPROVAL_POLICY}="never" contradicts --permission ask and rules: nothing is asked then.`,
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
    "One prompt is `codex exec --json`, which the table shows. With `--interactive`, `--permission ask`, a rule for a tool or `--fork` it is `codex app-server`: there, answers come in pieces, commands, patches and further permissions are asked about (`shell`, `patch`, `network`, `permissions`), and a turn can be cancelled.",
    "When it asks, commands that codex knows to only read are run unasked (its policy `untrusted`); what is allowed runs in its sandbox, in which the working directory can be written.",
    "A rule with an argument fits a patch of one file, by its path. Questions of its MCP servers are declined.",
    NO_COST,
    "`codex exec` prints whole items and no deltas: an answer is seen when it is complete.",
    "`codex exec` tells no usage of its sub-agents: what they took is missing in the tokens of the turn.",
    "A turn that is cancelled leaves its commands running, because codex does not end them: they are ended with the worker.",
    "A command that its sandbox refused without a question is printed as nothing at all: neither a call nor a result is told.",
    "Its sandbox leaves empty directories (`.agents .aws .codex .git`) where it is stopped in a command: they are removed when its run has ended; in /tmp it may not write, so that it leaves none there; `acp:codex` may, and they are removed there too.",
    "`codex exec` gives its errors in words alone: a code is found by words that are known, else it is AGENT_FAILED.",
  ],
  capabilities: [
    ...HEADLESS,
    RESUME,
    FORK,
    MODEL,
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
  credentials: ["CODEX_API_KEY", "CODEX_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
  default_restart: "transient",
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
