/** Hubs that meet over HTTP (weblisk.txt, Federation): handshakes, tasks, what crosses, and what is refused. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { WEBLISK_HEALTH_FRESH_MS } from "../../../src/base/limits.ts";
import { signedDeclaration, signedNote } from "../../../src/weblisk/federation/declarations.ts";
import { postToHub } from "../../../src/weblisk/federation/exchange.ts";
import { keptToken } from "../../../src/weblisk/federation/hub-files.ts";
import type { OwnHub } from "../../../src/weblisk/federation/ports.ts";
import { FEDERATION_ROUTES } from "../../../src/weblisk/federation/routes.ts";
import { rotateIdentity } from "../../../src/weblisk/identity/key-files.ts";
import { HealthStatus } from "../../../src/weblisk/types/agents.ts";
import { newId, send } from "../support/agent.ts";
import { type Hub, type HubOptions, makeHub } from "../support/hub.ts";

const opened: Hub[] = [];
const hub = async (name: string, options?: HubOptions): Promise<Hub> => {
  const made = await makeHub(name, options);
  opened.push(made);
  return made;
};
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

/** Both operators have added the other hub. */
const agreed = async (options: HubOptions = {}, terms = {}): Promise<readonly [Hub, Hub]> => {
  const [a, b] = [await hub("a.example"), await hub("b.example", options)];
  a.add(b, terms);
  b.add(a, terms);
  return [a, b];
};

const boundary = (more: object) => ({
  data_boundary: {
    ...{ allow_fields: [], deny_fields: ["email"], max_payload_size: 65_536, retention: "none" as const },
    ...more,
  },
});

const ownOf = ({ hub_id, url }: Hub): OwnHub => ({ hub_id, url, capabilities: ["seo:analyze"] });
const task = (hub_id: string, inputs: object, task_id = newId()) => ({
  hub_id,
  task_id,
  capability: "seo:analyze",
  inputs: inputs as Record<string, unknown>,
});
const tokenAt = (from: Hub, to: Hub): string => keptToken(from.ground, to.hub_id)!.token;

/** Everything that a hub has written. */
const written = ({ stateDir }: Hub): string =>
  (
    readdirSync(stateDir, { recursive: true, withFileTypes: true }) as {
      name: string;
      parentPath: string;
      isFile(): boolean;
    }[]
  )
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name), "utf8"))
    .join("\n");

describe("a handshake", () => {
  it("makes both hubs known to each other, each with the key of the other and a token of 72 hours", async () => {
    const [a, b] = await agreed();
    await a.asker.connect("b.example");
    const [ofB, ofA] = [a.registry.peers.get("b.example")!, b.registry.peers.get("a.example")!];
    expect([ofB.tier, ofA.tier]).toEqual(["known", "known"]);
    expect(ofB.public_key).toBe(b.ground.key.algorithm.textOf(b.ground.key.publicKey));
    expect(ofA.public_key).toBe(a.ground.key.algorithm.textOf(a.ground.key.publicKey));
    const { expires_at } = keptToken(a.ground, "b.example")!;
    expect(expires_at - Math.floor(a.ground.now() / 1_000)).toBe(72 * 3_600);
    const status = await send(b.url, "GET", "/v1/federation/status", undefined, {
      authorization: `Bearer ${tokenAt(a, b)}`,
    });
    expect(status).toMatchObject({ status: 200, body: { peer: "a.example", tier: "known" } });
    // The other side has one too, and needs no handshake of its own.
    const back = await b.asker.task(task("a.example", { prompt: "back" }));
    expect(back.output).toEqual({ text: "back" });
  });

  it("is refused to a hub that its operator has not added, and from one with another key", async () => {
    const [a, b] = await agreed();
    const c = await hub("c.example");
    c.add(b);
    await expect(c.asker.connect("b.example")).rejects.toMatchObject({ code: "PEER_UNTRUSTED" });
    await a.asker.connect("b.example");
    const said = signedDeclaration(c.ground, ownOf(a), "b.example", { capabilities: [] });
    expect(await send(b.url, "POST", "/v1/federation/peer", said)).toMatchObject({
      status: 403,
      body: { code: "PEER_UNTRUSTED" },
    });
  });

  it.each([
    ["300 seconds old", 300, {}, 200],
    ["301 seconds old", 301, {}, 401],
    ["301 seconds early", -301, {}, 401],
    ["with another address", 0, { url: "http://evil.example" }, 401],
    ["with another capability", 0, { capabilities: ["file:read"] }, 401],
    ["for another hub", 0, { audience: "c.example" }, 401],
  ])("a declaration %s", async (_, age, changed, status) => {
    const [a, b] = await agreed();
    const ground = { ...a.ground, now: () => a.ground.now() - age * 1_000 };
    const said = signedDeclaration(ground, ownOf(a), "b.example", { capabilities: [] });
    expect((await send(b.url, "POST", "/v1/federation/peer", { ...said, ...changed })).status).toBe(status);
  });

  it("is of use once, and not at another hub", async () => {
    const [a, b] = await agreed();
    const c = await hub("c.example");
    c.add(a);
    const said = signedDeclaration(a.ground, ownOf(a), "b.example", { capabilities: [] });
    expect((await send(b.url, "POST", "/v1/federation/peer", said)).status).toBe(200);
    expect(await send(b.url, "POST", "/v1/federation/peer", said)).toMatchObject({
      status: 401,
      body: { detail: { reason: "nonce_seen" } },
    });
    expect((await send(c.url, "POST", "/v1/federation/peer", said)).status).toBe(401);
  });
});

