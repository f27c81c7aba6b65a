/** A task at an orchestrator elsewhere, over HTTP: what is believed, what is tried again, and what never comes to an end by itself. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { RemoteLine, RemoteTaskOrder } from "../../../src/protocol/weblisk-lines.ts";
import { exchange } from "../../../src/weblisk/client/exchange.ts";
import { OrchestratorClient } from "../../../src/weblisk/client/orchestrator.ts";
import { RemoteTask, type RemoteTaskGround } from "../../../src/weblisk/client/remote-task.ts";
import { rotateIdentity } from "../../../src/weblisk/identity/key-files.ts";
import { ServerFiles } from "../../../src/weblisk/server/files.ts";
import { makeServed, type Served } from "../support/served.ts";

let served: Served;
let stateDir: string;
let told: RemoteLine[];
const servers: Server[] = [];

beforeAll(async () => {
  served = await makeServed();
});
afterAll(() => served.close());
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "holdfast-client-"));
  told = [];
});
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
  rmSync(stateDir, { recursive: true, force: true });
});

/** No pause takes time; the client's clock is the server's, and moves by what it waits. */
const groundOf = (directory = stateDir): RemoteTaskGround => {
  let waited = 0;
  return {
    stateDir: directory,
    files: new ServerFiles(directory),
    exchange,
    now: () => served.seconds() * 1_000 + waited,
    pause: async (ms) => {
      waited += ms;
    },
    randomBytes,
    random: () => 0,
    tell: (line) => told.push(line),
  };
};

const orderOf = (prompt: string, more: Partial<RemoteTaskOrder> = {}): RemoteTaskOrder => ({
  task_id: randomBytes(16).toString("hex"),
  agent: "echo",
  inputs: { prompt },
  priority: "normal",
  deadline: served.seconds() + 3_600,
  trace_id: "a".repeat(32),
  ...more,
});

/** `call_ms` is longer than a loaded machine takes to answer. */
const PATIENCE = { unheard_ms: 2_000, lost_ms: 2_000, call_ms: 20_000 };
const never = new AbortController().signal;

const taskAt = (url: string, order: RemoteTaskOrder, ground = groundOf(), patience = PATIENCE) =>
  new RemoteTask(ground, { url, isPrivateAllowed: true }, order, patience);

/** Registered, with the rights that the agent needs. */
const granted = async (url = served.base): Promise<string> => {
  const client = new OrchestratorClient(groundOf(), { url, isPrivateAllowed: true });
  const { name } = await client.register();
  served.grant(name);
  return name;
};

const listening = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

interface Passing {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly text: string;
}

/** Stands between: passes everything on, and changes what comes back. */
const between = (change: (passing: Passing) => Partial<Passing> | undefined): Promise<string> =>
  listening((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", async () => {
      const { method = "", url: path = "" } = request;
      const { host: _, connection: __, ...headers } = request.headers as Record<string, string>;
      const body = parts.length === 0 ? {} : { body: Buffer.concat(parts) };
      delete headers["content-length"];
      const reply = await fetch(`${served.base}${path}`, { method, headers, ...body });
      const whole = { method, path, status: reply.status, text: await reply.text() };
      const { status, text } = { ...whole, ...change(whole) };
      response.writeHead(status, { "content-type": "application/json" }).end(text);
    });
  });

const isResult = ({ text }: Passing): boolean => text.includes('"duration_ms"');
const changed = (passing: Passing, edit: (body: Record<string, unknown>) => void): Partial<Passing> => {
  const body = JSON.parse(passing.text) as Record<string, unknown>;
  edit(body);
  return { text: JSON.stringify(body) };
};

it("gets the signed result, and a repeat in another process is the same task", async () => {
  await granted();
  const order = orderOf("hello");
  const before = served.orders.length;
  const first = await taskAt(served.base, order).result(never);
  expect(first).toMatchObject({ status: "success", output: { text: "hello", agent_name: "echo" } });
  expect(await taskAt(served.base, order).result(never)).toEqual(first);
  expect(served.orders.length).toBe(before + 1);
});

