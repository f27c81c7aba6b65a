import { expect, test } from "vitest";
import { editorServers, unknownServers } from "../../../src/cli/acp/servers.ts";

const program = (name: string) => ({ name, command: "serve", args: [], env: [] });

test("each value of a program is a reference, also one that looks like a reference", () => {
  const env = [
    { name: "TOKEN", value: "secret" },
    { name: "FILE", value: "@file:/etc/passwd" },
  ];
  expect(editorServers([{ ...program("tickets"), args: ["-y"], env }])).toEqual({
    mcp: {
      tickets: {
        command: "serve",
        args: ["-y"],
        env: { TOKEN: "@env:HOLDFAST_EDITOR_MCP_0", FILE: "@env:HOLDFAST_EDITOR_MCP_1" },
      },
    },
    variables: { HOLDFAST_EDITOR_MCP_0: "secret", HOLDFAST_EDITOR_MCP_1: "@file:/etc/passwd" },
  });
});

test("headers are plain but for secrets, and for those that look like a reference", () => {
  const headers = [
    { name: "Accept", value: "text/html" },
    { name: "Authorization", value: "Bearer secret" },
    { name: "X-Path", value: "@file:/etc/passwd" },
  ];
  const { mcp, variables } = editorServers([
    { type: "http", name: "docs", url: "https://a.example", headers },
  ]);
  expect(mcp.docs).toEqual({
    url: "https://a.example",
    headers: {
      Accept: "text/html",
      Authorization: "@env:HOLDFAST_EDITOR_MCP_0",
      "X-Path": "@env:HOLDFAST_EDITOR_MCP_1",
    },
  });
  expect(Object.values(variables)).toEqual(["Bearer secret", "@file:/etc/passwd"]);
});

test.each([
  [
    ["My tickets", "My/tickets"],
    ["My-tickets", "My-tickets-2"],
  ],
  [["täglich"], ["t-glich"]],
  [
    ["日本", "__proto__"],
    ["server", "proto__"],
  ],
  [["a".repeat(40)], ["a".repeat(29)]],
])("the names %j become %j", (given, names) => {
  expect(Object.keys(editorServers(given.map(program)).mcp)).toEqual(names);
});

test("a session knows a server by its name or its place, whatever its variables are now", () => {
  const kept = editorServers([program("tickets")]).mcp;
  const env = [{ name: "TOKEN", value: "another" }];
  expect(unknownServers([{ ...program("tickets"), args: ["-y"], env }], kept)).toEqual([]);
  expect(unknownServers([program("renamed")], kept)).toEqual([]);
  expect(unknownServers([{ ...program("more"), args: ["--more"] }], kept)).toEqual(["more"]);
  expect(unknownServers([program("tickets")], undefined)).toEqual(["tickets"]);
  expect(unknownServers([], undefined)).toEqual([]);
});
