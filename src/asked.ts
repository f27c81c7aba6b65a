/** What a program asks the library for, with what is left to its process: its directory and the variables that may reach the agent. */
import { resolve } from "node:path";
import type { AgentAdapter } from "./adapters/adapter.ts";
import type { Registry } from "./adapters/registry.ts";
import { askMcp, type McpReply } from "./daemon/mcp.ts";
import type { McpOptions, SpawnOptions } from "./options.ts";
import { clientEnvironment } from "./protocol/environment.ts";
import { referencedVariables } from "./protocol/kinds.ts";
import { MCP_TIMEOUT_DEFAULT_MS } from "./protocol/limits.ts";
import type { WorkerSpecInput } from "./protocol/worker.ts";

export const specOf = (
  asked: Omit<SpawnOptions, "idempotency_key" | "dry_run">,
  { adapterFor }: Registry,
): WorkerSpecInput => {
  const { argv = [], inherit_env = [] } = asked;
  const adapter = adapterFor(asked.kind);
  return {
    ...asked,
    argv: [...argv],
    inherit_env: [...inherit_env],
    cwd: resolve(asked.cwd ?? "."),
    restart: asked.restart ?? adapter?.default_restart ?? "transient",
    client_env: clientEnvironment(process.env, [
      ...inherit_env,
      ...referencedVariables(asked.env ?? {}),
      ...(adapter === undefined ? [] : namesOfVariables(adapter)),
    ]),
  };
};

/** What its adapter may need of this process's environment. */
export const namesOfVariables = ({ binary, credentials }: AgentAdapter): readonly string[] => [
  ...credentials,
  ...(binary === null ? [] : [binary.variable]),
];

/** With this process's directory and what the program of the kind may need of its environment. */
export const mcpOf = (
  registry: Registry,
  kind: string,
  name: string | undefined,
  { cwd = ".", env = {}, timeout_ms = MCP_TIMEOUT_DEFAULT_MS }: McpOptions,
): Promise<McpReply> => {
  const adapter = registry.adapterFor(kind);
  const named = [...referencedVariables(env), ...(adapter === undefined ? [] : namesOfVariables(adapter))];
  return askMcp(registry, {
    kind,
    asked: name === undefined ? { do: "list" } : { do: "get", name },
    cwd: resolve(cwd),
    client_env: clientEnvironment(process.env, named),
    env,
    timeout_ms,
  });
};
