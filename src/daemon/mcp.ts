/**
 * Carries out `agent mcp …`: runs the CLI of a kind in an environment that is built as for a spawn. It needs
 * no daemon.
 */

import { runCaptured } from "../adapters/process/capture.ts";
import { buildEnvironment } from "../adapters/process/environment.ts";
import type { Registry } from "../adapters/registry.ts";
import { readSecretFile } from "../base/files/regular-file.ts";
import { SECRET_MAX_BYTES } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { makeRedactor } from "../protocol/redact.ts";
import { configuredRegistry } from "./configuration.ts";
import { type McpAsked, mcpArguments } from "./mcp-arguments.ts";

export interface McpCall {
  readonly stateDir: string;
  readonly kind: string;
  readonly asked: McpAsked;
  readonly cwd: string;
  /** The client's own variables; only those of the kind are used. */
  readonly client_env: Readonly<Record<string, string>>;
  /** Variables for the program: a value, `@env:NAME` or `@file:PATH`. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeout_ms: number;
}

export interface McpReply {
  readonly kind: string;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stdout_truncated: boolean;
  readonly stderr: string;
  readonly stderr_truncated: boolean;
}

export const manageMcp = async ({ stateDir, ...call }: McpCall): Promise<McpReply> =>
  askMcp(await configuredRegistry(stateDir), call);

/** Checks in this order: the kind, its capabilities, the request, the program. */
export const askMcp = async (registry: Registry, call: Omit<McpCall, "stateDir">): Promise<McpReply> => {
  const { kind: typed, asked, cwd, client_env, env, timeout_ms } = call;
  const adapter = registry.adapterFor(typed);
  if (adapter === undefined) {
    const near = registry.suggestKind(typed);
    throw new HoldfastError("INVALID_AGENT_KIND", `There is no agent kind "${typed}".`, {
      phase: "validation",
      ...(near === undefined ? {} : { suggestion: `Did you mean "${near}"?` }),
    });
  }
  const args = mcpArguments(adapter, asked, registry.all);
  const variable = adapter.binary!.variable;
  const binary = env[variable] ?? client_env[variable] ?? registry.binaryOf(adapter)!;
  const built = await buildEnvironment({
    spec: { client_env, env, inherit_env: [], cwd },
    credentials: adapter.credentials,
    planned: {},
    readFile: readSecretFile(SECRET_MAX_BYTES),
  });
  const ran = await runCaptured({ argv: [binary, ...args], cwd, env: built.env, timeout_ms });
  const redact = makeRedactor(built.secrets);
  return {
    kind: adapter.kind,
    exit_code: ran.exit_code,
    signal: ran.signal,
    stdout: redact.text(ran.stdout.text),
    stdout_truncated: ran.stdout.truncated,
    stderr: redact.text(ran.stderr.text),
    stderr_truncated: ran.stderr.truncated,
  };
};
