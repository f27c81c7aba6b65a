/** The conformance lists of Weblisk over HTTP, as far as this server goes: L1, L2, and the limits of the wire. */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { WEBLISK_AGENT_LOOKS_MAX } from "../../../src/base/limits.ts";
import { verifierOf } from "../../../src/weblisk/identity/algorithms.ts";
import { profileOfSignature } from "../../../src/weblisk/signing/operations.ts";
import { issueToken } from "../../../src/weblisk/signing/tokens.ts";
import {
  AgentManifest,
  HealthStatus,
  RegisterResponse,
  ServiceDirectory,
} from "../../../src/weblisk/types/agents.ts";
import { AgentMessage, ChannelGrant, ErrorResponse } from "../../../src/weblisk/types/talk.ts";
import { readBody } from "../../../src/weblisk/wire/body.ts";
import { full } from "../../support/figures.ts";
import { newId, RemoteAgent, type RemoteAgentOptions, send, type WireReply } from "../support/agent.ts";
import { makeServed, type Served } from "../support/served.ts";

let served: Served;
beforeAll(async () => {
  served = await makeServed();
});
afterAll(() => served.close());
// A window of requests is over.
beforeEach(() => served.pass(61));

const agentNamed = (name: string, options: RemoteAgentOptions = {}, of = served) =>
  new RemoteAgent(of.base, name, { ...options, clock: of.seconds });
const isRefusal = (reply: WireReply): void => {
  ErrorResponse.parse(reply.body);
  expect(reply.headers.get("content-type")).toBe("application/json");
  expect(reply.text).not.toContain("null");
};

it("L1-01 health has its name, version, state and uptime, by GET and POST", async () => {
  for (const [method, path] of [
    ["GET", "/v1/health"],
    ["POST", "/v1/health"],
    ["GET", "/agents/echo/v1/health"],
    ["POST", "/agents/echo/v1/health"],
  ] as const) {
    const { status, body } = await send(served.base, method, path);
    expect(status).toBe(200);
    expect(HealthStatus.parse(body)).toMatchObject({
      status: "healthy",
      state: "online",
      uptime: expect.any(Number),
    });
  }
});

it("L1-02 an agent describes itself", async () => {
  const { body } = await send(served.base, "POST", "/agents/echo/v1/describe", {});
  expect(AgentManifest.parse(body)).toMatchObject({
    name: "echo",
    version: "1.2.3",
    url: `${served.base}/agents/echo`,
    public_key: expect.stringMatching(/^[0-9a-f]{64}$/),
    max_concurrent: 4,
  });
});

describe.each(["literal", "jcs"] as const)("in profile %s", (profile) => {
  it("L1-03 a registration answers with an id, a token and the directory; a member that nobody knows stays signed", async () => {
    const agent = agentNamed(`agent-${profile}`, { profile });
    const manifest = agent.manifest({ zeta: { b: 1, a: "é<>&" }, "10": 1, "9": 2 });
    const { status, body } = await agent.register(agent.registration(manifest));
    expect(status).toBe(200);
    expect(RegisterResponse.parse(body)).toMatchObject({
      agent_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      orchestrator: { supported_versions: ["1"] },
    });
    const again = await agent.register();
    expect(again.body.agent_id).toBe(body.agent_id);
  });

  it("L1-04 a signature over other bytes is refused", async () => {
    const agent = agentNamed(`forged-${profile}`, { profile });
    const { signature } = agent.registration();
    const manifest = agent.manifest({ version: "9.9.9" });
    const reply = await agent.register({ manifest, signature, timestamp: served.seconds() });
    expect(reply).toMatchObject({ status: 401, body: { code: "INVALID_SIGNATURE" } });
    isRefusal(reply);
  });
});

it.each([
  [-301, 401],
  [-300, 200],
  [300, 200],
  [301, 401],
])("L1-05 a timestamp %i s from now: %i", async (offset, status) => {
  const agent = agentNamed(`timed-${offset + 400}`);
  const reply = await agent.register(agent.registration(undefined, served.seconds() + offset));
  expect(reply.status).toBe(status);
  if (status === 401) expect(reply.body.error).toMatch(/timestamp.*replay/);
});

