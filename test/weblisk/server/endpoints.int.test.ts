/** Approvals, events, the change of a key, and the trail: the endpoints beside tasks, as agents elsewhere use them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { WEBLISK_DECISIONS_MAX, WEBLISK_EVENT_MAX_BYTES } from "../../../src/base/limits.ts";
import { ALGORITHMS, newKey, verifierOf } from "../../../src/weblisk/identity/algorithms.ts";
import { type KeyRotation, rotationOf } from "../../../src/weblisk/identity/rotation.ts";
import { digestOf } from "../../../src/weblisk/server/results.ts";
import { profileOfSignature } from "../../../src/weblisk/signing/operations.ts";
import { AuditEntry } from "../../../src/weblisk/types/talk.ts";
import { ApprovalResponse, TaskResult } from "../../../src/weblisk/types/tasks.ts";
import { readBody } from "../../../src/weblisk/wire/body.ts";
import { newId, RemoteAgent, send } from "../support/agent.ts";
import { makeServed, type Served } from "../support/served.ts";

let served: Served;
beforeAll(async () => {
  served = await makeServed();
});
afterAll(() => served.close());
// A window of requests is over.
beforeEach(() => served.pass(61));

/** A registered agent with these rights. */
const holder = async (name: string, ...rights: readonly string[]): Promise<RemoteAgent> => {
  const agent = new RemoteAgent(served.base, name, { clock: served.seconds });
  const capabilities = rights.map((right) => ({ name: right }));
  const register = () => agent.register(agent.registration(agent.onceOnly({ capabilities })));
  await register();
  if (rights.length > 0) {
    served.grant(name, ...rights);
    await register();
  }
  return agent;
};

/** Its id. */
const begun = async (sender: RemoteAgent, prompt: string): Promise<string> => {
  const id = newId();
  const reply = await sender.execute("echo", { id, inputs: { prompt } }, { prefer: "respond-async" });
  expect(reply.status).toBe(202);
  return id;
};

describe("approvals", () => {
  let sender: RemoteAgent;
  let desk: RemoteAgent;
  beforeAll(async () => {
    sender = await holder("sender", "llm:chat");
    desk = await holder("desk", "approval:answer");
  });

  const decide = (agent: RemoteAgent, ids: readonly unknown[], decision: string, reason?: string) =>
    agent.send("POST", "/v1/approve", { recommendation_ids: ids, decision, reason });

  it("L3-05 a task waits for one, says so with a signed result, and goes on after it", async () => {
    const id = newId();
    const task = { id, inputs: { prompt: "ask me" } };
    const reply = await sender.execute("echo", task);
    expect(reply.status).toBe(200);
    const { recommendations, ...pending } = TaskResult.parse(reply.body);
    expect(pending).toMatchObject({ task_id: id, status: "pending_approval", agent_name: "echo" });
    expect(recommendations).toEqual([
      expect.objectContaining({
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        agent_name: "echo",
        target: "Bash",
        proposed: '{"command":"ls"}',
        reason: "runs a command",
        status: "pending",
      }),
    ]);
    const { body } = await send(served.base, "POST", "/agents/echo/v1/describe", {});
    const verifier = verifierOf({ algorithm: "Ed25519", publicKey: String(body.public_key) })!;
    expect(
      profileOfSignature(verifier, "result", readBody(Buffer.from(reply.text)), reply.body.signature),
    ).toBe("literal");
    expect((await sender.send("GET", `/v1/task/${id}`)).body.status).toBe("pending_approval");

    const asked = recommendations[0]!.id;
    const decided = await decide(desk, [asked, asked], "accept");
    expect(ApprovalResponse.parse(decided.body)).toEqual({
      updated: 1,
      results: [
        { recommendation_id: asked, previous_status: "pending", new_status: "accepted" },
        { recommendation_id: asked, previous_status: "accepted", new_status: "accepted" },
      ],
    });
    expect(await sender.execute("echo", task)).toMatchObject({
      status: 200,
      body: { status: "success", output: { text: "allowed" }, recommendations: [] },
    });
  });

  it("a rejection needs a reason, and what is decided stays", async () => {
    const id = await begun(sender, "ask");
    const { body } = await sender.send("GET", `/v1/task/${id}`);
    const [{ id: asked }] = body.recommendations as [{ id: string }];
    expect(await decide(desk, [asked], "reject", " ")).toMatchObject({
      status: 400,
      body: { detail: { reason: "reason_missing" } },
    });
    expect((await decide(desk, [asked], "reject", "closed")).body.updated).toBe(1);
    expect((await decide(desk, [asked, newId(), "x"], "accept")).body).toEqual({
      updated: 0,
      results: [
        expect.objectContaining({
          previous_status: "rejected",
          new_status: "rejected",
          error: expect.any(String),
        }),
        expect.objectContaining({
          previous_status: "unknown",
          error: expect.stringContaining("GET /v1/approve"),
        }),
        expect.objectContaining({ recommendation_id: "x", previous_status: "unknown" }),
      ],
    });
    expect((await sender.send("GET", `/v1/task/${id}`)).body).toMatchObject({ output: { text: "denied" } });
  });

  it("nobody decides without the right, and each sees its own, or all with the right", async () => {
    const other = await holder("other", "llm:chat");
    await begun(sender, "ask one");
    await begun(other, "ask two");
    const open = async (agent: RemoteAgent) =>
      ((await agent.send("GET", "/v1/approve")).body.recommendations as readonly { id: string }[]).map(
        ({ id }) => id,
      );
    const own = await open(sender);
    expect(own).toHaveLength(1);
    expect(await open(desk)).toEqual([...own, ...(await open(other))]);
    expect(await decide(sender, own, "accept")).toMatchObject({
      status: 403,
      body: { code: "FORBIDDEN", detail: { missing: ["approval:answer"] } },
    });
    expect((await send(served.base, "GET", "/v1/approve")).status).toBe(401);
    const first = await desk.send("GET", "/v1/approve");
    expect(first.headers.get("x-ratelimit-limit")).toBe(String(WEBLISK_DECISIONS_MAX));
  });
});

