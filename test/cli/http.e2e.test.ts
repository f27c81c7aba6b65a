/** HTTP as its users meet it: a daemon, a token, curl-like requests, a client made from the document, and what is refused. */
import { connect } from "node:net";
import { Ajv2020 } from "ajv/dist/2020.js";
import { OpenAPIClientAxios } from "openapi-client-axios";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { REQUEST_MAX_BYTES } from "../../src/base/limits.ts";
import { hasPromtool, promtoolFindings } from "../support/promtool.ts";
import { type Commands, makeCommands, until } from "./support/commands.ts";

let commands: Commands;
let url = "";
let secret = "";
beforeAll(async () => {
  commands = makeCommands();
  const { data } = await commands.agent("daemon", "start", "--http=0");
  url = (data.http as { url: string }).url;
  secret = (await commands.text("token", "create", "phone")).stdout.trim();
});
afterAll(() => commands.close());

const authorised = (): Record<string, string> => ({ authorization: `Bearer ${secret}` });

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the body of any answer
  readonly body: any;
}

const ask = async (path: string, init: RequestInit = {}): Promise<Reply> => {
  const response = await fetch(`${url}${path}`, { ...init, headers: { ...authorised(), ...init.headers } });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
};

const post = (path: string, data: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  ask(path, {
    method: "POST",
    body: typeof data === "string" ? data : JSON.stringify(data),
    headers: { "content-type": "application/json", ...headers },
  });

const spec = (script: string, more: object = {}) => ({
  spec: { kind: "command", argv: ["sh", "-c", script], cwd: "/tmp", restart: "temporary", ...more },
});

/** The events of a stream until `isEnough`, or its end. */
const eventsOf = async (
  path: string,
  isEnough: (data: readonly { readonly seq: number; readonly type: string }[]) => boolean,
  headers: Record<string, string> = {},
) => {
  const abort = new AbortController();
  const response = await fetch(`${url}${path}`, {
    headers: { ...authorised(), ...headers },
    signal: abort.signal,
  });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const events: { id: string; data: { seq: number; type: string } }[] = [];
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const blocks = `${text}${chunk}`.split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const [, id] = /^id: (.*)$/m.exec(block) ?? [];
      const [, data] = /^data: (.*)$/m.exec(block) ?? [];
      if (id !== undefined && data !== undefined) events.push({ id, data: JSON.parse(data) });
    }
    if (isEnough(events.map(({ data }) => data))) break;
  }
  abort.abort();
  return events;
};

describe("a client made from the document", () => {
  it("spawns, watches and kills, and every answer matches its schema", async () => {
    const document = (await ask("/api/openapi.json")).body;
    const api = new OpenAPIClientAxios({
      definition: document,
      withServer: { url },
      axiosConfigDefaults: { headers: authorised(), validateStatus: null },
    });
    // biome-ignore lint/suspicious/noExplicitAny: the operations are known at run time
    const client = (await api.init()) as any;
    const ajv = new Ajv2020({ strict: false, formats: { "date-time": true, starts_with: true } }).addSchema(
      document,
      "doc",
    );
    const check = (path: string, method: "get" | "post", data: unknown): void => {
      const pointer = `/paths/${path.replaceAll("/", "~1")}/${method}/responses/200/content/application~1json/schema`;
      const validate = ajv.compile({ $ref: `doc#${pointer}` });
      validate(data);
      expect(validate.errors ?? [], `${path}: ${JSON.stringify(data).slice(0, 500)}`).toEqual([]);
    };
    const spawned = (
      await client.agentSpawn(null, spec("echo ready; exec sleep 1000", { name: "by-client" }))
    ).data;
    check("/api/agent/spawn", "post", spawned);
    const { id } = spawned.data;
    await eventsOf(`/api/events?ids=${id}&after=0`, (all) => all.some(({ type }) => type === "agent.event"));
    const reads: readonly [operation: string, path: string, query: object][] = [
      ["agentInfoByQuery", "/api/agent/info", { id }],
      ["agentListByQuery", "/api/agent/list", { limit: 10 }],
      ["agentTreeByQuery", "/api/agent/tree", {}],
      ["agentWhyByQuery", "/api/agent/why", { id }],
      ["agentUsageByQuery", "/api/agent/usage", {}],
      ["agentInboxByQuery", "/api/agent/inbox", {}],
      ["agentOutputByQuery", "/api/agent/output", { id }],
      ["agentRawByQuery", "/api/agent/raw", { id, stream: "stdout" }],
      ["agentCapabilitiesByQuery", "/api/agent/capabilities", {}],
      ["jobsListByQuery", "/api/jobs/list", {}],
      ["bbListByQuery", "/api/bb/list", {}],
      ["scheduleListByQuery", "/api/schedule/list", {}],
      ["skillListByQuery", "/api/skill/list", { workspace: "/tmp" }],
      ["tokenListByQuery", "/api/token/list", {}],
      ["daemonStatusByQuery", "/api/daemon/status", {}],
      ["protocolHelloByQuery", "/api/protocol/hello", {}],
      ["dbCheckByQuery", "/api/db/check", {}],
    ];
    for (const [operation, path, query] of reads) check(path, "get", (await client[operation](query)).data);
    const killed = (await client.agentKill(null, { ids: [id], reason: "by the client" })).data;
    check("/api/agent/kill", "post", killed);
    const records = (await ask(`/api/agent/watch?ids=${id}&follow=false&from=0`)).body as string;
    expect(records).toContain('"type":"worker_cancelled"');
    // The deeds have the name of the token.
    expect(records).toContain('"by":"user:phone"');
  });
});

