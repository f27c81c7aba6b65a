/** Tasks for agents that have registered from elsewhere: an agent of the test's own takes them, refuses them, or is away. */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { WEBLISK_FORWARD_KEEP_MS, WEBLISK_RESULT_KEEP_MS } from "../../../src/base/limits.ts";
import {
  ALGORITHMS,
  newKey,
  publicTextOf,
  signText,
  verifierOf,
} from "../../../src/weblisk/identity/algorithms.ts";
import { ensureIdentity, ORCHESTRATOR } from "../../../src/weblisk/identity/key-files.ts";
import { profileOfSignature } from "../../../src/weblisk/signing/operations.ts";
import { readToken } from "../../../src/weblisk/signing/tokens.ts";
import { readBody } from "../../../src/weblisk/wire/body.ts";
import { newId, RemoteAgent, send } from "../support/agent.ts";
import { makeServed, type Served } from "../support/served.ts";

interface Taken {
  readonly headers: IncomingMessage["headers"];
  readonly path: string;
  readonly method: string;
  readonly text: string;
  readonly body: Record<string, unknown> & { id: string; token: string; context: Record<string, unknown> };
}
type Answer = { readonly status: number; readonly body: object | string } | "never";

let served: Served;
let sender: RemoteAgent;
let helper: RemoteAgent;
let listener: Server;
let url: string;
const taken: Taken[] = [];
let answer: (taken: Taken) => Answer | Promise<Answer>;
/** Its answer to the request that ends a task. */
let end: (taken: Taken) => Answer | Promise<Answer>;

/** A signed result. `more` is signed too. */
const resultFor = ({ body }: Pick<Taken, "body">, output: object = { text: "done" }, key = helper.key) => {
  const covered = { task_id: body.id, status: "success", output };
  return { ...covered, signature: signText(key, JSON.stringify(covered)), duration_ms: 3 };
};
const works = (it: Taken): Answer => ({ status: 200, body: resultFor(it) });

const rightsOf = (agent: RemoteAgent, asked: readonly string[], more: object = {}) =>
  agent.register(
    agent.registration(agent.onceOnly({ capabilities: asked.map((name) => ({ name })), ...more })),
  );