describe("events", () => {
  let publisher: RemoteAgent;
  beforeAll(async () => {
    publisher = await holder("publisher", "realtime:publish", "llm:chat");
  });
  const event = (more: object = {}) => ({
    event_id: newId(),
    topic: "shop.order.placed",
    source: "publisher",
    timestamp: served.seconds(),
    payload: { order: 7, unknown: { deep: [1] } },
    more: "kept",
    ...more,
  });

  it("one for the orchestrator is in the operator's mailbox once, with what nobody knows of it, and no token", async () => {
    const kept = event();
    const sent = { ...kept, token: publisher.token };
    for (const _ of [1, 2])
      expect((await publisher.send("POST", "/v1/event", sent)).body).toEqual({
        status: "accepted",
        event_id: sent.event_id,
      });
    expect(served.posts.filter(({ event: got }) => JSON.stringify(got).includes(sent.event_id))).toEqual([
      { to: undefined, event: kept },
    ]);
  });

  it("one for an agent reaches the sender's own tasks there; without one it is answered and goes nowhere", async () => {
    const before = await publisher.send("POST", "/agents/echo/v1/event", event());
    expect(before).toMatchObject({ status: 200, body: { status: "ignored" } });
    await begun(publisher, "wait");
    const other = await holder("waiting", "llm:chat");
    await begun(other, "wait");
    const sent = event();
    expect((await publisher.send("POST", "/agents/echo/v1/event", sent)).body.status).toBe("accepted");
    const got = served.posts.filter(({ event: one }) => JSON.stringify(one).includes(sent.event_id));
    expect(got.map(({ to }) => served.orders[Number(to)]?.labels.weblisk_from)).toEqual(["publisher"]);
    expect((await publisher.send("POST", "/agents/nobody/v1/event", event())).status).toBe(404);
  });

  it.each([
    ["a malformed id", { event_id: "7" }, 400, "EVENT_REJECTED", "id_malformed"],
    ["a topic of one word", { topic: "order" }, 400, "EVENT_REJECTED", "topic_malformed"],
    ["the server's namespace", { topic: "system.agent.registered" }, 400, "EVENT_REJECTED", "topic_reserved"],
    [
      "too much",
      { payload: { x: "x".repeat(WEBLISK_EVENT_MAX_BYTES) } },
      400,
      "EVENT_REJECTED",
      "event_too_large",
    ],
    ["another's name", { source: "somebody" }, 403, "FORBIDDEN", "another_name"],
  ])("one with %s is refused", async (_what, more, status, code, reason) => {
    expect(await publisher.send("POST", "/v1/event", event(more))).toMatchObject({
      status,
      body: { code, detail: { reason } },
    });
  });

  it("nobody publishes without the right", async () => {
    const mute = await holder("mute");
    expect(await mute.send("POST", "/v1/event", event({ source: "mute" }))).toMatchObject({
      status: 403,
      body: { detail: { missing: ["realtime:publish"] } },
    });
  });
});

