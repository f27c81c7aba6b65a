/** Kind `llm`: a model and tools, run by the engine of Holdfast in a process of its own. */
import type { EngineGround } from "../../../protocol/engine-lines.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import type { AgentAdapter } from "../../adapter.ts";
import { adapterOf } from "../../facts.ts";
import { decode } from "./decode.ts";
import { facts, mcpNames } from "./facts.ts";
import { messages } from "./messages.ts";
import { finish } from "./outcome.ts";
import { NO_GROUND, planOn } from "./plan.ts";
import { MCP } from "./settings.ts";
import { initial, type LlmState } from "./state.ts";

export const llm: AgentAdapter<LlmState> = adapterOf(facts, {
  streams: ["stdout"],
  messages,
  converses: () => true,
  plan: planOn(NO_GROUND),
  decoder_version: 1,
  initial,
  decode,
  finish,
});

/** The kind on the ground of a daemon: the providers and MCP servers of its configuration, and its socket. */
export const llmOn = (ground: EngineGround): AgentAdapter<LlmState> => ({
  ...llm,
  plan: planOn(ground),
  validate: (spec) => [...llm.validate(spec), ...unknownServers(spec, ground)],
});

const unknownServers = ({ ext }: WorkerSpec, { mcp }: EngineGround): readonly string[] => {
  const known = Object.keys(mcp);
  const has = known.length === 0 ? "it names none" : `it names ${known.join(", ")}`;
  return (mcpNames(ext[MCP]) ?? [])
    .filter((name) => !known.includes(name))
    .map((name) => `There is no MCP server ${name} under mcp in config.yaml: ${has}.`);
};