it("L1-06 a task is answered with its id and the agent's name, and its signed members", async () => {
  const agent = agentNamed("sender");
  await agent.register();
  served.grant("sender");
  await agent.register();
  const id = newId().toUpperCase();
  const { status, body } = await agent.execute("echo", { id, inputs: { prompt: "hi" }, priority: "high" });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    task_id: id.toLowerCase(),
    agent_name: "echo",
    status: "success",
    output: { text: "hi", digests: { changes: createHash("sha256").update("[]").digest("hex") } },
    changes: [],
  });
  expect(served.orders.at(-1)).toMatchObject({ priority: "high", prompt: "hi", cwd: expect.any(String) });
});

it("L1-07 a protected endpoint takes the newest token alone", async () => {
  const agent = agentNamed("renewing");
  await agent.register();
  const first = agent.token;
  served.pass(1);
  await agent.register();
  expect(agent.token).not.toBe(first);
  const services = (token?: string) =>
    send(
      served.base,
      "GET",
      "/v1/services",
      undefined,
      token === undefined ? {} : { authorization: `Bearer ${token}` },
    );
  expect((await services()).status).toBe(401);
  expect((await services("no.such.token")).status).toBe(401);
  expect(await services(first)).toMatchObject({ status: 401, body: { detail: { reason: "token_revoked" } } });
  const { status, body } = await services(agent.token);
  expect(status).toBe(200);
  expect(ServiceDirectory.parse(body).agents.map(({ name }) => name)).toContain("echo");

  const claims = {
    sub: "renewing",
    iss: "orchestrator",
    iat: served.seconds(),
    exp: served.seconds() + 60,
    cap: [],
    cid: "",
  };
  const own = issueToken(agent.key, claims);
  expect(await services(own)).toMatchObject({ status: 401, body: { detail: { reason: "token_signature" } } });

  expect((await agent.send("DELETE", "/v1/register")).body).toEqual({ status: "deregistered" });
  expect((await services(agent.token)).status).toBe(401);
});

/** A registered agent that may send messages. */
const messenger = async (name: string): Promise<RemoteAgent> => {
  const agent = agentNamed(name);
  const manifest = () =>
    agent.manifest({
      capabilities: [{ name: "agent:message" }],
      nonce: newId(),
      signed_at: served.seconds(),
    });
  await agent.register(agent.registration(manifest()));
  served.grant(name, "agent:message");
  await agent.register(agent.registration(manifest()));
  return agent;
};

it("L1-08 a message is answered in the agent's name, and signed; L2-01 one that is forged is refused", async () => {
  const agent = await messenger("talker");
  const reply = await agent.send("POST", "/agents/echo/v1/message", agent.messageTo("echo"));
  expect(AgentMessage.parse(reply.body)).toMatchObject({
    type: "response",
    from: "echo",
    to: "talker",
    payload: { capabilities: [{ name: "llm:chat" }] },
  });
  const { body } = await send(served.base, "POST", "/agents/echo/v1/describe", {});
  const verifier = verifierOf({ algorithm: "Ed25519", publicKey: String(body.public_key) })!;
  const wire = readBody(Buffer.from(reply.text));
  expect(profileOfSignature(verifier, "message", wire, reply.body.signature)).toBe("literal");

  const path = "/agents/echo/v1/message";
  for (const [more, status, reason] of [
    [{ payload: { more: 1 } }, 401, "message_signature"],
    [{ from: "somebody" }, 403, "another_name"],
    [{ to: "somebody", signature: undefined }, 400, "another_agent"],
    [{ action: "dance", signature: undefined }, 404, "action_unknown"],
  ] as const)
    expect(await agent.send("POST", path, agent.messageTo("echo", more))).toMatchObject({
      status,
      body: { detail: { reason } },
    });
  const mute = agentNamed("mute");
  await mute.register();
  expect((await mute.send("POST", path, mute.messageTo("echo"))).status).toBe(403);
  expect((await send(served.base, "POST", path, agent.messageTo("echo"))).status).toBe(401);
});

