/** `agent mcp serve` as a client of the official library meets it, in both revisions of the protocol, and from inside a run. */
import { rmSync, writeFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { MCP_SERVED_MAX_BYTES } from "../../../src/base/limits.ts";
import { SERVED } from "../../../src/cli/mcp/served.ts";
import { AGENT, CACHE } from "../../support/built.ts";
import { makeRepository } from "../../support/repository.ts";
import { type Commands, makeCommands, until } from "../support/commands.ts";

type Answer = Readonly<Record<string, unknown>> & { readonly id: string; readonly isError: boolean };

let commands: Commands;
beforeAll(() => {
  commands = makeCommands();
});
afterAll(() => commands.close());

const connected = async (mode: "legacy" | "auto", ...flags: string[]) => {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [AGENT, "mcp", "serve", ...flags],
    env: { PATH: process.env.PATH!, ...CACHE, HOLDFAST_HOME: commands.home },
  });
  await client.connect(transport);
  // From now on the client holds each answer against its schema.
  await client.listTools();
  onTestFinished(() => client.close());
  const call = async (name: string, args: object): Promise<Answer> => {
    const {
      isError = false,
      content,
      structuredContent,
    } = await client.callTool({
      name,
      arguments: args as Record<string, unknown>,
    });
    const [first] = content as readonly { readonly text: string }[];
    const told = structuredContent ?? JSON.parse(first!.text);
    expect(JSON.parse(first!.text)).toEqual(told);
    return { isError, ...(told as object) } as Answer;
  };
  return { client, call };
};

describe.each([
  ["legacy", "2025-11-25"],
  ["auto", "2026-07-28"],
] as const)("%s", (mode, revision) => {
  it(`in revision ${revision}, it starts a worker, waits for it, and tells what it said and did`, async () => {
    const { client, call } = await connected(mode, "--wait-max", "1s");
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    const argv = ["sh", "-c", "echo first; while ! [ -e go ]; do sleep 0.05; done; echo last"];
    const { path, root } = makeRepository({ "a.txt": "one\n" });
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const asked = { kind: "command", name: `waits-${mode}`, cwd: path, argv, idempotency_key: mode };
    const spawned = await call("spawn", asked);
    expect(spawned).toMatchObject({
      isError: false,
      effect: "created",
      cursor: expect.stringMatching(/:\d+$/),
    });
    expect(await call("spawn", asked)).toMatchObject({ id: spawned.id, effect: "noop" });

    expect(await call("wait", { ids: [spawned.id] })).toMatchObject({ status: "pending" });
    expect(await call("events", { ids: [spawned.id], from: spawned.cursor })).toMatchObject({ more: false });
    writeFileSync(`${path}/go`, "");
    await until(async () => (await call("wait", { ids: [spawned.id] })).status === "ended");
    expect(await call("wait", { ids: [spawned.id] })).toMatchObject({
      results: [{ id: spawned.id, status: "completed", exit_code: 0 }],
    });
    expect(await call("output", { id: spawned.id })).toMatchObject({ text: "first\nlast\n" });

    const ofIt = { ids: [spawned.id] };
    const { records, cursor } = await call("events", { ...ofIt, from: spawned.cursor, limit: 2 });
    const rest = await call("events", { ...ofIt, from: cursor });
    const types = [...(records as { type: string }[]), ...(rest.records as { type: string }[])].map(
      ({ type }) => type,
    );
    expect([types[0], types.at(-1)]).toEqual(["worker_spawn_requested", "worker_ended"]);
    expect(await call("events", { ...ofIt, from: rest.cursor })).toMatchObject({ records: [], more: false });

    const { resources } = await client.listResources();
    expect(resources[0]).toMatchObject({ uri: "holdfast://tree" });
    const read = await client.readResource({ uri: `holdfast://worker/${spawned.id}/output` });
    expect(read.contents).toMatchObject([{ text: "first\nlast\n" }]);
    await expect(client.readResource({ uri: "holdfast://worker/nobody" })).rejects.toThrow("No worker has");
  });
});

it("each tool has schemas and hints, in the order of the table, and none approves", async () => {
  const { client } = await connected("auto");
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(Object.keys(SERVED));
  for (const { name, inputSchema, outputSchema, annotations, description } of tools) {
    expect({ name, in: inputSchema.type, out: outputSchema?.type }).toEqual({
      name,
      in: "object",
      out: "object",
    });
    expect(description).toMatch(/\.$/);
    const isKeyed = "idempotency_key" in (inputSchema.properties ?? {});
    expect({ name, isSafe: annotations?.readOnlyHint || isKeyed }).toEqual({ name, isSafe: true });
  }
  expect(tools.filter(({ annotations }) => annotations?.destructiveHint).map(({ name }) => name)).toEqual([
    "kill",
  ]);
});