beforeAll(async () => {
  served = await makeServed();
  listener = createServer(async (request, response) => {
    const whole = await text(request);
    const { headers, url: path = "", method = "" } = request;
    const seen = { headers, path, method, text: whole, body: whole === "" ? {} : JSON.parse(whole) };
    if (method === "POST") taken.push(seen);
    const said = await (method === "DELETE" ? end(seen) : answer(seen));
    if (said === "never") return;
    const { status, body: told } = said;
    response
      .writeHead(status, {
        "content-type": "application/json",
        ...(status === 429 && { "retry-after": "7" }),
      })
      .end(typeof told === "string" ? told : JSON.stringify(told));
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  [sender, helper] = ["sender", "helper"].map(
    (name) => new RemoteAgent(served.base, name, { clock: served.seconds }),
  ) as [RemoteAgent, RemoteAgent];
  await rightsOf(sender, ["agent:message", "llm:chat"]);
  served.grant("sender", "agent:message", "llm:chat");
  await rightsOf(sender, ["agent:message", "llm:chat"]);
  await rightsOf(helper, ["llm:chat"], { url: `${url}/base/`, max_concurrent: 2 });
  served.grant("helper", "http:receive");
});
afterAll(() => {
  listener.close();
  listener.closeAllConnections();
  served.close();
});
beforeEach(() => {
  served.pass(61);
  answer = works;
  end = () => ({ status: 404, body: { error: "no such path" } });
  taken.length = 0;
});
afterEach(() => expect(served.defects).toEqual([]));

const give = (task: object, headers?: Record<string, string>, by = sender) =>
  by.send(
    "POST",
    "/v1/task",
    { target_agent: "helper", context: {}, inputs: { prompt: "p" }, ...task },
    headers,
  );

describe("a task for an agent elsewhere", () => {
  it("goes to its address as it came, with a token for this task alone, and its signed result comes back whole", async () => {
    const [id, trace] = [newId(), newId()];
    answer = (it) => ({ status: 200, body: { ...resultFor(it), odd: { kept: [1] } } });
    const reply = await give(
      { id, context: { entity: { a: 1 } }, later_field: { deep: [true] }, deadline: served.seconds() + 60 },
      { "x-trace-id": trace },
    );
    expect(reply).toMatchObject({
      status: 200,
      body: { task_id: id, status: "success", output: { text: "done" }, odd: { kept: [1] } },
    });
    const [{ path, headers, body } = {} as Taken, ...others] = taken;
    expect(others).toEqual([]);
    expect(path).toBe("/base/v1/execute");
    expect(body).toMatchObject({
      id,
      later_field: { deep: [true] },
      inputs: { prompt: "p" },
      context: { entity: { a: 1 }, trace_id: trace },
    });
    expect((body.context.services as { agents: object[] }).agents).toContainEqual(
      expect.objectContaining({ name: "echo" }),
    );
    expect(headers).toMatchObject({ "x-trace-id": trace, authorization: `Bearer ${body.token}` });
    const { key } = ensureIdentity(served.stateDir, ORCHESTRATOR);
    const issuer = verifierOf({ algorithm: "Ed25519", publicKey: publicTextOf(key) })!;
    expect(readToken(body.token, { now: served.seconds(), issuer, iss: ORCHESTRATOR })).toMatchObject({
      ...{ sub: "sender", cid: id, cap: ["llm:chat"], exp: served.seconds() + 3_600 },
    });
    // The agent cannot ask anything here with it.
    const asked = await send(
      served.base,
      "GET",
      "/v1/services",
      undefined,
      headers as Record<string, string>,
    );
    expect(asked.status).toBe(401);
  });

  it("keeps each member as its sender wrote it, in both directions, so that the agent's signature holds", async () => {
    const id = newId();
    const odd = '{"z": 1.0e2,"10":"\\u003c","a":null}';
    answer = (it) => {
      const output = { zebra: 1, apple: { z: "z", a: 1 } };
      return { status: 200, body: JSON.stringify(resultFor(it, output)).replace(/}$/, `,"odd":${odd}}`) };
    };
    const asked = `{"target_agent":"helper","id":"${id}","inputs":{"prompt":"p"},"later_field":${odd}}`;
    const reply = await sender.send("POST", "/v1/task", asked);
    expect(taken.map(({ text }) => text.includes(`"later_field":${odd}`))).toEqual([true]);
    const again = await sender.send("GET", `/v1/task/${id}`);
    for (const { text } of [reply, again]) {
      expect(text).toContain(`"odd":${odd}`);
      const body = readBody(Buffer.from(text));
      const verifier = verifierOf({ algorithm: "Ed25519", publicKey: publicTextOf(helper.key) })!;
      expect(profileOfSignature(verifier, "result", body, body.value.signature)).toBe("literal");
    }
  });

  it("has one result: a repeat is told it, also after a restart, and the agent is not asked again", async () => {
    const id = newId();
    const first = await give({ id });
    answer = (it) => ({ status: 200, body: resultFor(it, { text: "another" }) });
    expect((await give({ id })).body).toEqual(first.body);
    expect((await sender.send("GET", `/v1/task/${id}`)).body).toEqual(first.body);
    const next = await makeServed("Ed25519", served.stateDir);
    try {
      next.pass(served.seconds() - next.seconds());
      const again = new RemoteAgent(next.base, "sender", { clock: next.seconds });
      again.key = sender.key;
      again.token = sender.token;
      expect((await give({ id }, {}, again)).body).toEqual(first.body);
    } finally {
      next.stop();
    }
    expect(taken).toHaveLength(1);
    expect(await give({ id, inputs: { prompt: "other" } })).toMatchObject({
      status: 409,
      body: { detail: { reason: "task_id_reused" } },
    });
  });

  it("given twice at once reaches the agent once", async () => {
    const id = newId();
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    answer = async (it) => {
      await gate;
      return works(it);
    };
    const both = [give({ id }), give({ id })];
    const early = await give({ id }, { prefer: "respond-async" });
    expect(early).toMatchObject({ status: 202, body: { status: "accepted" } });
    expect((await sender.send("GET", `/v1/task/${id}`)).status).toBe(202);
    open();
    const [one, other] = await Promise.all(both);
    expect(one).toMatchObject({ status: 200 });
    expect(other!.body).toEqual(one!.body);
    expect(taken).toHaveLength(1);
  });

  describe("that its sender ends", () => {
    /** A task that the agent works at until somebody calls `finish`. */
    const working = async (id: string) => {
      let finish = (_: object): void => undefined;
      const over = new Promise<object>((resolve) => {
        finish = resolve;
      });
      answer = async (it) => ({ status: 200, body: signedEnd(it.body.id, await over) });
      expect(await give({ id }, { prefer: "respond-async" })).toMatchObject({ status: 202 });
      return () => finish({ error: { code: "CANCELLED", message: "ended" } });
    };
    const signedEnd = (task_id: string, output: object) => {
      const covered = { task_id, status: "failed", output };
      return { ...covered, signature: signText(helper.key, JSON.stringify(covered)), duration_ms: 3 };
    };
    const cancelled = {
      task_id: expect.any(String),
      status: "failed",
      output: { error: { code: "CANCELLED" } },
    };

    it("is ended at its agent, with a token for this task, and the signed end is kept", async () => {
      const id = newId();
      const finish = await working(id);
      const ends: Taken[] = [];
      end = (it) => {
        ends.push(it);
        finish();
        return { status: 202, body: { status: "accepted" } };
      };
      expect(await sender.send("DELETE", `/v1/task/${id}`)).toMatchObject({ status: 200, body: cancelled });
      expect(ends.map(({ path }) => path)).toEqual([`/base/v1/task/${id}`]);
      const [{ headers } = {} as Taken] = ends;
      const claims = JSON.parse(
        Buffer.from(headers.authorization!.split(".")[1]!, "base64url").toString("utf8"),
      );
      expect(claims).toMatchObject({ sub: "sender", cid: id });
      expect(await sender.send("GET", `/v1/task/${id}`)).toMatchObject({ status: 200, body: cancelled });
      expect(await sender.send("DELETE", `/v1/task/${id}`)).toMatchObject({ status: 200, body: cancelled });
      expect(ends).toHaveLength(1);
    });

    it("has the end at once where its agent signs it in the answer", async () => {
      const id = newId();
      const finish = await working(id);
      const said = { error: { code: "CANCELLED" } };
      end = () => ({ status: 200, body: signedEnd(id, said) });
      expect(await sender.send("DELETE", `/v1/task/${id}`)).toMatchObject({ status: 200, body: cancelled });
      finish();
    });

    it.each([
      ["knows no such path", { status: 404, body: {} }, 409, "task_elsewhere"],
      ["takes no such method", { status: 405, body: {} }, 409, "task_elsewhere"],
      ["refuses", { status: 403, body: { error: "not yours" } }, 403, "agent_refused"],
      ["fails", { status: 500, body: {} }, 502, "agent_refused"],
    ] as const)("goes on where its agent %s", async (_, said, status, reason) => {
      const id = newId();
      const finish = await working(id);
      end = () => said;
      expect(await sender.send("DELETE", `/v1/task/${id}`)).toMatchObject({
        status,
        body: { detail: { reason } },
      });
      expect((await sender.send("GET", `/v1/task/${id}`)).status).toBe(202);
      finish();
    });

    it("is its sender's alone to end", async () => {
      const id = newId();
      const finish = await working(id);
      expect((await helper.send("DELETE", `/v1/task/${id}`)).status).toBe(404);
      finish();
    });
  });

  it("waits for an approval there, and has its result later", async () => {
    const id = newId();
    const covered = { task_id: id, status: "pending_approval", output: {} };
    const pending = { ...covered, signature: signText(helper.key, JSON.stringify(covered)), duration_ms: 0 };
    answer = () => ({ status: 200, body: pending });
    expect((await give({ id })).body.status).toBe("pending_approval");
    answer = works;
    expect((await give({ id })).body.status).toBe("success");
  });

  it("of a place too many has 429, and is taken later", async () => {
    answer = () => "never";
    const waiting = [newId(), newId()];
    for (const id of waiting) expect((await give({ id }, { prefer: "respond-async" })).status).toBe(202);
    const id = newId();
    expect(await give({ id })).toMatchObject({ status: 429, body: { code: "RATE_LIMITED" } });
    listener.closeAllConnections();
    answer = works;
    await expect.poll(async () => (await give({ id })).status).toBe(200);
  });
});

describe("an agent that does not do it", () => {
  const REFUSALS: readonly (readonly [string, Answer, number, string, string])[] = [
    [
      "refuses the request",
      { status: 400, body: { error: "no", code: "INVALID_REQUEST" } },
      400,
      "INVALID_REQUEST",
      "agent_refused",
    ],
    ["forbids it", { status: 403, body: { error: "no" } }, 403, "FORBIDDEN", "agent_refused"],
    [
      "refuses this server",
      { status: 401, body: { error: "no" } },
      502,
      "AGENT_UNREACHABLE",
      "agent_refused",
    ],
    ["is full", { status: 429, body: { error: "full" } }, 429, "RATE_LIMITED", "agent_refused"],
    ["fails", { status: 500, body: "<html>" }, 502, "AGENT_UNREACHABLE", "agent_refused"],
    ["leads elsewhere", { status: 302, body: "" }, 502, "AGENT_UNREACHABLE", "agent_refused"],
    [
      "is not ready in its time",
      { status: 504, body: { error: "later" } },
      504,
      "AGENT_TIMEOUT",
      "task_goes_on",
    ],
    ["answers no JSON", { status: 200, body: "<html>" }, 502, "AGENT_UNREACHABLE", "answer_unreadable"],
    [
      "answers no result",
      { status: 200, body: { status: "success" } },
      502,
      "AGENT_UNREACHABLE",
      "answer_unreadable",
    ],
  ];
  it.each(REFUSALS)("%s", async (_what, said, status, code, reason) => {
    answer = () => said;
    const id = newId();
    expect(await give({ id })).toMatchObject({ status, body: { code, detail: { reason } } });
    // Nothing is settled: the same request is given again, as another request of HTTP.
    answer = works;
    expect((await give({ id })).status).toBe(200);
    expect(new Set(taken.map(({ headers }) => headers["x-request-id"])).size).toBe(2);
    expect(new Set(taken.map(({ body }) => body.id))).toEqual(new Set([id]));
  });

  it.each([
    ["of another key", (it: Taken) => resultFor(it, {}, newKey(ALGORITHMS.Ed25519))],
    ["of another task", ({ body }: Taken) => resultFor({ body: { ...body, id: newId() } })],
    ["that was changed", (it: Taken) => ({ ...resultFor(it), output: { text: "tampered" } })],
  ] as const)("has a result %s, which counts for nothing", async (_what, said) => {
    answer = (it) => ({ status: 200, body: said(it) });
    const id = newId();
    expect(await give({ id })).toMatchObject({
      status: 502,
      body: { code: "AGENT_UNREACHABLE", category: "transient", detail: { reason: "result_unproven" } },
    });
    expect((await sender.send("GET", `/v1/task/${id}`)).status).toBe(404);
  });

  it("is away: the contract's error, also for a sender that does not wait", async () => {
    const away = new RemoteAgent(served.base, "away", { clock: served.seconds });
    await rightsOf(away, [], { url: "http://127.0.0.1:1" });
    served.grant("away", "http:receive");
    for (const headers of [undefined, { prefer: "respond-async" }])
      expect(await give({ id: newId(), target_agent: "away" }, headers)).toMatchObject({
        status: 502,
        body: {
          code: "AGENT_UNREACHABLE",
          category: "transient",
          retryable: true,
          detail: { reason: "agent_silent" },
        },
      });
    served.pass(86_401);
    await rightsOf(sender, ["agent:message", "llm:chat"]);
    expect(await give({ id: newId(), target_agent: "away" })).toMatchObject({
      status: 502,
      body: { detail: { reason: "agent_offline" } },
    });
    await rightsOf(helper, ["llm:chat"], { url: `${url}/base/`, max_concurrent: 2 });
  });

  it("has not answered at the deadline: the request ends, and no later result counts", async () => {
    answer = () => "never";
    const id = newId();
    const reply = await give({ id, deadline: served.seconds() + 1 });
    expect(reply).toMatchObject({ status: 504, body: { code: "AGENT_TIMEOUT" } });
    served.pass(2);
    answer = works;
    expect(await give({ id, deadline: served.seconds() - 1 })).toMatchObject({
      status: 504,
      body: { retryable: false, detail: { reason: "deadline_passed" } },
    });
    expect(taken).toHaveLength(1);
  });
});

describe("rights and addresses", () => {
  it("no task goes to an agent that nobody has allowed, nor from a sender without the rights that it needs", async () => {
    const plain = new RemoteAgent(served.base, "plain", { clock: served.seconds });
    await rightsOf(plain, ["llm:chat"], { url });
    expect(await give({ id: newId(), target_agent: "plain" })).toMatchObject({
      status: 403,
      body: { code: "FORBIDDEN", detail: { reason: "agent_takes_no_tasks" } },
    });
    expect(await give({ id: newId() }, {}, plain)).toMatchObject({
      status: 403,
      body: { detail: { reason: "capability_missing", missing: ["agent:message", "llm:chat"] } },
    });
    expect(await give({ id: newId(), target_agent: "nobody" })).toMatchObject({ status: 404 });
    expect(taken).toEqual([]);
  });

  it.each([
    ["http://169.254.169.254", "address_forbidden"],
    ["http://10.0.0.1", "address_forbidden"],
  ])("%s is not spoken to", async (bad, reason) => {
    const name = `bad-${randomBytes(4).toString("hex")}`;
    const agent = new RemoteAgent(served.base, name, { clock: served.seconds });
    await rightsOf(agent, [], { url: bad });
    served.grant(name, "http:receive");
    expect(await give({ id: newId(), target_agent: name })).toMatchObject({
      status: 502,
      body: { detail: { reason } },
    });
  });

  it("a result that was removed is not made again, and another holder of the name does not get the task", async () => {
    const [id, open] = [newId(), newId()];
    await give({ id });
    answer = () => ({ status: 500, body: {} });
    await give({ id: open });
    served.pass((WEBLISK_RESULT_KEEP_MS + (WEBLISK_FORWARD_KEEP_MS - WEBLISK_RESULT_KEEP_MS) / 2) / 1_000);
    await rightsOf(sender, ["agent:message", "llm:chat"]);
    await rightsOf(helper, ["llm:chat"], { url: `${url}/base/`, max_concurrent: 2 });
    taken.length = 0;
    expect((await give({ id })).status).toBe(410);
    expect(await give({ id: open })).toMatchObject({ status: 410, body: { code: "RETENTION_EXPIRED" } });
    const later = newId();
    await give({ id: later });
    await helper.send("DELETE", "/v1/register");
    const other = new RemoteAgent(served.base, "helper", { clock: served.seconds });
    await rightsOf(other, ["llm:chat"], { url });
    served.grant("helper", "http:receive");
    expect(await give({ id: later })).toMatchObject({
      status: 404,
      body: { detail: { reason: "agent_replaced" } },
    });
    expect(taken).toHaveLength(1);
  });
});
