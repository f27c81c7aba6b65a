/** Tools of MCP servers on stdio and by HTTP: those that behave, and those that end, hang, lie and flood. */
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { secretsOf } from "../../../src/engine/secrets.ts";
import { mcpTools } from "../../../src/engine/tools/mcp/source.ts";
import type { ToolSource } from "../../../src/engine/tools/offered.ts";
import type { McpServer } from "../../../src/protocol/mcp-servers.ts";
import { listenOnLoopback } from "../../support/net.ts";

const PROGRAM = join(import.meta.dirname, "../../fixtures/mcp/server.mjs");
const KEY = "fake-mcp-token-0123456789";

const sourceOf = (server: McpServer): ToolSource => {
  const secrets = secretsOf({ MCP_TOKEN: KEY });
  const bounds = { connect_ms: 5_000, call_ms: 1_000 };
  const source = mcpTools({ name: "fake", server, cwd: import.meta.dirname, secrets, bounds });
  onTestFinished(() => source.close());
  return source;
};

const program = (sin: string, more: Partial<McpServer> = {}): McpServer =>
  ({ command: [process.execPath, PROGRAM, sin], env: {}, trusted: false, ...more }) as McpServer;

const callOf = (source: ToolSource, name: string, input = {}, signal = new AbortController().signal) =>
  source.run(
    { id: "c1", name: `mcp__fake__${name}`, input },
    { signal, worker_id: "w", cwd: import.meta.dirname, idempotency_key: "k" },
  );

const ready = async (server: McpServer): Promise<ToolSource> => {
  const source = sourceOf(server);
  await source.list();
  return source;
};

it("offers the tools of a server, and believes none of its hints", async () => {
  const tools = await sourceOf(program("none")).list();
  expect(tools.map(({ name }) => name)).toEqual(
    ["echo", "note", "fail", "env", "picture", "much"].map((name) => `mcp__fake__${name}`),
  );
  expect(tools[0]).toEqual({
    name: "mcp__fake__echo",
    description: "Says the text again.",
    input_schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    is_idempotent: false,
    only_reads: false,
  });
  expect(tools.some(({ is_idempotent, only_reads }) => is_idempotent || only_reads)).toBe(false);
});

it("believes a server that the configuration trusts", async () => {
  const tools = await sourceOf(program("none", { trusted: true })).list();
  const hints = tools.map(({ name, is_idempotent, only_reads }) => [name, is_idempotent, only_reads]);
  expect(hints.slice(0, 3)).toEqual([
    ["mcp__fake__echo", true, true],
    ["mcp__fake__note", true, false],
    ["mcp__fake__fail", false, false],
  ]);
});

it("offers only the tools that the configuration names", async () => {
  const tools = await sourceOf(program("none", { tools: ["e*", "note"] })).list();
  expect(tools.map(({ name }) => name)).toEqual(["mcp__fake__echo", "mcp__fake__note", "mcp__fake__env"]);
});

describe("a call", () => {
  it("has a text, an object, an error or the name of what is not shown as its result", async () => {
    const source = await ready(program("none"));
    expect(await callOf(source, "echo", { text: "hé" })).toEqual({ output: "echo: hé", is_error: false });
    expect(await callOf(source, "note")).toEqual({ output: { noted: true }, is_error: false });
    expect(await callOf(source, "fail")).toEqual({
      output: "it failed",
      is_error: true,
      code: "SKILL_FAILED",
    });
    expect((await callOf(source, "picture")).output).toBe(
      "[image image/png, 4 characters of base64: not shown]",
    );
  });

  it("sees no variable of the agent but those that it is given", async () => {
    process.env.FAKE_PROVIDER_KEY = "secret";
    onTestFinished(() => {
      delete process.env.FAKE_PROVIDER_KEY;
    });
    const source = await ready(program("none", { env: { OWN: "@env:MCP_TOKEN", PLAIN: "1" } }));
    const seen = JSON.parse((await callOf(source, "env")).output as string);
    expect(seen).toMatchObject({ OWN: KEY, PLAIN: "1" });
    expect(seen).not.toHaveProperty("FAKE_PROVIDER_KEY");
  });

  it("goes on when the server prints lines that are no JSON", async () => {
    const source = await ready(program("garbage_lines"));
    expect(await callOf(source, "echo", { text: "a" })).toMatchObject({ output: "echo: a" });
  });

  it("of a server that ends is a result, and the next call starts it again, a few times", async () => {
    const source = await ready(program("dies_in_call"));
    const outputs = [];
    for (let n = 0; n < 5; n += 1) outputs.push(await callOf(source, "echo", { text: "a" }));
    const ended = {
      output: "The MCP server fake ended during the call, which may have had its effect.",
      is_error: true,
      code: "SKILL_DOWN",
    };
    expect(outputs).toEqual([
      ...Array(4).fill(ended),
      { output: "The MCP server fake has ended 4 times.", is_error: true, code: "SKILL_DOWN" },
    ]);
  });

  it.each(["hangs_in_call", "bad_answer"])(
    "of a server that gives no answer ends in time: %s",
    async (sin) => {
      const source = await ready(program(sin));
      expect(await callOf(source, "echo", { text: "a" })).toEqual({
        output: "The MCP server fake gave no valid answer in time. The call may have had its effect.",
        is_error: true,
        code: "SKILL_FAILED",
      });
    },
  );

  it("of a server that floods ends the server", async () => {
    const source = await ready(program("floods_in_call"));
    expect(await callOf(source, "echo", { text: "a" })).toMatchObject({ is_error: true });
  });

  it("ends soon after it is aborted", async () => {
    const source = await ready(program("hangs_in_call"));
    const abort = new AbortController();
    const running = callOf(source, "echo", { text: "a" }, abort.signal);
    abort.abort(new Error("called off"));
    await expect(running).rejects.toThrow("called off");
  });
});

