/**
 * The black-box lists of Weblisk (L1, L2, and what upstream's own command sends to a server and to an agent) over HTTP, row by row, in
 * both signing profiles and with keys of both algorithms.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { canonicalJson } from "../../../src/protocol/canonical-json.ts";
import type { AlgorithmName, SigningProfile } from "../../../src/protocol/words.ts";
import { signText, verifierOf } from "../../../src/weblisk/identity/algorithms.ts";
import { ensureIdentity, ORCHESTRATOR } from "../../../src/weblisk/identity/key-files.ts";
import { profileOfSignature, type SignedOperation } from "../../../src/weblisk/signing/operations.ts";
import { issueToken } from "../../../src/weblisk/signing/tokens.ts";
import { AgentManifest, RegisterResponse } from "../../../src/weblisk/types/agents.ts";
import { ErrorResponse } from "../../../src/weblisk/types/talk.ts";
import { readBody } from "../../../src/weblisk/wire/body.ts";
import { hasVectors, vector, vectorNames } from "../../protocol/vectors.ts";
import { newId, RemoteAgent, send, type WireReply } from "../support/agent.ts";
import { makeServed, type Served } from "../support/served.ts";

interface Setting {
  readonly served: Served;
  readonly algorithm: AlgorithmName;
  readonly profile: SigningProfile;
  /** A new agent, which has registered with the rights to give tasks and to send messages. */
  agent(): Promise<RemoteAgent>;
  /** A new agent that has not registered. */
  stranger(): RemoteAgent;
}

type Row = readonly [id: string, says: string, check: (setting: Setting) => Promise<void>];

const RIGHTS = ["llm:chat", "agent:message"];
const EXECUTE = "/agents/echo/v1/execute";
const MESSAGE = "/agents/echo/v1/message";
const MIB = 1_048_576;

const isRefused = (reply: WireReply, status: number): void => {
  expect(reply.status).toBe(status);
  expect(ErrorResponse.parse(reply.body).error).not.toBe("");
  expect(reply.headers.get("content-type")).toBe("application/json");
};
const bearer = (token: unknown) => ({ authorization: `Bearer ${token}` });
const rights = () => ({ capabilities: RIGHTS.map((name) => ({ name })) });

/** A JSON text of so many bytes. */
const padded = (body: object, bytes: number): string => {
  const text = JSON.stringify({ ...body, pad: "" });
  return text.replace(/""}$/, `"${"x".repeat(bytes - Buffer.byteLength(text))}"}`);
};

/** Whether the agent `echo` has signed the answer, in the profile of its receiver. */
const isSigned = async (
  { served, algorithm, profile }: Setting,
  operation: SignedOperation,
  reply: WireReply,
): Promise<boolean> => {
  const { body } = await send(served.base, "POST", "/agents/echo/v1/describe", {});
  const verifier = verifierOf({ algorithm, publicKey: String(body.public_key) })!;
  const wire = readBody(Buffer.from(reply.text));
  return profileOfSignature(verifier, operation, wire, reply.body.signature, profile) !== undefined;
};

/** A token of this server for a registered agent, with other claims. */
const tokenOf = ({ served }: Setting, sub: string, claims: object): string =>
  issueToken(ensureIdentity(served.stateDir, ORCHESTRATOR).key, {
    ...{ sub, iss: "orchestrator", iat: served.seconds(), exp: served.seconds() + 60, cap: [], cid: "" },
    ...claims,
  });

const PROTECTED = [
  ["GET", "/v1/services"],
  ["DELETE", "/v1/register"],
  ["POST", "/v1/channel"],
  ["POST", "/v1/task"],
  ["GET", `/v1/task/${newId()}`],
  ["POST", EXECUTE],
  ["POST", MESSAGE],
  ["GET", "/v1/approve"],
  ["POST", "/v1/approve"],
  ["POST", "/v1/event"],
  ["POST", "/agents/echo/v1/event"],
  ["GET", "/v1/audit"],
  ["POST", "/v1/rotate-key"],
] as const;

