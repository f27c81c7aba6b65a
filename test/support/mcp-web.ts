/** An MCP server at an address, which keeps the headers of the requests that it got. */
import { createServer, type IncomingHttpHeaders } from "node:http";

const TOOL = {
  name: "ping",
  description: "Pings.",
  inputSchema: { type: "object", properties: {} },
  annotations: { readOnlyHint: true },
};

const answerTo = (method: string, params: { protocolVersion?: string } | undefined): object | undefined => {
  if (method === "initialize") {
    const { protocolVersion } = params ?? {};
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "web", version: "1" } };
  }
  if (method === "tools/list") return { tools: [TOOL] };
  if (method === "tools/call") return { content: [{ type: "text", text: "pong" }] };
  return undefined;
};

export interface McpWeb {
  readonly url: string;
  readonly called: readonly { readonly method: string; readonly headers: IncomingHttpHeaders }[];
  close(): Promise<void>;
}

export const startMcpWeb = async (): Promise<McpWeb> => {
  const called: { method: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    let body = "";
    for await (const chunk of request) body += chunk;
    const { id, method, params } = JSON.parse(body);
    called.push({ method, headers: request.headers });
    if (id === undefined) return void response.writeHead(202).end();
    const result = answerTo(method, params);
    const error = { code: -32601, message: `no method ${method}` };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    called,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
};
