/** `agent weblisk serve` as agents elsewhere meet it: they register, a person grants, they give tasks, and things are killed. */
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifierOf } from "../../../src/weblisk/identity/algorithms.ts";
import { profileOfSignature } from "../../../src/weblisk/signing/operations.ts";
import { TaskResult } from "../../../src/weblisk/types/tasks.ts";
import { readBody } from "../../../src/weblisk/wire/body.ts";
import { newId, RemoteAgent, seconds, send, type WireReply } from "../../weblisk/support/agent.ts";
import { type Commands, makeCommands, type Running, until } from "../support/commands.ts";

/** It answers with its prompt and its directory; with a prompt that names a file, once that file is there. */
const PROGRAM = [
  "sh",
  "-c",
  'read -r line; case "$line" in fail) exit 3;; /*) while ! [ -e "$line" ]; do sleep 0.05; done;; esac; echo "$line in $(pwd)"',
];

let commands: Commands;
let root: string;
let server: Running;
let base: string;
let sender: RemoteAgent;

const serve = async (): Promise<void> => {
  const argv = [
    "weblisk",
    "serve",
    "echo=command",
    "--listen",
    "0",
    "--root",
    root,
    "--max-concurrent",
    "2",
    "--",
    ...PROGRAM,
  ];
  server = commands.start(argv);
  await until(() => {
    if (server.child.exitCode !== null) throw new Error(server.err());
    return server.out().includes("\n");
  });
  base = server.out().trim();
};

const killServer = async (): Promise<void> => {
  server.child.kill("SIGKILL");
  await server.ended;
};

const granted = async (name: string): Promise<RemoteAgent> => {
  const agent = new RemoteAgent(base, name);
  expect((await agent.register()).status).toBe(200);
  await commands.agent("weblisk", "grant", name, "file:read", "file:write", "llm:chat");
  expect((await agent.register()).status).toBe(200);
  return agent;
};

/** The public key by which a result is checked, from the agent's own manifest. */
const isSigned = async (reply: WireReply): Promise<boolean> => {
  const { body } = await send(base, "POST", "/agents/echo/v1/describe", {});
  const verifier = verifierOf({ algorithm: "Ed25519", publicKey: String(body.public_key) })!;
  const wire = readBody(Buffer.from(reply.text));
  return (["signature", "signature_jcs"] as const).every(
    (name) => profileOfSignature(verifier, "result", wire, reply.body[name]) !== undefined,
  );
};

beforeAll(async () => {
  commands = makeCommands();
  root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-weblisk-")));
  await serve();
  sender = await granted("sender");
});
afterAll(async () => {
  await killServer();
  await commands.close();
  rmSync(root, { recursive: true, force: true });
});

it("a server without agents has its daemon, too: what its operator agrees to is there", async () => {
  const hub = makeCommands();
  const running = hub.start(["weblisk", "serve", "--listen", "0", "--federation", "0", "--hub", "a.example"]);
  try {
    await until(() => running.out().split("\n").length === 3);
    const added = await hub.agent("peer", "add", "b.example", "http://127.0.0.1:9");
    expect(added).toMatchObject({ exit: 0, error: null });
  } finally {
    running.child.kill("SIGKILL");
    await running.ended;
    await hub.close();
  }
});

it("a task is a worker, whose result its agent signs", async () => {
  const id = newId();
  const trace = newId();
  const reply = await sender.execute("echo", { id, inputs: { prompt: "hello" } }, { "x-trace-id": trace });
  expect(reply).toMatchObject({
    status: 200,
    body: {
      task_id: id,
      status: "success",
      agent_name: "echo",
      output: { text: `hello in ${root}\n`, attempts: 1 },
    },
  });
  TaskResult.parse(reply.body);
  expect(reply.headers.get("x-trace-id")).toBe(trace);
  expect(await isSigned(reply)).toBe(true);
  const { data } = await commands.agent("info", (reply.body.output as { worker_id: string }).worker_id);
  expect(data).toMatchObject({
    labels: { weblisk_task: id, weblisk_from: "sender" },
    spec: { trace: { traceparent: expect.stringContaining(trace) } },
  });

  const again = await sender.execute("echo", { id, inputs: { prompt: "hello" } });
  expect(again.text).toBe(reply.text);
  expect(await sender.execute("echo", { id, inputs: { prompt: "other" } })).toMatchObject({
    status: 409,
    body: { code: "INVALID_REQUEST", detail: { reason: "task_id_reused" } },
  });
});

it("an agent that fails has a result with status failed; the request has 200", async () => {
  const reply = await sender.execute("echo", { inputs: { prompt: "fail" } });
  expect(reply).toMatchObject({
    status: 200,
    body: { status: "failed", output: { error: { code: expect.any(String) } } },
  });
  expect(await isSigned(reply)).toBe(true);
});