const LEVEL_1: readonly Row[] = [
  [
    "L1-01",
    "health has a name, a version, the state online and an uptime",
    async ({ served }) => {
      for (const path of ["/v1/health", "/agents/echo/v1/health"])
        for (const method of ["GET", "POST"])
          expect(await send(served.base, method, path)).toMatchObject({
            status: 200,
            body: {
              name: expect.any(String),
              version: "1.2.3",
              state: "online",
              uptime_seconds: expect.any(Number),
            },
          });
    },
  ],
  [
    "L1-02",
    "describe has a name, a version, a URL, a key and capabilities",
    async ({ served }) => {
      const { body } = await send(served.base, "POST", "/agents/echo/v1/describe");
      AgentManifest.parse(body);
      for (const member of ["name", "version", "url", "public_key", "capabilities"])
        expect(body).toHaveProperty(member);
    },
  ],
  [
    "L1-03",
    "a registration has 200 with an id, a WLT, its end and the directory; unknown members stay signed",
    async ({ stranger }) => {
      const agent = stranger();
      const reply = await agent.register(
        agent.registration(agent.manifest({ zeta: { b: 1, a: "é<>&" }, "10": 1 })),
      );
      expect(reply.status).toBe(200);
      expect(RegisterResponse.parse(reply.body)).toMatchObject({
        agent_id: expect.stringMatching(/^[0-9a-f]{32}$/),
        token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        expires_at: expect.any(Number),
        services: { agents: expect.any(Array) },
      });
    },
  ],
  [
    "L1-04",
    "a signature over other bytes has 401 with an error",
    async ({ stranger }) => {
      const agent = stranger();
      const { signature } = agent.registration();
      const manifest = agent.manifest({ version: "9" });
      isRefused(await agent.register({ ...agent.registration(), manifest, signature }), 401);
    },
  ],
  [
    "L1-05",
    "a timestamp 600 seconds old has 401, and the text names it",
    async ({ served, stranger }) => {
      const agent = stranger();
      const reply = await agent.register(agent.registration(agent.manifest(), served.seconds() - 600));
      isRefused(reply, 401);
      expect(reply.body.error).toMatch(/timestamp.*replay/);
    },
  ],
  [
    "L1-06",
    "a task has a result with its id, the agent's name and the agent's signature",
    async (setting) => {
      const agent = await setting.agent();
      const id = newId();
      const reply = await agent.execute("echo", { id, inputs: { prompt: "hi" } });
      expect(reply).toMatchObject({
        status: 200,
        body: { task_id: id, agent_name: "echo", status: "success" },
      });
      expect(await isSigned(setting, "result", reply)).toBe(true);
    },
  ],
  [
    "L1-07",
    "protected endpoints: no token 401, an expired one 401, a valid one not 401",
    async (setting) => {
      const { base } = setting.served;
      const agent = await setting.agent();
      const expired = tokenOf(setting, agent.name, { exp: setting.served.seconds() - 1 });
      for (const [method, path] of PROTECTED) {
        const body = method === "POST" ? {} : undefined;
        isRefused(await send(base, method, path, body), 401);
        isRefused(await send(base, method, path, body, bearer(expired)), 401);
      }
      // The last one gives the name back, and ends the token.
      for (const [method, path] of [...PROTECTED.slice(2), ...PROTECTED.slice(0, 2)])
        expect((await agent.send(method, path, method === "POST" ? {} : undefined)).status).not.toBe(401);
    },
  ],
  [
    "L1-08",
    "a message has a response in the agent's name, signed",
    async (setting) => {
      const agent = await setting.agent();
      const reply = await agent.send("POST", MESSAGE, agent.messageTo("echo"));
      expect(reply).toMatchObject({ status: 200, body: { type: "response", from: "echo" } });
      expect(await isSigned(setting, "message", reply)).toBe(true);
    },
  ],
  [
    "L1-09",
    "an update of the directory is answered; nobody signs one, so this server does not believe it",
    async ({ served }) => {
      const reply = await send(served.base, "POST", "/agents/echo/v1/services", { services: [] });
      expect(reply).toMatchObject({ status: 200, body: { status: "ignored" } });
    },
  ],
  [
    "L1-10",
    "each 4xx is JSON with an error",
    async ({ served: { base }, agent }) => {
      const one = await agent();
      isRefused(await send(base, "POST", "/v1/register", "{"), 400);
      isRefused(await send(base, "GET", "/v1/services"), 401);
      isRefused(
        await one.send("POST", "/v1/approve", { recommendation_ids: ["a"], decision: "accept" }),
        403,
      );
      isRefused(await send(base, "GET", "/nothing"), 404);
      isRefused(await send(base, "PUT", "/v1/register", {}), 405);
      isRefused(await send(base, "POST", "/v1/register", "{}", { "content-type": "text/plain" }), 415);
    },
  ],
];