it("L2-03 a channel's token opens the agent of the channel for an hour, and no other", async () => {
  const agent = await messenger("caller");
  const peer = await messenger("peer");
  const open = (to_agent: string, from_agent = "caller") =>
    agent.send("POST", "/v1/channel", { from_agent, to_agent, purpose: "talk" });
  const { status, body } = await open("echo");
  expect(status).toBe(200);
  expect(ChannelGrant.parse(body)).toMatchObject({
    agents: ["caller", "echo"],
    target_url: `${served.base}/agents/echo`,
    expires: served.seconds() + 3_600,
  });
  const say = (token: unknown) =>
    send(served.base, "POST", "/agents/echo/v1/message", agent.messageTo("echo"), {
      authorization: `Bearer ${token}`,
    });
  expect((await say(body.token)).status).toBe(200);
  expect((await open("peer")).body.target_pub_key).toBe(peer.manifest().public_key);
  expect(await say((await open("peer")).body.token)).toMatchObject({
    status: 403,
    body: { detail: { reason: "another_channel" } },
  });
  expect((await open("nobody")).status).toBe(404);
  expect((await open("echo", "peer")).status).toBe(403);
  // It is a token for messages alone.
  const elsewhere = await send(served.base, "GET", "/v1/services", undefined, {
    authorization: `Bearer ${body.token}`,
  });
  expect(elsewhere.status).toBe(401);
  await agent.send("DELETE", "/v1/register");
  expect((await say(body.token)).status).toBe(401);
});

it("L1-09 a directory that nobody signed is answered and not believed", async () => {
  const { status, body } = await send(served.base, "POST", "/agents/echo/v1/services", { agents: [] });
  expect({ status, body }).toEqual({ status: 200, body: { status: "ignored" } });
});

it("L2-02 a token expires after 24 hours", async () => {
  const own = await makeServed();
  try {
    const agent = agentNamed("old", {}, own);
    await agent.register();
    own.pass(86_399);
    expect((await agent.send("GET", "/v1/services")).status).toBe(200);
    own.pass(3);
    expect(await agent.send("GET", "/v1/services")).toMatchObject({
      status: 401,
      body: { code: "TOKEN_EXPIRED", category: "transient", retryable: true },
    });
  } finally {
    own.close();
  }
});

/** A JSON text of exactly so many bytes. */
const padded = (body: object, bytes: number): string => {
  const text = JSON.stringify({ ...body, pad: "" });
  return text.replace(/""}$/, `"${"x".repeat(bytes - Buffer.byteLength(text))}"}`);
};

it("L2-04 a registration has at most 1 MiB, a task 10 MiB", async () => {
  const agent = agentNamed("large");
  const MIB = 1_048_576;
  const register = (bytes: number) =>
    send(served.base, "POST", "/v1/register", padded(agent.registration(), bytes));
  expect((await register(MIB)).status).toBe(200);
  expect(await register(MIB + 1)).toMatchObject({
    status: 413,
    body: { detail: { reason: "body_too_large" } },
  });

  await agent.register();
  served.grant("large");
  await agent.register();
  const task = (bytes: number) =>
    send(
      served.base,
      "POST",
      "/agents/echo/v1/execute",
      padded({ id: newId(), inputs: { prompt: "x" } }, bytes),
      {
        authorization: `Bearer ${agent.token}`,
      },
    );
  expect((await task(10 * MIB)).status).toBe(200);
  expect((await task(10 * MIB + 1)).status).toBe(413);
});

it("L2-05 a registration that was recorded is of no use: its nonce counts once, its time for 300 s", async () => {
  const agent = agentNamed("once");
  const recorded = agent.registration(agent.manifest({ nonce: newId(), signed_at: served.seconds() }));
  expect((await agent.register(recorded)).status).toBe(200);
  const isReplay = { status: 401, body: { detail: { reason: "nonce_seen" } } };
  expect(await agent.register({ ...recorded, timestamp: served.seconds() })).toMatchObject(isReplay);
  // Also by the next server.
  const next = await makeServed("Ed25519", served.stateDir);
  try {
    next.pass(served.seconds() - next.seconds());
    const sent = { ...recorded, timestamp: next.seconds() };
    expect(await send(next.base, "POST", "/v1/register", sent)).toMatchObject(isReplay);
  } finally {
    next.stop();
  }
});