it("the gateway is degraded while its daemon is away", async () => {
  let isThere = true;
  const b = await hub("b.example", { hasDaemon: () => isThere });
  const health = async () => HealthStatus.parse((await send(b.url, "GET", "/v1/health")).body);
  for (const [is, status, state] of [
    [true, "healthy", "online"],
    [false, "degraded", "degraded"],
    [true, "healthy", "online"],
  ] as const) {
    isThere = is;
    b.registry.wall_ms += WEBLISK_HEALTH_FRESH_MS;
    expect(await health()).toMatchObject({ name: "b.example", status, state });
  }
});

it("anybody sees health and manifest; every other path wants a token or a signature", async () => {
  const [a, b] = await agreed();
  expect((await send(b.url, "GET", "/v1/health")).status).toBe(200);
  expect((await send(b.url, "GET", "/v1/federation/manifest")).body).toMatchObject({
    hub_id: "b.example",
    capabilities: ["seo:analyze"],
  });
  for (const { endpoint, methods, path } of FEDERATION_ROUTES) {
    if (endpoint === "health" || endpoint === "manifest") continue;
    const [method = ""] = methods;
    const body = method === "POST" ? signedNote(b.ground, ownOf(a), "b.example", {}) : undefined;
    const reply = await send(b.url, method, path, body);
    expect(reply.status, path).toBeGreaterThanOrEqual(400);
    expect(reply.body, path).toMatchObject({ error: expect.any(String), code: expect.any(String) });
  }
});