const LEVEL_2: readonly Row[] = [
  [
    "L2-01",
    "a bad signature of a message has 401",
    async ({ agent }) => {
      const one = await agent();
      isRefused(await one.send("POST", MESSAGE, one.messageTo("echo", { payload: { more: 1 } })), 401);
    },
  ],
  [
    "L2-02",
    "a token that ended a second ago has 401; one that ends now holds",
    async (setting) => {
      const { served } = setting;
      const agent = await setting.agent();
      served.pass(86_400);
      expect((await agent.send("GET", "/v1/services")).status).toBe(200);
      served.pass(1);
      const reply = await agent.send("GET", "/v1/services");
      isRefused(reply, 401);
      expect(reply.body.code).toBe("TOKEN_EXPIRED");
    },
  ],
  [
    "L2-03",
    "the token of a channel holds for its agent, and not for another",
    async ({ agent }) => {
      const [one, other] = [await agent(), await agent()];
      const open = async (to_agent: string) =>
        (await one.send("POST", "/v1/channel", { from_agent: one.name, to_agent, purpose: "talk" })).body
          .token;
      const say = async (token: unknown) => one.send("POST", MESSAGE, one.messageTo("echo"), bearer(token));
      expect((await say(await open("echo"))).status).toBe(200);
      isRefused(await say(await open(other.name)), 403);
    },
  ],
  [
    "L2-04",
    "a registration and a message over 1 MiB, and a task over 10 MiB, are refused; a byte less is read",
    async ({ served: { base }, agent, stranger }) => {
      const one = await agent();
      const holder = bearer(one.token);
      const sent = (path: string, body: object, bytes: number) =>
        send(base, "POST", path, padded(body, bytes), holder);
      for (const [path, body, max] of [
        ["/v1/register", stranger().registration(), MIB],
        [MESSAGE, one.messageTo("echo"), MIB],
        [EXECUTE, { id: newId(), inputs: { prompt: "x" } }, 10 * MIB],
      ] as const) {
        expect((await sent(path, body, max)).status).toBe(200);
        isRefused(await sent(path, body, max + 1), 413);
      }
    },
  ],
  [
    "L2-05",
    "a recorded registration has 401 after 300 seconds, and with a nonce at once",
    async ({ served, stranger }) => {
      const agent = stranger();
      const [plain, once] = [agent.registration(), agent.registration(agent.onceOnly())];
      expect((await agent.register(plain)).status).toBe(200);
      expect((await agent.register(once)).status).toBe(200);
      isRefused(await agent.register(once), 401);
      served.pass(300);
      expect((await agent.register(plain)).status).toBe(200);
      served.pass(1);
      isRefused(await agent.register(plain), 401);
    },
  ],
];

/** Fields that upstream's command leaves out or sends as null. */
const upstreamManifest = (key: string, name: string): JsonObject => ({
  ...{ name, type: "", version: "", description: "", url: "http://localhost:1", public_key: key },
  capabilities: null,
});

