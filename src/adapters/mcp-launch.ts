/**
 * The MCP servers of a worker as its CLI is told of them. A program is started by a small script, which has its variables
 * and its arguments: so no secret stands in an argument, in the agent's own environment or in the log, and no CLI replaces
 * anything in them. A header stands in a variable, for which each CLI has its own form. Pure.
 */
import { join } from "node:path";
import type { WorkerSpec } from "../protocol/worker.ts";
import type { LaunchPlan, LaunchScript, PlanContext } from "./adapter.ts";

export interface ProgramToLaunch {
  readonly command: string;
  readonly args: readonly string[];
}

export interface AddressToCall {
  readonly url: string;
  /** Each as the spec has it, and the variable that holds it when the agent runs. */
  readonly headers: Readonly<Record<string, { readonly value: string; readonly variable: string }>>;
}

export interface McpLaunch {
  readonly targets: Readonly<Record<string, ProgramToLaunch | AddressToCall>>;
  readonly scripts: NonNullable<LaunchPlan["scripts"]>;
  /** The variables of headers. */
  readonly references: NonNullable<LaunchPlan["references"]>;
}

const SHELL = "/bin/sh";
const variableAt = (at: number): string => `HOLDFAST_MCP_SECRET_${at}`;

/** Undefined for a worker without servers. */
export const mcpLaunch = ({
  spec: { mcp },
  scripts_dir = "",
}: Pick<PlanContext, "scripts_dir"> & { readonly spec: Pick<WorkerSpec, "mcp"> }): McpLaunch | undefined => {
  if (mcp === undefined || Object.keys(mcp).length === 0) return undefined;
  const targets: Record<string, ProgramToLaunch | AddressToCall> = {};
  const scripts: Record<string, LaunchScript> = {};
  const references: Record<string, string> = {};
  for (const [name, server] of Object.entries(mcp)) {
    if ("url" in server) {
      const headers: Record<string, { readonly value: string; readonly variable: string }> = {};
      for (const [header, value] of Object.entries(server.headers)) {
        const variable = variableAt(Object.keys(references).length);
        headers[header] = { value, variable };
        references[variable] = value;
      }
      targets[name] = { url: server.url, headers };
    } else {
      const script = `${name}.sh`;
      scripts[script] = { argv: [server.command, ...server.args], env: server.env };
      targets[name] = { command: SHELL, args: [join(scripts_dir, script)] };
    }
  }
  return { targets, scripts, references };
};

/** The headers of a server, each with the words by which a CLI names a variable. */
export const headersBy = (
  { headers }: AddressToCall,
  words: (variable: string) => string,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([header, { variable }]) => [header, words(variable)]));

/** The headers of a server as the spec has them: for a kind that refuses secrets in them, or that reads references itself. */
export const givenHeaders = ({ headers }: AddressToCall): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([header, { value }]) => [header, value]));

/** An address for a CLI that replaces `${NAME}`. */
export const bracedAddress = (target: AddressToCall): object => ({
  type: "http",
  url: target.url,
  headers: headersBy(target, (variable) => `\${${variable}}`),
});

/** The JSON that most CLIs share: `{ "mcpServers": { … } }`, with the members that one CLI wants of each server. */
export const sharedForm = (
  { targets }: McpLaunch,
  address: (target: AddressToCall) => object,
  every: object = {},
): string => {
  const servers = Object.entries(targets).map(([name, target]) => [
    name,
    { ...("url" in target ? address(target) : target), ...every },
  ]);
  return JSON.stringify({ mcpServers: Object.fromEntries(servers) });
};