describe("the change of a key", () => {
  const rotation = (agent: RemoteAgent, more: Partial<KeyRotation> = {}) => {
    const after = newKey(ALGORITHMS.Ed25519);
    const stamp = { timestamp: served.seconds(), nonce: newId(), ...more };
    return { after, body: { ...rotationOf(agent.name, agent.key, after, stamp), ...more } };
  };
  const rotate = (agent: RemoteAgent, body: object) => agent.send("POST", "/v1/rotate-key", body);

  it("gives the name and its rights to the new key; the old key, its token and its channels are gone", async () => {
    const agent = await holder("turning", "llm:chat", "agent:message");
    const { token: channel } = (
      await agent.send("POST", "/v1/channel", { from_agent: "turning", to_agent: "echo", purpose: "talk" })
    ).body;
    const old = Object.assign(new RemoteAgent(served.base, "turning", { clock: served.seconds }), {
      key: agent.key,
      token: agent.token,
    });
    const before = await agent.register(
      agent.registration(
        agent.onceOnly({ capabilities: ["llm:chat", "agent:message"].map((name) => ({ name })) }),
      ),
    );
    old.token = agent.token;
    served.pass(1);
    const { after, body } = rotation(agent);
    const reply = await rotate(agent, { ...body, token: agent.token });
    expect(reply).toMatchObject({ status: 200, body: { agent_id: before.body.agent_id } });
    agent.token = String(reply.body.token);
    agent.key = after;
    expect((await agent.execute("echo", { inputs: { prompt: "hi" } })).status).toBe(200);
    expect((await agent.register()).status).toBe(200);
    expect((await agent.execute("echo", { inputs: { prompt: "hi" } })).status).toBe(200);
    expect((await old.send("GET", "/v1/services")).status).toBe(401);
    expect((await old.register()).status).toBe(409);
    const said = await send(
      served.base,
      "POST",
      "/agents/echo/v1/message",
      {},
      { authorization: `Bearer ${channel}` },
    );
    expect(said).toMatchObject({ status: 401, body: { detail: { reason: "channel_closed" } } });
  });

  it.each([
    ["signed by another key than the one that has the name", "current_signature", 401],
    ["that the new key has not signed", "new_signature", 400],
  ] as const)("one %s is refused", async (_what, reason, status) => {
    const agent = await holder(`unsigned-${status}`);
    const { body } = rotation(agent);
    const forged = { ...body, [reason]: rotation(agent).body[reason] };
    expect(await rotate(agent, forged)).toMatchObject({ status, body: { detail: { reason } } });
    expect((await agent.send("GET", "/v1/services")).status).toBe(200);
  });

  it.each([
    [300, 200],
    [301, 401],
    [-300, 200],
    [-301, 401],
  ])("%i seconds from now: %i", async (offset, status) => {
    const agent = await holder(`late-${offset + 400}`);
    const reply = await rotate(agent, rotation(agent, { timestamp: served.seconds() + offset }).body);
    expect(reply.status).toBe(status);
  });

  it("one that was recorded is of no use, and none is for another name", async () => {
    const agent = await holder("recorded");
    const { body } = rotation(agent);
    const other = await holder("stranger");
    expect((await rotate(other, body)).status).toBe(403);
    agent.token = String((await rotate(agent, body)).body.token);
    expect((await rotate(agent, body)).status).toBe(401);
    expect((await send(served.base, "POST", "/v1/rotate-key", body)).status).toBe(401);
  });
});

describe("the trail", () => {
  it("is read by pages and chosen by its members, with the right to", async () => {
    const reader = await holder("auditor", "audit:read");
    const read = async (query: string) => (await reader.send("GET", `/v1/audit${query}`)).body;
    const all = (await read("")) as { entries: object[] };
    expect(all).toEqual({ entries: all.entries.map((entry) => AuditEntry.parse(entry)) });
    expect(all.entries).toHaveLength(3);
    const first = await read("?limit=2");
    expect(first).toEqual({ entries: all.entries.slice(0, 2), next_cursor: "2" });
    expect(await read(`?cursor=${first.next_cursor}`)).toEqual({ entries: all.entries.slice(2) });
    expect(await read("?action=admit")).toEqual({ entries: [all.entries[1]] });
    expect(await read("?since=102&actor=hub")).toEqual({ entries: [all.entries[2]] });
    expect((await reader.send("GET", "/v1/audit?since=soon")).status).toBe(400);
    const curious = await holder("curious");
    expect((await curious.send("GET", "/v1/audit")).status).toBe(403);
  });
});

it("a result lists what was changed and what was counted, and its signature covers both", async () => {
  const sender = await holder("counter", "llm:chat");
  const { body } = await sender.execute("echo", { inputs: { prompt: "edit" } });
  const { changes, observations, output, task_id } = TaskResult.parse(body);
  expect(changes).toEqual([{ path: "a.txt", action: "modify" }]);
  expect(observations).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      agent_name: "echo",
      target: output.worker_id,
      timestamp: output.finished_at,
      measurements: { attempts: 1, tool_calls: 2 },
    },
  ]);
  expect(output.digests).toMatchObject({
    changes: digestOf(changes),
    observations: digestOf(observations),
  });
  expect((await sender.send("GET", `/v1/task/${task_id}`)).body).toEqual(body);
});

it.each(["/v1/strategy", "/v1/context", "/v1/observations"])(
  "%s, of which this server has nothing, says so to an agent, and nothing to others",
  async (path) => {
    const agent = await holder(`asks-for-${path.slice(4)}`);
    expect(await agent.send("GET", path)).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND", detail: { reason: "not_served" } },
    });
    expect((await send(served.base, "GET", path)).status).toBe(401);
  },
);
