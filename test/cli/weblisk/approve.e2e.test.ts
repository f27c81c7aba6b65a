/** A real agent that asks before it opens a door, an approval that comes over HTTP, and an event, all through a real daemon. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newId, RemoteAgent } from "../../weblisk/support/agent.ts";
import { type Commands, makeCommands, type Running, until } from "../support/commands.ts";

const AGENT = join(import.meta.dirname, "../../fixtures/agents/converses.mjs");

let commands: Commands;
let server: Running;
let base: string;
let ledger: string;

beforeAll(async () => {
  commands = makeCommands();
  ledger = join(commands.home, "ledger");
  const env = [`CLAUDE_BINARY=${AGENT}`, `LEDGER=${ledger}`].flatMap((set) => ["--env", set]);
  const flags = ["--listen", "0", "--root", commands.home, "--permission", "ask", ...env];
  server = commands.start(["weblisk", "serve", "fixer=claude", ...flags]);
  await until(() => {
    if (server.child.exitCode !== null) throw new Error(server.err());
    return server.out().includes("\n");
  });
  base = server.out().trim();
});
afterAll(async () => {
  server.child.kill("SIGKILL");
  await server.ended;
  await commands.close();
});

const granted = async (name: string, ...rights: readonly string[]): Promise<RemoteAgent> => {
  const agent = new RemoteAgent(base, name);
  const register = () =>
    agent.register(
      agent.registration(agent.onceOnly({ capabilities: rights.map((right) => ({ name: right })) })),
    );
  await register();
  expect((await commands.agent("weblisk", "grant", name, ...rights)).exit).toBe(0);
  await register();
  return agent;
};

it("a task waits for its approval, which one with the right gives over HTTP, and ends", async () => {
  const sender = await granted("sender", "file:read", "file:write", "llm:chat");
  const desk = await granted("desk", "approval:answer");
  const task = { id: newId(), inputs: { prompt: "permit" } };
  const pending = await sender.execute("fixer", task);
  expect(pending).toMatchObject({
    status: 200,
    body: { status: "pending_approval", recommendations: [{ target: "Door", reason: "opens a door" }] },
  });
  const { body } = await desk.send("GET", "/v1/approve");
  expect(body).toEqual({ recommendations: pending.body.recommendations });
  const [{ id }] = body.recommendations as [{ id: string }];
  const decision = { recommendation_ids: [id], decision: "accept", reason: "it is ours" };
  expect((await desk.send("POST", "/v1/approve", decision)).body).toMatchObject({ updated: 1 });
  expect(await sender.execute("fixer", task)).toMatchObject({
    status: 200,
    body: { status: "success", output: { text: "the door: allow" } },
  });
  expect(readFileSync(ledger, "utf8")).toContain("door 1 allow");
  const { data } = await commands.agent("approvals", "--all");
  expect(data).toMatchObject([{ state: "allowed", message: "it is ours (desk, over Weblisk)" }]);
  expect(
    (await desk.send("POST", "/v1/approve", { ...decision, recommendation_ids: [newId()] })).body,
  ).toMatchObject({
    updated: 0,
    results: [{ previous_status: "unknown" }],
  });
});

it("an event is in the operator's mailbox, and the trail is read", async () => {
  const clerk = await granted("clerk", "realtime:publish", "audit:read");
  const event = {
    event_id: newId(),
    topic: "shop.order.placed",
    source: "clerk",
    timestamp: Math.floor(Date.now() / 1_000),
    payload: { order: 7 },
  };
  for (const _ of [1, 2]) expect((await clerk.send("POST", "/v1/event", event)).status).toBe(200);
  const { data } = await commands.agent("mailbox", "poll", "--limit", "2");
  expect(data).toMatchObject({ messages: [{ type: "event", payload: event }] });
  expect((await clerk.send("GET", "/v1/audit")).body).toEqual({ entries: [] });
});
