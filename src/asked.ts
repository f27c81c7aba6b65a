/** What a program asks the library for, with what is left to its process: its directory and the variables that may reach the agent. */
import { resolve } from "node:path";
import type { AgentAdapter } from "./adapters/adapter.ts";
import type { Registry } from "./adapters/registry.ts";
import type { SpawnOptions } from "./options.ts";
import { clientEnvironment } from "./protocol/environment.ts";
import type { WorkerSpecInput } from "./protocol/worker.ts";

export const specOf = (
  asked: Omit<SpawnOptions, "idempotency_key" | "dry_run">,
  { adapterFor }: Registry,
): WorkerSpecInput => {
  const { argv = [], inherit_env = [] } = asked;
  const adapter = adapterFor(asked.kind);
  const references = Object.values(asked.env ?? {}).flatMap((value) => /^@env:(.+)$/s.exec(value)?.[1] ?? []);
  return {
    ...asked,
    argv: [...argv],
    inherit_env: [...inherit_env],
    cwd: resolve(asked.cwd ?? "."),
    restart: asked.restart ?? adapter?.default_restart ?? "transient",
    client_env: clientEnvironment(process.env, [
      ...inherit_env,
      ...references,
      ...(adapter === undefined ? [] : namesOfVariables(adapter)),
    ]),
  };
};

/** What its adapter may need of this process's environment. */
export const namesOfVariables = ({ binary, credentials }: AgentAdapter): readonly string[] => [
  ...credentials,
  ...(binary === null ? [] : [binary.variable]),
];