it("a result that was removed is not signed anew: after 30 days its repeat is refused, and the server goes on", async () => {
  const own = await makeServed();
  try {
    const agent = agentNamed("late", {}, own);
    await agent.register();
    own.grant("late");
    await agent.register();
    const task = { id: newId(), inputs: { prompt: "hi" } };
    const { text } = await agent.execute("echo", task);
    const file = join(own.stateDir, "weblisk", "results", `${task.id}.json`);
    own.pass(30 * 86_400 - 60);
    await agent.register();
    expect((await agent.execute("echo", task)).text).toBe(text);
    own.pass(3_600);
    expect(await agent.execute("echo", task)).toMatchObject({
      status: 410,
      body: { code: "RETENTION_EXPIRED", retryable: false, detail: { reason: "result_expired" } },
    });
    expect(existsSync(file)).toBe(false);
  } finally {
    own.close();
  }
});

it("while the daemon is away its health is degraded", async () => {
  const health = async (path: string) => HealthStatus.parse((await send(served.base, "GET", path)).body);
  served.daemon(false);
  served.pass(1);
  for (const path of ["/v1/health", "/agents/echo/v1/health"])
    expect(await health(path)).toMatchObject({ status: "degraded", state: "degraded" });
  served.daemon(true);
  served.pass(1);
  expect(await health("/v1/health")).toMatchObject({ status: "healthy", state: "online" });
});

it("a manifest without a nonce, which anybody may have recorded, gets none of the granted rights", async () => {
  const agent = agentNamed("recorded");
  const recorded = agent.registration();
  await agent.register();
  served.grant("recorded");
  await agent.register();
  expect((await agent.execute("echo", { inputs: { prompt: "hi" } })).status).toBe(200);
  expect((await agent.register({ ...recorded, timestamp: served.seconds() })).status).toBe(200);
  expect(await agent.execute("echo", { inputs: { prompt: "hi" } })).toMatchObject({
    status: 403,
    body: { detail: { reason: "capability_missing" } },
  });
});

it(`an agent looks at its tasks ${WEBLISK_AGENT_LOOKS_MAX} times a minute at most`, async () => {
  const agent = agentNamed("looks");
  await agent.register();
  const look = async () => (await agent.send("GET", `/v1/task/${newId()}`)).status;
  for (let looked = 0; looked < WEBLISK_AGENT_LOOKS_MAX; looked += 1) expect(await look()).toBe(404);
  expect(await look()).toBe(429);
});

it("a name belongs to the key that registered it first, and none may take the name of a served agent", async () => {
  await agentNamed("taken").register();
  expect(await agentNamed("taken").register()).toMatchObject({
    status: 409,
    body: { code: "NAMESPACE_CONFLICT" },
  });
  for (const name of ["echo", "orchestrator"])
    expect(await agentNamed(name).register()).toMatchObject({
      status: 403,
      body: { code: "NAMESPACE_RESERVED" },
    });
});

it("upstream's verification of a server: what it sends, and what it wants", async () => {
  expect((await send(served.base, "GET", "/v1/services")).status).toBe(401);
  expect((await send(served.base, "GET", "/v1/register")).headers.get("allow")).toBe("POST, DELETE");
  expect((await send(served.base, "POST", "/v1/register", {})).status).toBe(400);
  const manifest = {
    name: "zero",
    version: "",
    description: "",
    url: "http://x",
    public_key: "0".repeat(64),
    capabilities: null,
  };
  const zero = await send(served.base, "POST", "/v1/register", {
    manifest,
    signature: "deadbeef",
    timestamp: served.seconds(),
  });
  expect(zero.status).toBe(401);
  expect((await send(served.base, "GET", "/agents/echo/v1/execute")).status).toBe(405);
});