const UPSTREAM: readonly Row[] = [
  [
    "server-1",
    "GET health has 200, a name and a status",
    async ({ served }) =>
      expect(await send(served.base, "GET", "/v1/health")).toMatchObject({
        status: 200,
        body: { name: "orchestrator", status: "healthy" },
      }),
  ],
  [
    "server-2",
    "GET services has 401",
    async ({ served }) => isRefused(await send(served.base, "GET", "/v1/services"), 401),
  ],
  [
    "server-3",
    "GET register has 405",
    async ({ served }) => isRefused(await send(served.base, "GET", "/v1/register"), 405),
  ],
  [
    "server-4",
    "an empty registration has 400",
    async ({ served }) => isRefused(await send(served.base, "POST", "/v1/register", {}), 400),
  ],
  [
    "server-5",
    "a key of zeros and the signature deadbeef have 401, with nulls in the manifest",
    async ({ served }) => {
      const manifest = { ...upstreamManifest("0".repeat(64), "probe"), type: "agent" };
      const body = { manifest, signature: "deadbeef", timestamp: served.seconds() };
      isRefused(await send(served.base, "POST", "/v1/register", body), 401);
    },
  ],
  [
    "server-6",
    "a registration in the order of its own struct has exactly 200, an id of 8 characters or more, and a token for services",
    async ({ served, stranger, profile }) => {
      const agent = stranger();
      const manifest = { ...agent.manifest({ description: "" }), capabilities: [{ name: "llm:chat" }] };
      const text = profile === "jcs" ? canonicalJson(manifest) : JSON.stringify(manifest);
      const reply = await agent.register({
        manifest,
        signature: signText(agent.key, text),
        timestamp: served.seconds(),
      });
      expect(reply.status).toBe(200);
      expect(String(reply.body.agent_id).length).toBeGreaterThanOrEqual(8);
      expect((await agent.send("GET", "/v1/services")).status).toBe(200);
    },
  ],
  [
    "agent-1",
    "GET health has 200",
    async ({ served }) => expect((await send(served.base, "GET", "/agents/echo/v1/health")).status).toBe(200),
  ],
  [
    "agent-2",
    "POST describe with an empty object has 200",
    async ({ served }) =>
      expect((await send(served.base, "POST", "/agents/echo/v1/describe", {})).status).toBe(200),
  ],
  [
    "agent-3",
    "get_capabilities without a token and a signature has 401, which upstream takes with a warning",
    async ({ served }) =>
      isRefused(
        await send(served.base, "POST", MESSAGE, { action: "get_capabilities", type: "request" }),
        401,
      ),
  ],
  [
    "agent-4",
    "GET execute has 405",
    async ({ served }) => isRefused(await send(served.base, "GET", EXECUTE), 405),
  ],
  [
    "agent-5",
    "POST services without a token has 200",
    async ({ served }) =>
      expect((await send(served.base, "POST", "/agents/echo/v1/services", { services: [] })).status).toBe(
        200,
      ),
  ],
];

/** Rows of the lists that this server does not hold, and why. */
const UNSERVED: Readonly<Record<string, string>> = {
  "L3-01": "workflows are a domain's, and this server has agents alone",
  "L3-02": "there are no strategies: GET /v1/strategy has 404 with not_served",
  "L3-03": "the on_error of a workflow's phase needs workflows",
};

