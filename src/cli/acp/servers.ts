/**
 * The MCP servers that an editor hands over, as the spec of a worker has them. Values that may be secret become variables
 * of the client, to which the spec refers, so that none stands in the log. Pure.
 */
import type { EnvVariable, HttpHeader, McpServer } from "@agentclientprotocol/sdk";
import { isSecretName } from "../../base/secrets/names.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { secretIn } from "../../protocol/mcp-references.ts";
import type { WorkerSpecInput } from "../../protocol/worker.ts";

type Servers = NonNullable<WorkerSpecInput["mcp"]>;

export interface EditorServers {
  readonly mcp: Servers;
  /** By their names in the spec. */
  readonly variables: Readonly<Record<string, string>>;
}

const NAME_MAX_CHARS = 32;
/** Room for the number that tells two servers of one name apart. */
const STEM_MAX_CHARS = NAME_MAX_CHARS - 3;

/** Names of editors may have any character; those of workers' servers are a part of their tools' names. */
const freeName = (name: string, isTaken: (name: string) => boolean): string => {
  const stem = name
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^[_-]+|-+$/g, "")
    .slice(0, STEM_MAX_CHARS);
  const first = stem === "" ? "server" : stem;
  let free = first;
  for (let n = 2; isTaken(free); n += 1) free = `${first}-${n}`;
  return free;
};

export const editorServers = (given: readonly McpServer[]): EditorServers => {
  const mcp: Record<string, Servers[string]> = {};
  const variables: Record<string, string> = {};
  const reference = (value: string): string => {
    const variable = `HOLDFAST_EDITOR_MCP_${Object.keys(variables).length}`;
    variables[variable] = value;
    return `@env:${variable}`;
  };
  const referring = (pairs: readonly (EnvVariable | HttpHeader)[], isPlain: (pair: HttpHeader) => boolean) =>
    Object.fromEntries(pairs.map((pair) => [pair.name, isPlain(pair) ? pair.value : reference(pair.value)]));
  for (const server of given) {
    if ("type" in server && server.type === "sse")
      throw new HoldfastError(
        "UNSUPPORTED_CAPABILITY",
        `The MCP server ${server.name} of the editor speaks sse, which is not supported.`,
        { suggestion: "Give its address with the transport http." },
      );
    const name = freeName(server.name, (each) => Object.hasOwn(mcp, each));
    mcp[name] =
      "url" in server
        ? {
            url: server.url,
            // Not every kind takes a header from a variable, so only those that need one are.
            headers: referring(
              server.headers,
              (header) => !isSecretName(header.name) && secretIn(header.value) === undefined,
            ),
          }
        : { command: server.command, args: server.args, env: referring(server.env, () => false) };
  }
  return { mcp, variables };
};

const placeOf = (server: Servers[string]): string =>
  "url" in server ? server.url : JSON.stringify([server.command, ...(server.args ?? [])]);

/**
 * The names of those that a session does not have which began with `kept`: it has none of this name, and none at this place.
 * Their variables and headers may have changed.
 */
export const unknownServers = (given: readonly McpServer[], kept: Servers = {}): readonly string[] => {
  const places = new Set(Object.values(kept).map(placeOf));
  return Object.entries(editorServers(given).mcp)
    .filter(([name, server]) => !Object.hasOwn(kept, name) && !places.has(placeOf(server)))
    .map(([name]) => name);
};