it("a key of another algorithm than the server's and Ed25519 is refused", async () => {
  const agent = agentNamed("quantum", { algorithm: "ML-DSA-65" });
  expect((await agent.register()).status).toBe(401);
});

it("with keys of ML-DSA-65 everything is signed and checked by them", async () => {
  const own = await makeServed("ML-DSA-65");
  try {
    const agent = agentNamed("quantum", { algorithm: "ML-DSA-65" }, own);
    expect((await agent.register()).status).toBe(200);
    own.grant("quantum");
    await agent.register();
    const reply = await agent.execute("echo", { inputs: { prompt: "hi" } });
    expect(reply).toMatchObject({ status: 200, body: { status: "success" } });
    const { body } = await send(own.base, "POST", "/agents/echo/v1/describe", {});
    const verifier = verifierOf({ algorithm: "ML-DSA-65", publicKey: String(body.public_key) })!;
    const wire = readBody(Buffer.from(reply.text));
    expect(profileOfSignature(verifier, "result", wire, reply.body.signature)).toBe("literal");
    // The algorithm belongs to the key: an agent with Ed25519 stays one.
    expect((await agentNamed("classic", {}, own).register()).status).toBe(200);
    const said = agentNamed("liar", {}, own);
    const manifest = said.manifest({ public_key_alg: "ML-DSA-65" });
    expect((await said.register(said.registration(manifest))).status).toBe(401);
  } finally {
    own.close();
  }
});

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
it.each([
  ["64 levels, which is no registration", nested(64), "member_invalid"],
  ["65 levels", nested(65), "too_deep"],
  ["a member twice", '{"a":1,"a":2}', "duplicate_member"],
  ["an integer beyond 2^53", '{"a":9007199254740993}', "unsafe_number"],
  ["half a surrogate pair", '{"a":"\\ud800"}', "lone_surrogate"],
  ["a list", "[]", "not_an_object"],
  ["no JSON", "{", "not_json"],
])("a body with %s is refused", async (_what, body, reason) => {
  const reply = await send(served.base, "POST", "/v1/register", body);
  expect(reply).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", detail: { reason } } });
  isRefusal(reply);
});

it.each([
  ["another type", { "content-type": "text/plain" }, 415],
  ["an encoding", { "content-encoding": "gzip" }, 415],
  ["a page's origin", { origin: "https://evil.example" }, 403],
  ["a malformed request id", { "x-request-id": "7" }, 400],
])("headers with %s: refused", async (_what, headers, status) => {
  const reply = await send(served.base, "POST", "/v1/register", "{}", headers as Record<string, string>);
  expect(reply.status).toBe(status);
  isRefusal(reply);
});

it("a request is done once by its id: a channel has its grant again, a task its result, and another request 409", async () => {
  const own = await makeServed();
  try {
    const agent = agentNamed("repeats", {}, own);
    await agent.register();
    own.grant("repeats", "llm:chat", "agent:message");
    const capabilities = ["llm:chat", "agent:message"].map((name) => ({ name }));
    await agent.register(agent.registration(agent.onceOnly({ capabilities })));
    const channel = { from_agent: "repeats", to_agent: "echo", purpose: "talk" };
    const named = { "x-request-id": newId() };
    const [first, again] = [
      await agent.send("POST", "/v1/channel", channel, named),
      await agent.send("POST", "/v1/channel", channel, named),
    ];
    expect([first.status, again.text]).toEqual([200, first.text]);
    expect((await agent.send("POST", "/v1/channel", channel)).text).not.toBe(first.text);
    const reused = await agent.execute("echo", { inputs: { prompt: "hi" } }, named);
    expect(reused).toMatchObject({ status: 409, body: { detail: { reason: "request_id_reused" } } });
    isRefusal(reused);
    const task = { id: newId(), inputs: { prompt: "hi" } };
    const its = { "x-request-id": newId() };
    const done = await agent.execute("echo", task, its);
    expect([done.status, (await agent.execute("echo", task, its)).text]).toEqual([200, done.text]);
    expect(own.orders).toHaveLength(1);
    own.pass(301);
    expect((await agent.send("POST", "/v1/channel", channel, named)).text).not.toBe(first.text);
  } finally {
    own.close();
  }
});