describe("events", () => {
  it("go on behind the last id, once each and in order, over a kill -9 of the daemon", async () => {
    const { body } = await post(
      "/api/agent/spawn",
      spec("for n in 1 2 3 4 5 6 7 8; do echo $n; done; exec sleep 1000"),
    );
    const id = body.data.id as string;
    const lines = (all: readonly { readonly type: string }[]): number =>
      all.filter(({ type }) => type === "agent.event").length;
    const before = await eventsOf(`/api/events?ids=${id}&after=0`, (all) => lines(all) >= 3);
    await commands.killDaemon();
    const { data } = await commands.agent("daemon", "start", `--http=${new URL(url).port}`);
    expect(data.http).toEqual({ url, trouble: null });
    const after = await eventsOf(
      `/api/events?ids=${id}`,
      (all) => lines(all) >= 8 - lines(before.map((one) => one.data)),
      {
        "last-event-id": before.at(-1)!.id,
      },
    );
    const seqs = [...before, ...after].map((one) => one.data.seq);
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    await post("/api/agent/kill", { ids: [id] });
  });

  it("end by themselves where the watch does", async () => {
    const { body } = await post("/api/agent/spawn", spec("echo once"));
    const response = await fetch(`${url}/api/events?ids=${body.data.id}&after=0&follow=false`, {
      headers: authorised(),
    });
    expect(await response.text()).toMatch(/event: end\ndata: \{\}\n\n$/);
  });

  it.each([
    ["/api/events?ids=nobody", 404, "WORKER_NOT_FOUND"],
    ["/api/events?after=x", 400, "INVALID_REQUEST"],
    ["/api/events?after=01M8D026YW2QHBN6JQMGZP6174:3", 409, "CURSOR_UNKNOWN"],
  ])("%s is a typed error", async (path, status, code) => {
    const reply = await ask(path);
    expect([reply.status, reply.body.error.details.code]).toEqual([status, code]);
  });
});