const numbered = (level: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${level}-${String(at + 1).padStart(2, "0")}`);

it("each row of L1 and L2 is here, and one that is not served says why", () => {
  const rows = [...LEVEL_1, ...LEVEL_2].map(([id]) => id);
  expect(rows).toEqual([...numbered("L1", 10), ...numbered("L2", 5)]);
  // L3-04 is the bound of an agent's places (serve.e2e), L3-05 an approval (endpoints.int, approve.e2e).
  expect([...Object.keys(UNSERVED), "L3-04", "L3-05"]).toEqual(numbered("L3", 5));
});

describe.each([
  ["Ed25519", "literal"],
  ["Ed25519", "jcs"],
  ["ML-DSA-65", "literal"],
  ["ML-DSA-65", "jcs"],
] as const)("with %s, signed as %s", (algorithm, profile) => {
  let setting: Setting;
  beforeAll(async () => {
    const served = await makeServed(algorithm);
    let made = 0;
    const stranger = () => {
      made += 1;
      return new RemoteAgent(served.base, `agent-${made}`, { algorithm, profile, clock: served.seconds });
    };
    const agent = async (): Promise<RemoteAgent> => {
      const one = stranger();
      const register = () => one.register(one.registration(one.onceOnly(rights())));
      await register();
      served.grant(one.name, ...RIGHTS);
      expect((await register()).status).toBe(200);
      return one;
    };
    setting = { served, algorithm, profile, agent, stranger };
  });
  afterAll(() => {
    expect(setting.served.defects).toEqual([]);
    setting.served.close();
  });
  // A window of requests is over.
  beforeEach(() => setting.served.pass(61));

  it.each([...LEVEL_1, ...LEVEL_2, ...UPSTREAM])("%s %s", (_id, _says, check) => check(setting));
});

const SMALL_ORDER = "weblisk/derived";
const JCS = "weblisk/jcs/testdata";
const skipped = (folder: string): string =>
  hasVectors(folder) ? "" : ` (skipped: no ../shared/data/${folder})`;

describe("vectors of others, over HTTP", () => {
  let served: Served;
  beforeAll(async () => {
    served = await makeServed();
  });
  afterAll(() => served.close());

  it.runIf(hasVectors(SMALL_ORDER))(
    `a registration with a key of small order has 401, with a signature that such a key takes for many texts${skipped(SMALL_ORDER)}`,
    async () => {
      const keys = JSON.parse(vector(SMALL_ORDER, "ed25519-small-order-keys.json")) as {
        public_key: string;
      }[];
      expect(keys).toHaveLength(14);
      for (const { public_key } of keys) {
        const manifest = upstreamManifest(public_key, "weak");
        const signature = `01${"0".repeat(126)}`;
        const body = { manifest: { ...manifest, type: "agent" }, signature, timestamp: served.seconds() };
        isRefused(await send(served.base, "POST", "/v1/register", body), 401);
      }
    },
  );

  it.runIf(hasVectors(JCS))(
    `a manifest with each value of RFC 8785's samples is verified by the sample's canonical text${skipped(JCS)}`,
    async () => {
      const seen: [string, number, unknown][] = [];
      for (const file of vectorNames(`${JCS}/input`)) {
        served.pass(61);
        const agent = new RemoteAgent(served.base, `jcs-${file.split(".")[0]}`, { clock: served.seconds });
        const manifest = agent.manifest({ sample: "SAMPLE" });
        const withSample = (text: string, sample: string) => text.replace('"SAMPLE"', () => sample);
        const canonical = withSample(canonicalJson(manifest), vector(JCS, "output", file).trim());
        const given = withSample(JSON.stringify(manifest), vector(JCS, "input", file));
        const signature = signText(agent.key, canonical);
        const body = `{"manifest":${given},"signature":"${signature}","timestamp":${served.seconds()}}`;
        const reply = await send(served.base, "POST", "/v1/register", body);
        seen.push([file, reply.status, (reply.body.detail as JsonObject | undefined)?.reason]);
      }
      // values.json has an integer that other readers do not hold (docs/reference/conformance.md).
      expect(seen.filter(([file]) => file !== "values.json").map(([, status]) => status)).toEqual(
        Array.from({ length: seen.length - 1 }, () => 200),
      );
      expect(seen.find(([file]) => file === "values.json")).toEqual(["values.json", 400, "unsafe_number"]);
    },
  );
});
