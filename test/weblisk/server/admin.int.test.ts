/** Endpoints of the operator (notes 2.2: `admin/*`), at a listener of their own. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { WEBLISK_ADMIN_READS_MAX, WEBLISK_ADMIN_WRITES_MAX } from "../../../src/base/limits.ts";
import { ADMIN_ROUTES } from "../../../src/weblisk/server/admin.ts";
import { RemoteAgent, send } from "../support/agent.ts";
import { makeServed, type Served } from "../support/served.ts";

const TOKEN = "0123456789abcdef".repeat(4);
const PEERS = { peers: [{ hub_id: "b.example", tier: "known", session: "secret-of-tokens" }] };

let served: Served;
let admin: string;
let ci: RemoteAgent;
beforeAll(async () => {
  served = await makeServed();
  admin = await served.admin({ token: TOKEN, peers: async () => PEERS as never });
  ci = new RemoteAgent(served.base, "ci", { clock: served.seconds });
  await ci.register();
});
afterAll(() => served.close());
beforeEach(() => served.pass(61));
afterEach(() => expect(served.defects).toEqual([]));

const ask = (method: string, path: string, token: string | undefined = TOKEN, base = admin) =>
  send(
    base,
    method,
    `/v1/admin/${path}`,
    undefined,
    token === "" ? {} : { authorization: `Bearer ${token}` },
  );
const pathsOf = ADMIN_ROUTES.flatMap(({ methods, path }) =>
  methods.map((method) => [method, path.replace("/v1/admin/", "").replace(":", "ci")] as const),
);

it.each(pathsOf)("%s %s wants the operator's token, and no other one", async (method, path) => {
  for (const token of ["", TOKEN.replace("0", "1"), ci.token])
    expect(await ask(method, path, token)).toMatchObject({
      status: 401,
      body: { code: "INVALID_SIGNATURE", detail: { reason: "admin_token" } },
    });
});

it.each(pathsOf)("%s %s is not there for agents, whatever the token", async (method, path) => {
  for (const token of [TOKEN, ci.token])
    expect(await ask(method, path, token, served.base)).toMatchObject({
      status: 404,
      body: { detail: { reason: "path_unknown" } },
    });
});

it("knows no path of agents", async () => {
  for (const path of ["/v1/health", "/v1/services", "/agents/echo/v1/describe"])
    expect((await send(admin, "GET", path, undefined, { authorization: `Bearer ${TOKEN}` })).status).toBe(
      404,
    );
});

it("tells agents with their rights, peers, approvals and the trail, and nothing of a token", async () => {
  served.grant("ci", "llm:chat");
  expect((await ask("GET", "overview")).body).toEqual({
    version: "1.2.3",
    served: [{ name: "echo", capabilities: ["llm:chat"], max_concurrent: 4 }],
    agents: 1,
    peers: 1,
  });
  const shown = { name: "ci", granted: ["llm:chat"], status: "online" };
  const all = await ask("GET", "agents");
  expect(all.body).toMatchObject({ agents: [shown] });
  expect((await ask("GET", "agents/ci")).body).toMatchObject(shown);
  expect(all.text).not.toMatch(/token/);
  expect((await ask("GET", "federation/peers")).body).toEqual({
    peers: [{ hub_id: "b.example", tier: "known" }],
  });
  expect((await ask("GET", "audit?limit=2")).body).toMatchObject({
    entries: [{ action: "meet" }, { action: "admit" }],
  });
  expect((await ask("GET", "approvals")).status).toBe(200);
  expect((await ask("GET", "agents/nobody")).status).toBe(404);
  expect((await ask("DELETE", "agents/ci")).status).toBe(405);
});

it("takes a key's rights and its token, and the name stays with the key; then frees the name", async () => {
  served.grant("ci", "llm:chat");
  await ci.register();
  expect((await ci.send("GET", "/v1/services")).status).toBe(200);
  expect((await ask("POST", "agents/ci/revoke-key")).body).toEqual({ status: "revoked" });
  expect((await ci.send("GET", "/v1/services")).status).toBe(401);
  expect((await ask("GET", "agents/ci")).body).toMatchObject({ granted: [] });
  const other = new RemoteAgent(served.base, "ci", { clock: served.seconds });
  expect((await other.register()).status).toBe(409);
  expect((await ask("POST", "agents/ci/deregister")).body).toEqual({ status: "deregistered" });
  expect((await ask("POST", "agents/ci/deregister")).status).toBe(404);
  expect((await other.register()).status).toBe(200);
});

it.each([
  ["GET", "overview", WEBLISK_ADMIN_READS_MAX],
  ["POST", "agents/nobody/deregister", WEBLISK_ADMIN_WRITES_MAX],
] as const)("%s: a minute has %s", async (method, path, max) => {
  for (let n = 0; n < max; n += 1) expect((await ask(method, path)).status).not.toBe(429);
  const refused = await ask(method, path);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
});