describe("a request", () => {
  it("with an idempotency key is carried out once", async () => {
    const key = { "idempotency-key": "one-of-them" };
    const first = await post("/api/agent/spawn", spec("exit 0"), key);
    const second = await post("/api/agent/spawn", spec("exit 0"), key);
    expect(second.body.data).toMatchObject({ id: first.body.data.id, effect: "noop" });
  });

  it("is answered in every script, with its bytes counted", async () => {
    const label = "é € 日本 \u{1f680}";
    const { body } = await post("/api/agent/spawn", spec("exit 0", { labels: { label } }));
    const { body: told } = await ask(`/api/agent/info?id=${body.data.id}`);
    expect(told.data.spec.labels).toEqual({ label });
  });

  it("has its own id in the answer", async () =>
    expect((await ask("/api/agent/list", { headers: { "x-request-id": "mine" } })).body.meta.request_id).toBe(
      "mine",
    ));

  it("reads an artifact", async () => {
    const put = await commands.agent("cas", "put", "/etc/hostname");
    const digest = put.data.digest as string;
    expect((await ask(`/api/artifacts/${digest}`)).status).toBe(200);
    const missing = await ask(`/api/artifacts/sha256:${"0".repeat(64)}`);
    expect([missing.status, missing.body.error.details.code]).toEqual([404, "ARTIFACT_NOT_FOUND"]);
  });

  it.each([
    ["{", 400, "PARSE_ERROR"],
    ['{"ids":[],"ids":[]}', 400, "ENVELOPE_INVALID"],
    ["[]", 400, "ENVELOPE_INVALID"],
    [`{"ids":${"[".repeat(200)}${"]".repeat(200)}}`, 413, "REQUEST_TOO_LARGE"],
    ['{"idz":[]}', 400, "INVALID_REQUEST"],
  ])("with the body %s is a typed error", async (body, status, code) => {
    const reply = await post("/api/agent/kill", body);
    expect([reply.status, reply.body.error.details.code]).toEqual([status, code]);
  });
});

