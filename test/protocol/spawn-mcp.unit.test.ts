import { describe, expect, it } from "vitest";
import { MCP_SERVERS_OF_AGENT_MAX, MCP_SPAWN_MAX_BYTES } from "../../src/base/limits.ts";
import { mcpVariables, secretIn } from "../../src/protocol/mcp-references.ts";
import { WorkerMcp } from "../../src/protocol/spawn-mcp.ts";

const mistakeIn = (given: unknown): string | undefined => {
  const issue = WorkerMcp.safeParse(given).error?.issues[0];
  return issue && `${issue.path.join(".")} ${issue.message}`.trim();
};

describe("the servers of a worker", () => {
  it("are programs and addresses, in the form that CLIs share", () => {
    expect(
      WorkerMcp.parse({
        github: { type: "stdio", command: "npx", args: ["server"], env: { TOKEN: "@env:T" } },
        plain: { command: "./serve" },
        web: {
          type: "http",
          url: "https://mcp.example.com/mcp",
          headers: { Authorization: "Bearer @env:T" },
        },
      }),
    ).toMatchObject({ plain: { command: "./serve", args: [], env: {} }, web: { url: expect.any(String) } });
  });

  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`s${n}`, { command: "x" }]));
  it.each([
    ["neither form", { a: {} }, "a a server is a command (with args and env), or a url (with headers)"],
    [
      "both forms",
      { a: { command: "x", url: "http://h/" } },
      "a a server is a command (with args and env), or a url (with headers)",
    ],
    ["a member that no form has", { a: { command: "x", disabled: true } }, 'a Unrecognized key: "disabled"'],
    [
      "the old transport",
      { a: { type: "sse", url: "http://h/" } },
      "a type is http: the older sse is not supported",
    ],
    [
      "a user in the address",
      { a: { url: "http://u:p@h/" } },
      "a.url it is no http or https URL without a user and a password",
    ],
    [
      "a variable in the address",
      { a: { url: "http://h/${X}" } },
      "a.url has a $ or a brace: write it as %24, %7B or %7D",
    ],
    [
      "a secret itself",
      { a: { url: "http://h/", headers: { Authorization: "Bearer abc" } } },
      "a.headers Authorization holds a secret: write where it is, as in Bearer @env:NAME or @file:/PATH",
    ],
    [
      "a line end in a header",
      { a: { url: "http://h/", headers: { X: "a\r\nb" } } },
      "a.headers.X has a character that no header can have",
    ],
    ["a NUL", { a: { command: "x", args: ["\0"] } }, "a.args.0 has a NUL character"],
    ["a name that is a path", { "../a": { command: "x" } }, "../a Invalid key in record"],
    ["too many", many(MCP_SERVERS_OF_AGENT_MAX + 1), `there are at most ${MCP_SERVERS_OF_AGENT_MAX} servers`],
    [
      "too long",
      { a: { command: "x".repeat(MCP_SPAWN_MAX_BYTES) } },
      `the servers are over ${MCP_SPAWN_MAX_BYTES} bytes`,
    ],
  ])("%s is refused in one sentence", (_what, given, sentence) => {
    expect(mistakeIn(given)).toBe(sentence);
  });

  it("may be as many as there may be", () => {
    expect(mistakeIn(many(MCP_SERVERS_OF_AGENT_MAX))).toBeUndefined();
  });
});

describe("a reference", () => {
  it.each([
    ["@env:TOKEN", { before: "", reference: "@env:TOKEN" }],
    ["Bearer @file:/run/token", { before: "Bearer ", reference: "@file:/run/token" }],
    ["mail me @env:TOKEN", undefined],
    ["plain", undefined],
  ])("%s", (value, held) => {
    expect(secretIn(value)).toEqual(held);
  });

  it("names the client's variables, also in servers that nobody has checked", () => {
    const servers = {
      a: { env: { A: "@env:ONE", B: "@file:x", C: 7 } },
      b: { headers: { H: "Bearer @env:TWO" } },
    };
    expect(mcpVariables({ ...servers, c: null })).toEqual(["ONE", "TWO"]);
    expect(mcpVariables("no servers")).toEqual([]);
    expect(mcpVariables(undefined)).toEqual([]);
  });
});
