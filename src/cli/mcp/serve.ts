/** `agent mcp serve`: an MCP server over stdin and stdout, by the official library, in front of the daemon. */
import { readFileSync } from "node:fs";
import { ProtocolError, ProtocolErrorCode, Server, type Tool } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { asObject } from "../../base/json.ts";
import { MCP_SERVED_WAIT_MS } from "../../base/limits.ts";
import { asHoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler, Context } from "../context.ts";
import { VERSION } from "../package.ts";
import { answerOf, refusalOf } from "./answers.ts";
import { CALLS, type CallGround } from "./calls.ts";
import { ServerLink } from "./link.ts";
import { listResources, readResource, TEMPLATES } from "./resources.ts";
import { isServed } from "./served.ts";

const INSTRUCTIONS =
  "Holdfast supervises agents and commands as workers. Start one with spawn, wait for it with wait, read its answer with output. A worker goes on if this server ends.";

/** Serves until the client closes stdin. */
export const serve: CommandHandler = async (context) => {
  const link = new ServerLink(context.connect);
  const tools = toolsMade();
  const over = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve);
    process.stdin.once("close", resolve);
  });
  const handle = serveStdio(() => makeServer(context, link, tools), {
    transport: new StdioServerTransport(),
  });
  context.cleanups.push(() => handle.close());
  await over;
  return success({});
};

/** Made by the build, from the schemas of the requests and their answers. */
const toolsMade = (): readonly Tool[] =>
  JSON.parse(readFileSync(new URL("mcp-tools.json", import.meta.url), "utf8"));

const makeServer = (context: Context, link: ServerLink, tools: readonly Tool[]): Server => {
  const server = new Server(
    { name: "holdfast", version: VERSION },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  const wait_ms = (context.flags["wait-max"] as number | undefined) ?? MCP_SERVED_WAIT_MS;
  const groundOf = async (signal: AbortSignal): Promise<CallGround> => ({
    link,
    scope: await link.scope(),
    place: context,
    wait_ms,
    signal,
    newKey: () => crypto.randomUUID(),
  });
  server.setRequestHandler("tools/list", () => ({ tools: [...tools] }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const { name } = params;
    if (!isServed(name))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name}.`);
    const made = tools.find((tool) => tool.name === name);
    try {
      const value = await CALLS[name](await groundOf(mcpReq.signal), asObject(params.arguments) ?? {});
      return server.projectCallToolResult(answerOf(value, name === "output"), made?.outputSchema);
    } catch (cause) {
      return refusalOf(asHoldfastError(cause));
    }
  });
  server.setRequestHandler("resources/list", async (_, { mcpReq }) => ({
    resources: await listResources(await groundOf(mcpReq.signal)),
  }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: TEMPLATES }));
  server.setRequestHandler("resources/read", async ({ params }, { mcpReq }) => {
    const artifact = async (digest: string) => {
      const { artifactsIn } = await import("../../daemon/artifacts.ts");
      return artifactsIn(context.stateDir, context.env).get(digest);
    };
    try {
      return { contents: [await readResource(await groundOf(mcpReq.signal), params.uri, artifact)] };
    } catch (cause) {
      const { message } = asHoldfastError(cause);
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
  });
  return server;
};