it("registers by itself, and says which right it lacks; a right that is given later is used at once", async () => {
  const order = orderOf("hello");
  const refused = await taskAt(served.base, order)
    .result(never)
    .catch((cause: unknown) => cause);
  expect(refused).toMatchObject({ code: "PERMISSION_DENIED", message: expect.stringContaining("llm:chat") });
  const [, name = ""] = /agent weblisk grant (\S+)/.exec((refused as Error).message) ?? [];
  served.grant(name);
  expect(await taskAt(served.base, order).result(never)).toMatchObject({ status: "success" });
});

it("an agent that fails has a failed result, and one that nobody lists is told", async () => {
  await granted();
  await expect(taskAt(served.base, orderOf("x", { agent: "nobody" })).result(never)).rejects.toMatchObject({
    code: "INVALID_REQUEST",
  });
});

it("tells that a person there is asked, once", async () => {
  await granted();
  const order = orderOf("ask me", { deadline: served.seconds() + 60 });
  await expect(taskAt(served.base, order, groundOf(), PATIENCE).result(never)).rejects.toMatchObject({
    code: "TIMEOUT",
  });
  expect(told).toEqual([
    { type: "given", task_id: order.task_id },
    { type: "waits", for: "approval" },
  ]);
});

it("a stop ends the task there, before anything else is asked", async () => {
  await granted();
  const stop = new AbortController();
  stop.abort();
  await expect(taskAt(served.base, orderOf("wait")).result(stop.signal)).rejects.toMatchObject({
    code: "WORKER_CANCELLED",
  });
});

describe("an answer that is not believed", () => {
  const edits: readonly (readonly [string, (body: Record<string, unknown>) => void, RegExp])[] = [
    [
      "another text",
      (body) => Object.assign(body, { output: { ...(body.output as object), text: "tampered" } }),
      /not signed by the key/,
    ],
    [
      "a wrong signature",
      (body) => Object.assign(body, { signature: "0".repeat(128), signature_jcs: "0".repeat(128) }),
      /not signed by the key/,
    ],
    [
      "no signature",
      (body) => Object.assign(body, { signature: "", signature_jcs: undefined }),
      /not signed by the key/,
    ],
    ["another task", (body) => Object.assign(body, { task_id: "b".repeat(32) }), /not signed by the key/],
    [
      "changes that nobody signed",
      (body) => Object.assign(body, { changes: [{ path: "/etc/passwd", action: "delete" }] }),
      /changes are not those/,
    ],
  ];
  it.each(edits)("%s", async (_what, edit, why) => {
    const url = await between((passing) => (isResult(passing) ? changed(passing, edit) : undefined));
    await granted(url);
    await expect(taskAt(url, orderOf("hello")).result(never)).rejects.toMatchObject({
      code: "PEER_UNTRUSTED",
      message: expect.stringMatching(why),
    });
  });

  it("the result of another request", async () => {
    await granted();
    const order = orderOf("one");
    await taskAt(served.base, order).result(never);
    const url = await between((passing) =>
      passing.path === "/v1/task" ? { status: 200, text: kept } : undefined,
    );
    const kept = await (async () => {
      const client = new OrchestratorClient(groundOf(), { url: served.base, isPrivateAllowed: true });
      const reply = await client.call("GET", `/v1/task/${order.task_id}`);
      return JSON.stringify((reply as { body: { value: object } }).body.value);
    })();
    await granted(url);
    await expect(taskAt(url, { ...order, inputs: { prompt: "two" } }).result(never)).rejects.toMatchObject({
      code: "PEER_UNTRUSTED",
      message: expect.stringMatching(/another request/),
    });
  });

  it("one of a key that is not the first that was seen; new keys are taken when a person says so", async () => {
    const own = await makeServed();
    try {
      const client = new OrchestratorClient(groundOf(), { url: own.base, isPrivateAllowed: true });
      own.grant((await client.register()).name);
      await taskAt(own.base, orderOf("one")).result(never);
      rotateIdentity(own.stateDir, "echo", { timestamp: own.seconds(), nonce: "c".repeat(32) });
      const order = orderOf("two");
      await expect(taskAt(own.base, order).result(never)).rejects.toMatchObject({ code: "PEER_UNTRUSTED" });
      await client.register({ isNewKeys: true });
      expect(await taskAt(own.base, order).result(never)).toMatchObject({ status: "success" });
    } finally {
      own.close();
    }
  });

  it("one that is too large, no JSON, or of two readings", async () => {
    for (const text of [`{"a":"${"x".repeat(5 * 1024 * 1024)}"}`, "<html>", '{"a":1,"a":2}']) {
      const url = await listening((_, response) => void response.writeHead(200).end(text));
      await expect(taskAt(url, orderOf("hello")).result(never)).rejects.toMatchObject({
        code: "PEER_UNTRUSTED",
      });
    }
  });
});

