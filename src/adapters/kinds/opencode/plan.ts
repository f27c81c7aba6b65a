/**
 * How OpenCode runs headless: `opencode run --format json`, with the prompt on stdin, which ends (an open stdin hangs it).
 */

import {
  agentOptions,
  FORK,
  HEADLESS,
  MODEL,
  NON_INTERACTIVE,
  RESUME,
} from "../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import type { LaunchPlan, PlanContext } from "../../adapter.ts";
import { agentProblems } from "../../decoding/agent-rules.ts";

export const capabilities = [...HEADLESS, RESUME, FORK, MODEL, NON_INTERACTIVE] as const;

export const credentials = [
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
] as const;

/** `--env` wins over it. */
const QUIET = { OPENCODE_DISABLE_AUTOUPDATE: "true" } as const;

/**
 * By its own default everything is allowed (agent-clis.md §8). The CLI lays this over the permissions of its configuration,
 * key by key. But an agent that a configuration describes may have permissions of its own, which win: what lies in the
 * working directory is therefore not read, its AGENTS.md included. `--env` wins over both.
 */
export const guard = (changes: "deny" | "ask") => ({
  OPENCODE_PERMISSION: JSON.stringify({ edit: changes, bash: changes }),
  OPENCODE_DISABLE_PROJECT_CONFIG: "true",
});

export const validate = (spec: WorkerSpec): readonly string[] => agentProblems(spec, capabilities);

export const plan = ({ spec, session: known, binary, worker_id }: PlanContext): LaunchPlan => {
  const { model, session, fork } = agentOptions(spec);
  const isAllowed = spec.permission === "allow";
  // A title that is given saves a question to the model.
  const argv = [
    binary,
    "run",
    "--format",
    "json",
    "--thinking",
    "--title",
    spec.name ?? `worker ${worker_id}`,
  ];
  if (model !== undefined) argv.push("--model", model);
  if (known !== undefined) {
    argv.push("--session", known);
  } else if (session !== undefined) {
    if (session.by === "id") argv.push("--session", session.id);
    else argv.push("--continue");
    if (fork) argv.push("--fork");
  }
  // Requests that its configuration would have made to somebody.
  if (isAllowed) argv.push("--auto");
  argv.push(...spec.argv);
  const env = isAllowed ? QUIET : { ...QUIET, ...guard("deny") };
  return { argv, env, stdin: { kind: "text", text: spec.prompt ?? "" } };
};
