/** The facts of kind `llm`: the agent that Holdfast runs itself, with a model and tools (src/engine). */
import {
  ENGINE_CONTEXT_MAX_TOKENS,
  ENGINE_CONTEXT_MIN_TOKENS,
  ENGINE_STEPS_MAX,
  ENGINE_TRIES_MAX,
  MCP_SERVERS_OF_AGENT_MAX,
} from "../../../base/limits.ts";
import { COMPACTION_POLICIES } from "../../../protocol/engine-lines.ts";
import {
  agentOptions,
  FORK,
  HEADLESS,
  MCP_SERVERS,
  MODEL,
  NON_INTERACTIVE,
  oneOf,
  RESUME,
  type ValueCheck,
} from "../../../protocol/extensions.ts";
import { MCP_NAME_FORM } from "../../../protocol/forms.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { agentProblems } from "../../decoding/agent-rules.ts";
import { type KindFacts, NO_COST } from "../../facts.ts";
import {
  COMPACTION,
  CONTEXT_TOKENS,
  MAX_OUTPUT_TOKENS,
  MAX_STEPS,
  MAX_TRIES,
  MCP,
  SYSTEM,
} from "./settings.ts";

const wholeIn =
  (key: string, min: number, max: number): ValueCheck =>
  (value) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max ? undefined : key;

/** The names of MCP servers, each once; undefined if the value is malformed. */
export const mcpNames = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) &&
  value.length <= MCP_SERVERS_OF_AGENT_MAX &&
  new Set(value).size === value.length &&
  value.every((name) => typeof name === "string" && MCP_NAME_FORM.test(name))
    ? value
    : undefined;

const OWN_KEYS: Readonly<Record<string, ValueCheck>> = {
  [SYSTEM]: (value) => (typeof value === "string" && value.trim() !== "" ? undefined : SYSTEM),
  [MAX_STEPS]: wholeIn(MAX_STEPS, 1, ENGINE_STEPS_MAX),
  [MAX_TRIES]: wholeIn(MAX_TRIES, 1, ENGINE_TRIES_MAX),
  [MAX_OUTPUT_TOKENS]: wholeIn(MAX_OUTPUT_TOKENS, 1, ENGINE_CONTEXT_MAX_TOKENS),
  [CONTEXT_TOKENS]: wholeIn(CONTEXT_TOKENS, ENGINE_CONTEXT_MIN_TOKENS, ENGINE_CONTEXT_MAX_TOKENS),
  [MCP]: (value) => (mcpNames(value) === undefined ? MCP : undefined),
  [COMPACTION]: oneOf(COMPACTION, COMPACTION_POLICIES),
};

/** `provider/model`; the name of the model may have slashes too. */
const MODEL_FORM = /^[a-z0-9][a-z0-9_.-]*\/\S+$/;

const ownProblems = (spec: WorkerSpec): readonly string[] => {
  const { model, session } = agentOptions(spec);
  const problems: string[] = [];
  if (model === undefined)
    problems.push("Kind llm needs a model: give one with --model, as in --model openai/MODEL.");
  else if (!MODEL_FORM.test(model))
    problems.push(
      `The model ${model} is no PROVIDER/MODEL: name the provider first, as in openai/${model.replace(/^\/+/, "")}.`,
    );
  if (spec.argv.length > 0) problems.push("Kind llm takes no extra arguments: leave out what follows `--`.");
  const named = mcpNames(spec.ext[MCP]) ?? [];
  const twice = Object.keys(spec.mcp ?? {}).filter((name) => named.includes(name));
  if (twice.length > 0) problems.push(`MCP server ${twice.join(", ")} is given twice: by mcp and by ${MCP}.`);
  if (session?.by === "last")
    problems.push("Kind llm needs the id of the session to continue: give it with --session.");
  return problems;
};

export const facts = {
  kind: "llm",
  aliases: [],
  summary:
    "A model and tools, run by Holdfast itself: one prompt or a conversation, its answers, its session.",
  usage: "a model that Holdfast runs itself, with --model PROVIDER/MODEL",
  limits: [
    "It runs calls of one answer beside each other only if they just read and need no permission.",
    "The text of a try that fails midway stays in the log, followed by the text of the next try.",
    "A session is continued only by its id: there is no `last`.",
    NO_COST,
  ],
  capabilities: [
    ...HEADLESS,
    RESUME,
    FORK,
    MODEL,
    MCP_SERVERS,
    NON_INTERACTIVE,
    COMPACTION,
    MCP,
    CONTEXT_TOKENS,
    MAX_OUTPUT_TOKENS,
    MAX_STEPS,
    MAX_TRIES,
    SYSTEM,
  ],
  binary: null,
  credentials: [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "HOLDFAST_ENGINE_HOME",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
  ],
  default_restart: "transient",
  takes_output_schema: true,
  needs_prompt: true,
  dialogue: "turns",
  sessions_under: ["HOLDFAST_ENGINE_HOME", "HOME"],
  never_repeats: true,
  state: [{ home: ".holdfast-engine", variable: "HOLDFAST_ENGINE_HOME" }],
  validate: (spec, able) => [
    ...agentProblems(spec, able, { keys: OWN_KEYS, converses: true, asks: true }),
    ...ownProblems(spec),
  ],
} as const satisfies KindFacts;