describe("addresses", () => {
  it("a redirect is not followed", async () => {
    let asked = 0;
    const target = await listening((_, response) => {
      asked += 1;
      response.end("{}");
    });
    const url = await listening((_, response) => void response.writeHead(307, { location: target }).end());
    await expect(taskAt(url, orderOf("hello")).result(never)).rejects.toMatchObject({
      code: "INVALID_REQUEST",
    });
    expect(asked).toBe(0);
  });

  it.each([
    ["http://169.254.169.254", true],
    ["http://[fd00:ec2::254]", true],
    // A name that leads to this machine.
    ["http://localhost", false],
    // A token over the network without TLS.
    ["http://10.0.0.1", true],
  ])("%s is not spoken to", async (url, isPrivateAllowed) => {
    const task = new RemoteTask(groundOf(), { url, isPrivateAllowed }, orderOf("hello"), PATIENCE);
    await expect(task.result(never)).rejects.toMatchObject({ code: "POLICY_VIOLATION" });
  });
});

describe("patience", () => {
  it("nobody at all, and somebody who never answers, are given up", async () => {
    const url = await listening(() => undefined);
    const [server] = servers;
    const slow = { ...PATIENCE, call_ms: 30, unheard_ms: 1_200 };
    await expect(taskAt(url, orderOf("hello"), groundOf(), slow).result(never)).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    server!.close();
    server!.closeAllConnections();
    await expect(taskAt(url, orderOf("hello"), groundOf(), slow).result(never)).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
  });

  it("failures in between, a full agent, and a forgotten task do not end it", async () => {
    const answers: (Partial<Passing> | undefined)[] = [
      { status: 503, text: "<html>" },
      { status: 429, text: '{"error":"full","code":"RATE_LIMITED"}' },
      { status: 202, text: '{"status":"accepted"}' },
      { status: 500, text: '{"error":"x","code":"INTERNAL_ERROR"}' },
      { status: 404, text: '{"error":"x","code":"NOT_FOUND"}' },
    ];
    const url = await between(({ path }) => (path.startsWith("/v1/task") ? answers.shift() : undefined));
    await granted(url);
    const before = served.orders.length;
    expect(await taskAt(url, orderOf("hello")).result(never)).toMatchObject({ status: "success" });
    expect(told.map((line) => (line.type === "waits" ? line.for : line.type))).toEqual([
      "place",
      "given",
      "given",
    ]);
    expect(served.orders.length).toBe(before + 1);
  });

  it("many processes of one state directory register once", async () => {
    let registrations = 0;
    const url = await between(({ path }) => {
      if (path === "/v1/register") registrations += 1;
      return undefined;
    });
    const name = await granted(url);
    new ServerFiles(stateDir).names("orchestrators").forEach((file) => {
      new ServerFiles(stateDir).remove("orchestrators", file);
    });
    const done = await Promise.all(
      Array.from({ length: 8 }, (_, at) => {
        const ground = { ...groundOf(), pause: () => new Promise((resolve) => setTimeout(resolve, 5)) };
        return taskAt(url, orderOf(`task ${at}`), ground).result(never);
      }),
    );
    expect(done.map(({ status }) => status)).toEqual(Array(8).fill("success"));
    expect(name).toMatch(/^hub-[0-9a-f]{12}$/);
    expect(registrations).toBe(2);
  });
});

it("a connection that is open and silent is let go", async () => {
  const url = await listening((_, response) => void response.writeHead(200).write("{"));
  const { port } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1");
  const reply = await exchange({
    method: "GET",
    url: new URL(url),
    isPrivateAllowed: true,
    timeout_ms: 50,
  });
  socket.destroy();
  expect(reply).toBe("slow");
});