describe("the doors", () => {
  const bare = (path: string, headers: Record<string, string> = {}) => fetch(`${url}${path}`, { headers });

  it("tell only whether the supervisor works to somebody without a token", async () => {
    expect(await (await bare("/healthz")).json()).toEqual({ status: "ok" });
    for (const path of [
      "/metrics",
      "/api/openapi.json",
      "/api/events",
      "/api/agent/list",
      "/api/nothing/here",
    ]) {
      const reply = await bare(path);
      expect([path, reply.status, reply.headers.get("www-authenticate")]).toEqual([path, 401, "Bearer"]);
    }
  });

  it("open for no other token: not the daemon's own, not a revoked one", async () => {
    const revoked = (await commands.text("token", "create", "gone")).stdout.trim();
    expect((await bare("/api/agent/list", { authorization: `Bearer ${revoked}` })).status).toBe(200);
    await commands.agent("token", "revoke", "gone");
    expect((await bare("/api/agent/list", { authorization: `Bearer ${revoked}` })).status).toBe(401);
    const { readFileSync } = await import("node:fs");
    const own = readFileSync(`${commands.home}/daemon.token`, "utf8").trim();
    expect((await bare("/api/agent/list", { authorization: `Bearer ${own}` })).status).toBe(401);
  });

  it("refuse a foreign origin and a secret in a URL, and log it without the secret", async () => {
    expect((await ask("/api/agent/list", { headers: { origin: "http://evil.example" } })).status).toBe(403);
    expect((await ask(`/api/agent/list?token=${secret}`)).status).toBe(403);
    const { readFileSync } = await import("node:fs");
    const log = readFileSync(`${commands.home}/daemon.log`, "utf8");
    expect(log).toContain('"door":"origin"');
    expect(log).toContain('"door":"secret_in_url"');
    expect(log).not.toContain(secret);
  });

  /** The server's answer to these bytes, until it closes. */
  const raw = (bytes: string): Promise<string> =>
    new Promise((resolve) => {
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname);
      let got = "";
      socket.on("data", (chunk) => {
        got += chunk;
      });
      socket.on("error", () => undefined).on("close", () => resolve(got));
      socket.write(bytes);
    });
  const head = (more: string) => `POST /api/agent/kill HTTP/1.1\r\nHost: ${new URL(url).host}\r\n${more}`;

  it("refuse another Host", async () =>
    expect(
      await raw(`GET /api/agent/list HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`),
    ).toMatch(/^HTTP\/1\.1 403 [\s\S]*"door":"host"/));

  it("refuse a body that says it is too large before they read it, and one that turns out to be", async () => {
    const auth = `Authorization: Bearer ${secret}\r\nContent-Type: application/json\r\n`;
    expect(await raw(head(`${auth}Content-Length: 104857600\r\n\r\n{`))).toMatch(/^HTTP\/1\.1 413 /);
    const chunk = "x".repeat(REQUEST_MAX_BYTES + 1);
    expect(
      await raw(
        head(`${auth}Transfer-Encoding: chunked\r\n\r\n${chunk.length.toString(16)}\r\n${chunk}\r\n`),
      ),
    ).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("refuse bytes that are no HTTP, headers without an end, and another protocol", async () => {
    expect(await raw("hello\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    expect(await raw(head(`A: ${"a".repeat(20_000)}\r\n\r\n`))).toMatch(/^HTTP\/1\.1 431 /);
    expect(
      await raw(
        `GET / HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n`,
      ),
    ).toMatch(/^HTTP\/1\.1 400 /);
  });

  it("close on a client that does not end its head", async () => {
    expect(await raw("GET /healthz HTTP/1.1\r\nHost: ")).toMatch(/^HTTP\/1\.1 408 /);
  });

  it("are as strict with a question that was answered before, and its answer is new each time", async () => {
    const { body } = await post("/api/agent/spawn", spec("sleep 1000"));
    const path = `/api/agent/info?id=${body.data.id}`;
    const passing = (await commands.text("token", "create", "passing")).stdout.trim();
    const asked = (headers: Record<string, string> = { authorization: `Bearer ${passing}` }) =>
      bare(path, headers);
    expect([(await asked()).status, (await asked()).status]).toEqual([200, 200]);
    expect((await ask(path, { headers: { "x-request-id": "mine" } })).body.meta.request_id).toBe("mine");
    expect((await ask(path)).body.meta).not.toHaveProperty("request_id");
    expect((await asked({})).status).toBe(401);
    expect((await ask(path, { headers: { origin: "http://evil.example" } })).status).toBe(403);
    await commands.agent("token", "revoke", "passing");
    expect((await asked()).status).toBe(401);
    await post("/api/agent/kill", { ids: [body.data.id] });
    await until(async () => (await ask(path)).body.data.status === "cancelled");
  });
});

describe("/metrics", () => {
  it("names the daemon's own numbers, in the text format of Prometheus", async () => {
    const { status, headers, body } = await ask("/metrics");
    expect([status, headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
    expect(body).toMatch(/^holdfast_info\{version="[^"]+"\} 1$/m);
    expect(body).toMatch(/^holdfast_workers_live \d+$/m);
  });

  it.skipIf(!hasPromtool)("has nothing that promtool finds fault with", async () => {
    const { body } = await ask("/metrics");
    expect(promtoolFindings(body)).toBe("");
    expect(promtoolFindings("# TYPE bytes counter\nbytes 1\n")).not.toBe("");
  });
});

describe("the flag", () => {
  it("asks for an address", async () =>
    expect((await commands.agent("daemon", "start", "--http=example.com:80")).error).toMatchObject({
      code: "INVALID_REQUEST",
    }));

  it("says that a daemon runs already without it, and what to do", async () => {
    const other = makeCommands();
    try {
      await other.agent("daemon", "start");
      const again = await other.agent("daemon", "start", "--http");
      expect(again.error).toMatchObject({ code: "INVALID_STATE" });
      expect(again.error?.suggestion).toContain("--keep-agents");
    } finally {
      await other.close();
    }
  });

  it("says that the port is taken; the daemon runs, and listens once it is free", async () => {
    const other = makeCommands();
    try {
      const taken = await other.agent("daemon", "start", `--http=${new URL(url).port}`);
      expect(taken.error).toMatchObject({ code: "UNAVAILABLE" });
      expect((await other.agent("list")).exit).toBe(0);
      const pid = await other.daemonPid();
      await commands.agent("daemon", "stop", "--keep-agents");
      await until(
        async () =>
          ((await other.agent("daemon", "status")).data.http as { url: string | null }).url !== null,
      );
      expect(await other.daemonPid()).toBe(pid);
    } finally {
      await other.close();
    }
  });
});