describe("a task", () => {
  it("is done by an agent of the other hub, which stays out of sight", async () => {
    const [a, b] = await agreed({ answer: () => "It is good." });
    const answer = await a.asker.task(task("b.example", { prompt: "Analyse it." }));
    expect(answer.output).toEqual({ text: "It is good." });
    expect(b.orders).toHaveLength(1);
    expect(b.orders[0]?.name).toMatch(/^federated-/);
    expect(JSON.stringify(answer)).not.toMatch(/clerk|worker|hub:/);
    expect(a.trail.map(({ action }) => action)).toEqual([
      "peer.add",
      "peer.handshake",
      "task.request",
      "task.result",
    ]);
    expect(b.trail.map(({ action }) => action)).toEqual([
      "peer.add",
      "peer.handshake",
      "task.request",
      "task.result",
    ]);
  });

  it("leaves denied fields behind at every depth, both ways, and in no file", async () => {
    const answer = JSON.stringify({ title: "t", list: [{ "E-Mail": "secret-of-b" }] });
    const [a, b] = await agreed({ answer: () => answer }, boundary({}));
    const got = await a.asker.task(
      task("b.example", { prompt: "p", email: "secret-of-a", deep: [{ more: { E_MAIL: "secret-of-a" } }] }),
    );
    expect(got.output).toEqual({ title: "t", list: [{}] });
    expect(got.stripped).toEqual(["E_MAIL", "email"]);
    expect(JSON.stringify(b.orders)).not.toContain("secret-of-a");
    expect(written(b) + written(a)).not.toContain("secret-of-a");
    expect(written(a)).not.toContain("secret-of-b");
  });

  it("is stripped on the way in too, where the sender has stripped nothing", async () => {
    const [a, b] = await agreed({}, {});
    await a.asker.connect("b.example");
    b.add(a, boundary({}));
    await a.asker.task(task("b.example", { prompt: "p", email: "secret-of-a" }));
    expect(b.orders[0]?.prompt).toBe("p");
    expect(written(b)).not.toContain("secret-of-a");
  });

  it("with the same id is the same task: one worker, one answer", async () => {
    const [a, b] = await agreed();
    const one = task("b.example", { prompt: "p" });
    const first = await a.asker.task(one);
    expect(await a.asker.task(one)).toEqual(first);
    expect(b.orders).toHaveLength(1);
    expect(b.trail.filter(({ action }) => action === "task.result")).toHaveLength(1);
    await expect(a.asker.task({ ...one, inputs: { prompt: "other" } })).rejects.toMatchObject({
      code: "ALREADY_EXISTS",
    });
  });

  it("is sent again while the hub is silent or slow, and after its token is void", async () => {
    const replies: ("silent" | "slow")[] = ["silent", "slow", "silent"];
    const a = await hub("a.example", {
      post: async (url, body, token) =>
        url.endsWith("/task")
          ? (replies.shift() ?? postToHub(url, body, token))
          : postToHub(url, body, token),
    });
    const b = await hub("b.example");
    a.add(b);
    b.add(a);
    await a.asker.task(task("b.example", { prompt: "p" }));
    expect(replies).toEqual([]);
    // The other hub forgets this one, and agrees anew.
    b.revoke(a);
    b.add(a);
    expect((await a.asker.task(task("b.example", { prompt: "q" }))).output).toEqual({ text: "q" });
  });

  it("number 101 in an hour is refused, and one is taken when the hour of the first is over", async () => {
    const [a, b] = await agreed({}, { rate_limit: 100 });
    await a.asker.connect("b.example");
    const ask = () => a.asker.task(task("b.example", { prompt: "hi" }));
    const pass = (ms: number): void => {
      for (const { registry } of [a, b]) registry.wall_ms += ms;
    };
    for (let asked = 0; asked < 100; asked += 1) {
      expect((await ask()).output).toEqual({ text: "hi" });
      // Below what a server takes in a minute.
      if (asked % 50 === 49) pass(61_000);
    }
    await expect(ask()).rejects.toMatchObject({
      code: "RATE_LIMITED",
      message: expect.stringContaining("100"),
    });
    pass(3_600_001 - 2 * 61_000);
    expect((await ask()).output).toEqual({ text: "hi" });
  });

  it("is refused for what is not shared, and beyond the agreed rate", async () => {
    const [a, b] = await agreed({}, { rate_limit: 2 });
    const unshared = { ...task("b.example", { prompt: "p" }), capability: "file:read" };
    await expect(a.asker.task(unshared)).rejects.toMatchObject({ code: "CAPABILITY_DENIED" });
    await a.asker.task(task("b.example", { prompt: "p" }));
    await a.asker.task(task("b.example", { prompt: "p" }));
    await expect(a.asker.task(task("b.example", { prompt: "p" }))).rejects.toMatchObject({
      code: "RATE_LIMITED",
    });
    expect(b.orders).toHaveLength(2);
    expect(a.registry.peers.get("b.example")?.open).toEqual([]);
  });

  it("of a peer that is revoked in its middle has no answer, and its token is void at once", async () => {
    let [a, b]: Hub[] = [];
    [a, b] = [...(await agreed({ during: () => b!.revoke(a!) }))];
    await expect(a!.asker.task(task("b.example", { prompt: "p" }))).rejects.toMatchObject({
      code: "PEER_UNTRUSTED",
    });
    expect(
      await send(b!.url, "GET", "/v1/federation/status", undefined, {
        authorization: `Bearer ${tokenAt(a!, b!)}`,
      }),
    ).toMatchObject({ status: 403, body: { code: "PEER_UNTRUSTED" } });
    expect(readdirSync(join(b!.stateDir, "weblisk"))).not.toContain("answers");
  });

  it("with a stolen token is refused: the hub signs each of its own", async () => {
    const [a, b] = await agreed();
    const c = await hub("c.example");
    await a.asker.connect("b.example");
    const forged = signedNote(c.ground, ownOf(a), "b.example", {
      id: newId(),
      capability: "seo:analyze",
      inputs: { prompt: "p" },
    });
    const authorization = `Bearer ${tokenAt(a, b)}`;
    expect(await send(b.url, "POST", "/v1/federation/task", forged, { authorization })).toMatchObject({
      status: 401,
      body: { detail: { reason: "hub_signature" } },
    });
    expect(b.orders).toEqual([]);
  });

  it("fails with a code alone where the agent fails", async () => {
    const [a] = await agreed({ answer: () => "" });
    await expect(a.asker.task(task("b.example", { prompt: "p" }))).rejects.toMatchObject({
      code: "AGENT_FAILED",
    });
  });
});