it("a task whose worker was archived before anybody asked for its result has the result, and makes no second worker", async () => {
  const task = { id: newId(), inputs: { prompt: "kept" } };
  expect((await sender.execute("echo", task, { prefer: "respond-async" })).status).toBe(202);
  const label = ["--label", `weblisk_task=${task.id}`];
  const { data } = await commands.agent("list", "--all", ...label);
  const [worker] = data as unknown as readonly { id: string }[];
  await commands.agent("wait", worker!.id);
  expect((await commands.agent("archive", worker!.id)).exit).toBe(0);
  expect(await sender.execute("echo", task)).toMatchObject({
    status: 200,
    body: { status: "success", output: { worker_id: worker!.id } },
  });
});

it("a task through the orchestrator goes to the agent that it names", async () => {
  const task = { id: newId(), target_agent: "echo", context: {}, inputs: { prompt: "routed" } };
  expect(await sender.send("POST", "/v1/task", task)).toMatchObject({
    status: 200,
    body: { status: "success" },
  });
  expect(
    await sender.send("POST", "/v1/task", { ...task, id: newId(), target_agent: "nobody" }),
  ).toMatchObject({
    status: 404,
    body: { code: "NOT_FOUND" },
  });
});

it("a registration gives no rights; rights that are taken away are gone at once", async () => {
  const other = new RemoteAgent(base, "other");
  await other.register();
  const refused = await other.execute("echo", { inputs: { prompt: "x" } });
  expect(refused).toMatchObject({
    status: 403,
    body: { code: "FORBIDDEN", detail: { missing: ["file:read", "file:write", "llm:chat"] } },
  });
  const allowed = await granted("third");
  expect(await allowed.execute("echo", { inputs: { prompt: "x" } })).toMatchObject({ status: 200 });
  await commands.agent("weblisk", "grant", "third", "--none");
  expect(await allowed.execute("echo", { inputs: { prompt: "x" } })).toMatchObject({ status: 403 });
});

it("only directories that are served are worked in, also behind a link", async () => {
  symlinkSync("/", join(root, "out"));
  for (const workspace_root of [
    "/",
    join(root, ".."),
    join(root, "out", "etc"),
    "relative",
    join(root, "missing"),
  ])
    expect(
      await sender.execute("echo", { context: { workspace_root }, inputs: { prompt: "x" } }),
    ).toMatchObject({
      status: 403,
      body: { detail: { reason: "workspace_outside" } },
    });
});

it("an agent whose places are taken answers 429, and a task that goes on is looked at and cancelled", async () => {
  const never = { inputs: { prompt: join(root, "never") } };
  const ids = [newId(), newId()];
  const open = ids.map((id) => sender.execute("echo", { id, ...never }, { prefer: "respond-async" }));
  for (const reply of await Promise.all(open)) expect(reply.status).toBe(202);
  const full = await sender.execute("echo", never);
  expect(full).toMatchObject({ status: 429, body: { code: "RATE_LIMITED", retryable: true } });
  expect(Number(full.headers.get("retry-after"))).toBeGreaterThan(0);

  const other = new RemoteAgent(base, "curious");
  await other.register();
  expect(await other.send("GET", `/v1/task/${ids[0]}`)).toMatchObject({ status: 404 });
  expect(await sender.send("GET", `/v1/task/${ids[0]}`)).toMatchObject({ status: 202 });
  for (const id of ids)
    expect(await sender.send("DELETE", `/v1/task/${id}`)).toMatchObject({
      status: 200,
      body: { status: "failed" },
    });
});

describe("deadlines", () => {
  it("one that has passed is refused", async () => {
    expect(await sender.execute("echo", { deadline: seconds() - 1, inputs: { prompt: "x" } })).toMatchObject({
      status: 400,
      body: { detail: { reason: "deadline_passed" } },
    });
  });

  it("one that passes ends the worker", async () => {
    const id = newId();
    const task = { id, deadline: seconds() + 2, inputs: { prompt: join(root, "late") } };
    // On a busy machine the worker may be gone before the answer is.
    expect([200, 504]).toContain((await sender.execute("echo", task)).status);
    await until(async () => (await sender.send("GET", `/v1/task/${id}`)).status === 200);
    expect(await sender.execute("echo", task)).toMatchObject({ status: 200, body: { status: "failed" } });
  });
});

it("the server and the daemon are killed in the middle of a task: it has one worker and one signed result", async () => {
  const gate = join(root, "gate");
  const task = { id: newId(), inputs: { prompt: gate } };
  expect((await sender.execute("echo", task, { prefer: "respond-async" })).status).toBe(202);
  await commands.killDaemon();
  await killServer();
  await serve();
  const holder = Object.assign(new RemoteAgent(base, "sender"), { token: sender.token });
  sender = holder;
  writeFileSync(gate, "");
  const replies = await Promise.all([sender.execute("echo", task), sender.execute("echo", task)]);
  expect(replies[0]).toMatchObject({ status: 200, body: { status: "success" } });
  expect(replies[1]?.text).toBe(replies[0]?.text);
  const workers = await commands.agent("list", "--all", "--label", `weblisk_task=${task.id}`);
  expect((workers.data as unknown as unknown[]).length).toBe(1);
});