it("an answer is bounded, an unknown tool and a mistake are told", async () => {
  const { client, call } = await connected("auto");
  const long = await call("spawn", {
    kind: "command",
    argv: ["sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x"],
  });
  await until(async () => (await call("wait", { ids: [long.id] })).status === "ended");
  for (const [name, args] of [
    ["output", { id: long.id, max_bytes: 1_000_000 }],
    ["events", { ids: [long.id], from: 0 }],
    ["info", { id: long.id }],
  ] as const) {
    const answer = await call(name, args);
    expect({ name, isError: answer.isError }).toEqual({ name, isError: false });
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(MCP_SERVED_MAX_BYTES);
  }
  expect(await call("spawn", { kind: "command", argv: [] })).toMatchObject({
    isError: true,
    code: "INVALID_REQUEST",
  });
  expect(await call("wait", { ids: "x".repeat(5) })).toMatchObject({
    isError: true,
    code: "WORKER_NOT_FOUND",
  });
  await expect(client.callTool({ name: "approve", arguments: {} })).rejects.toThrow("no tool approve");
});

it("a question reaches the person, and the reply comes back to the call that waits", async () => {
  const { call } = await connected("auto", "--wait-max", "1s");
  const asked = await call("ask_operator", { question: "Which branch?" });
  expect(asked).toMatchObject({ status: "pending", message_id: expect.any(String) });
  await commands.agent("mailbox", "reply", String(asked.message_id), "main");
  expect(await call("ask_operator", { message_id: asked.message_id })).toMatchObject({
    status: "answered",
    answer: "main",
  });
});

it("a call outlasts a daemon that is killed", async () => {
  const { call } = await connected("auto");
  const { id } = await call("spawn", { kind: "command", argv: ["sleep", "1000"] });
  const waiting = call("wait", { ids: [id] });
  await commands.killDaemon();
  expect(await call("info", { id })).toMatchObject({ isError: false, status: "running" });
  expect(await call("kill", { ids: [id] })).toMatchObject({ results: [{ ok: true }] });
  expect(await waiting).toMatchObject({ status: "ended", results: [{ status: "cancelled" }] });
});

describe("inside a run", () => {
  const fixture = new URL("../../fixtures/mcp/calls.mjs", import.meta.url).pathname;
  /** A worker that makes these calls by a server of its own; its answers, once it has made them all. */
  const inside = async (
    name: string,
    calls: readonly (readonly [string, object])[],
  ): Promise<readonly Answer[]> => {
    const argv = ["--", process.execPath, fixture, AGENT, JSON.stringify(calls), "stay"];
    await commands.agent("spawn", "--name", name, ...argv);
    const lines = async () =>
      (await commands.text("output", name)).stdout.split("\n").filter((line) => line !== "");
    await until(async () => (await lines()).length >= calls.length);
    return (await lines()).map((line) => JSON.parse(line));
  };
  const child = { kind: "command", argv: ["sleep", "1000"], idempotency_key: "same" };

  it("a worker sees itself and what it spawned; another subtree is as unknown as a worker that never was", async () => {
    const [first] = await inside("one", [["spawn", { ...child, name: "child-of-one" }]]);
    const other = String(first!.id);
    const unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    const looks = (id: string) =>
      [
        ["info", { id }],
        ["why", { id }],
        ["output", { id }],
        ["wait", { ids: [id] }],
        ["events", { ids: [id] }],
        ["usage", { ids: [id] }],
        ["kill", { ids: [id] }],
        ["pause", { ids: [id] }],
      ] as const;
    const answers = await inside("two", [
      ["spawn", { ...child, name: "child-of-two" }],
      ["list", {}],
      ["tree", {}],
      ["approvals", { all: true }],
      ["info", { id: "child-of-two" }],
      ...looks(other),
      ...looks(unknown),
      ["info", { id: "child-of-one" }],
      ["events", {}],
    ]);
    const [spawned, list, tree, approvals, own] = answers;
    expect(spawned).toMatchObject({ effect: "created" });
    expect(spawned!.id).not.toBe(other);
    expect(list).toMatchObject({ total: 1, workers: [{ id: spawned!.id }] });
    expect(tree).toMatchObject({ root: { name: "two", children: [{ id: spawned!.id }] } });
    expect(approvals).toMatchObject({ approvals: [] });
    expect(own).toMatchObject({ id: spawned!.id, isError: false });
    const count = looks(other).length;
    const refused = answers.slice(5, 5 + count);
    const never = answers.slice(5 + count, 5 + 2 * count);
    for (const each of refused) expect(each).toMatchObject({ isError: true, code: "WORKER_NOT_FOUND" });
    const alike = (each: Answer, id: string) => JSON.stringify(each).replaceAll(id, "ID");
    expect(refused.map((each) => alike(each, other))).toEqual(never.map((each) => alike(each, unknown)));
    expect(answers.at(-2)).toMatchObject({ isError: true, code: "WORKER_NOT_FOUND" });
    const told = (answers.at(-1)!.records as { worker_id: string }[]).map(({ worker_id }) => worker_id);
    const self = (await commands.agent("info", "two")).data.id;
    expect(new Set(told)).toEqual(new Set([self, spawned!.id]));
    expect((await commands.agent("info", "child-of-one")).data).toMatchObject({ status: "running" });
  });
});