describe("a list", () => {
  it.each([
    ["silent", "UNAVAILABLE", "The MCP server fake did not come up."],
    ["dies_at_once", "UNAVAILABLE", "The MCP server fake did not come up."],
    ["bad_list", "UNAVAILABLE", "The MCP server fake did not list its tools."],
    [
      "many_tools",
      "OUTPUT_TOO_LARGE",
      "The MCP server fake lists more than 256 tools, or more than 16 pages of them.",
    ],
    [
      "endless_pages",
      "OUTPUT_TOO_LARGE",
      "The MCP server fake lists more than 256 tools, or more than 16 pages of them.",
    ],
  ])("of a bad server fails with a reason: %s", async (sin, code, message) => {
    const secrets = secretsOf({});
    const bounds = { connect_ms: sin === "silent" ? 200 : 5_000, call_ms: 1_000 };
    const source = mcpTools({ name: "fake", server: program(sin), cwd: "/", secrets, bounds });
    onTestFinished(() => source.close());
    await expect(source.list()).rejects.toMatchObject({ code, message });
  });

  it("leaves out a tool whose schema is too large", async () => {
    const tools = await sourceOf(program("huge_schema")).list();
    expect(tools.map(({ name }) => name)).toEqual(["mcp__fake__echo"]);
  });

  it("cuts long words, and keeps a name that every provider takes", async () => {
    const [tool] = await sourceOf(program("long_words")).list();
    expect(tool?.name).toMatch(/^[A-Za-z0-9_-]{64}$/);
    expect(Buffer.byteLength(tool!.description)).toBeLessThanOrEqual(4_096);
  });

  it("has each name once", async () => {
    const tools = await sourceOf(program("same_name_twice")).list();
    expect(tools.map(({ description }) => description)).toEqual(["Says the text again."]);
  });

  it("needs the secrets of the server", async () => {
    const source = sourceOf(program("none", { env: { KEY: "@env:NOT_THERE" } }));
    await expect(source.list()).rejects.toMatchObject({
      code: "SECRET_UNAVAILABLE",
      message: "There is no key for the MCP server fake: the variable NOT_THERE has none.",
    });
  });
});

it("speaks to a server by HTTP, with its token", async () => {
  const tokens = new Set<string | undefined>();
  const server = createServer((request, response) => {
    tokens.add(request.headers.authorization);
    if (request.method !== "POST") return void response.writeHead(405).end();
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const { id, method, params } = JSON.parse(text);
      if (id === undefined) return void response.writeHead(202).end();
      const result =
        method === "initialize"
          ? {
              protocolVersion: params.protocolVersion,
              capabilities: { tools: {} },
              serverInfo: { name: "fake", version: "1" },
            }
          : method === "tools/list"
            ? { tools: [{ name: "add", inputSchema: { type: "object" } }] }
            : { content: [{ type: "text", text: String(params.arguments.a + 1) }] };
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  const { url, close } = await listenOnLoopback(server);
  onTestFinished(close);
  const source = sourceOf({ url: `${url}/mcp`, token: "@env:MCP_TOKEN", trusted: false });
  expect((await source.list()).map(({ name }) => name)).toEqual(["mcp__fake__add"]);
  expect(await callOf(source, "add", { a: 1 })).toEqual({ output: "2", is_error: false });
  expect([...tokens]).toEqual([`Bearer ${KEY}`]);
});