it("trust is not handed on: a hub asks for itself alone, whoever the other hub trusts", async () => {
  const [a, b] = await agreed();
  const c = await hub("c.example");
  b.add(c);
  c.add(b);
  await a.asker.connect("b.example");
  await b.asker.connect("c.example");
  // By its own key, with the token that the hub in the middle has at the third.
  const said = signedNote(a.ground, ownOf(a), "c.example", {
    id: newId(),
    capability: "seo:analyze",
    inputs: { prompt: "p" },
  });
  const authorization = `Bearer ${tokenAt(b, c)}`;
  expect((await send(c.url, "POST", "/v1/federation/task", said, { authorization })).status).toBe(401);
  // The hub in the middle, in the name of the first one.
  const lent = signedNote(b.ground, ownOf(b), "c.example", {
    ...{ id: newId(), capability: "seo:analyze", inputs: { prompt: "p" }, on_behalf_of: "a.example" },
  });
  expect(await send(c.url, "POST", "/v1/federation/task", lent, { authorization })).toMatchObject({
    status: 403,
    body: { code: "PEER_UNTRUSTED" },
  });
  expect(c.orders).toEqual([]);
});

it("a peer ends the federation by a note that it has signed", async () => {
  const [a, b] = await agreed();
  await a.asker.connect("b.example");
  const note = signedNote(a.ground, ownOf(a), "b.example", { reason: "over" });
  expect((await send(b.url, "POST", "/v1/federation/peer-revoke", note)).body).toEqual({ status: "revoked" });
  expect(b.registry.peers.has("a.example")).toBe(false);
});

it("a change of key that both keys have signed is told with the next handshake", async () => {
  const [a, b] = await agreed();
  await a.asker.connect("b.example");
  const { key } = rotateIdentity(a.stateDir, "orchestrator", {
    timestamp: Math.floor(Date.now() / 1_000),
    nonce: newId(),
  });
  const { HubAsker } = await import("../../../src/weblisk/federation/asking.ts");
  const asker = new HubAsker({
    ...{ ...a.ground, key, stateDir: a.stateDir, post: postToHub },
    pause: async () => undefined,
  });
  await asker.connect("b.example");
  expect(b.registry.peers.get("a.example")?.public_key).toBe(key.algorithm.textOf(key.publicKey));
});

it("the id of a request counts once at a gateway, also after it started again", async () => {
  const [a, b] = await agreed();
  await a.asker.connect("b.example");
  const headers = { authorization: `Bearer ${tokenAt(a, b)}`, "x-request-id": newId() };
  const asked = (prompt: string): object =>
    signedNote(a.ground, ownOf(a), "b.example", {
      id: newId(),
      capability: "seo:analyze",
      inputs: { prompt },
    });
  const first = asked("once");
  const done = await send(b.url, "POST", "/v1/federation/task", first, headers);
  expect(done.status).toBe(200);
  b.start();
  expect((await send(b.url, "POST", "/v1/federation/task", first, headers)).body.task_id).toBe(
    done.body.task_id,
  );
  expect(await send(b.url, "POST", "/v1/federation/task", asked("another"), headers)).toMatchObject({
    status: 409,
    body: { detail: { reason: "request_id_reused" } },
  });
  expect(b.orders).toHaveLength(1);
});