it("the 61st task of an agent in a minute is refused, and says when to try again", async () => {
  const own = await makeServed();
  try {
    const agent = agentNamed("busy", {}, own);
    await agent.register();
    const answers = [];
    for (let sent = 0; sent < 61; sent += 1) answers.push(await agent.execute("echo", {}));
    expect(answers.slice(0, 60).every(({ status }) => status === 403)).toBe(true);
    expect(answers[60]?.status).toBe(429);
    const limits = answers.map(({ headers }) =>
      ["limit", "remaining", "reset"].map((name) => Number(headers.get(`x-ratelimit-${name}`))),
    );
    const reset = own.seconds() + 60;
    expect([limits[0], limits[59], limits[60]]).toEqual([
      [60, 59, reset],
      [60, 0, reset],
      [60, 0, reset],
    ]);
    expect(answers[60]?.headers.get("retry-after")).toBe("60");
    own.pass(61);
    await agent.register();
    expect((await agent.execute("echo", {})).status).toBe(403);
  } finally {
    own.close();
  }
});

const FUZZ = full ? 100_000 : 2_000;
const BATCH = 20;
/** Bytes by which the heap may have grown after all of them; one that kept each body would have grown by ten times as much. */
const GROWTH_MAX_BYTES = 16 * 1024 * 1024;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const heapBytes = (): number => {
  collect();
  return process.memoryUsage().heapUsed;
};
const filesIn = (directory: string): number =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).filter((one) => one.isFile()).length;

const raw = (method: string, path: string, body: Buffer, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(
      `${served.base}${path}`,
      { method, headers: { "content-length": body.length, ...headers } },
      (reply) => {
        const chunks: Buffer[] = [];
        reply.on("data", (chunk: Buffer) => chunks.push(chunk));
        reply.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          const value = JSON.parse(text) as object;
          if ((reply.statusCode ?? 0) >= 400) ErrorResponse.parse(value);
          resolve(reply.statusCode ?? 0);
        });
      },
    );
    sent.once("error", reject);
    sent.end(body);
  });

it(`${FUZZ} broken requests are each answered with JSON, never with 500, and leave nothing behind`, async () => {
  const agent = agentNamed("fuzz");
  const whole = Buffer.from(JSON.stringify(agent.registration()));
  const paths = [
    "/v1/register",
    "/v1/task",
    "/agents/echo/v1/execute",
    "/v1/services",
    "/agents//v1/health",
    "/v1/task/%00",
  ];
  const one = (): Promise<number> => {
    const body = Buffer.from(whole);
    for (let change = 0; change <= randomBytes(1)[0]! % 4; change += 1)
      body[randomBytes(2).readUInt16BE() % body.length] = randomBytes(1)[0]!;
    const [method, path, token] = randomBytes(3);
    const cut = body.subarray(
      0,
      randomBytes(1)[0]! % 3 === 0 ? randomBytes(2).readUInt16BE() % body.length : body.length,
    );
    return raw(["POST", "POST", "DELETE", "GET"][method! % 4]!, paths[path! % paths.length]!, cut, {
      "content-type": "application/json",
      ...(token! % 2 === 0 && { authorization: `Bearer ${randomBytes(token! % 40).toString("base64url")}` }),
    });
  };
  const seen = new Set<number>();
  for (let warm = 0; warm < BATCH; warm += 1) await one();
  const before = { heap: heapBytes(), files: filesIn(served.stateDir) };
  for (let sent = 0; sent < FUZZ; sent += BATCH)
    for (const status of await Promise.all(Array.from({ length: BATCH }, one))) seen.add(status);
  expect([...seen].filter((status) => status >= 500)).toEqual([]);
  expect(served.defects).toEqual([]);
  expect(heapBytes() - before.heap).toBeLessThan(GROWTH_MAX_BYTES);
  // A registration may have stayed whole: that is one agent.
  expect(filesIn(served.stateDir) - before.files).toBeLessThanOrEqual(1);
}, 600_000);
