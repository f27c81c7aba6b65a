/** The gateway is a process of its own: whatever becomes of it, the server's own agents work on, and it comes back. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newId, RemoteAgent, send } from "../../weblisk/support/agent.ts";
import { type Commands, makeCommands, until } from "../support/commands.ts";
import { type HubUnderTest, killRunning, serveHub } from "../support/hubs.ts";

/** With a prompt that names a file, it answers once that file is there. */
const PROGRAM = [
  "sh",
  "-c",
  'read -r line; echo run >>runs; case "$line" in /*) while ! [ -e "$line" ]; do sleep 0.05; done;; esac; echo done',
];
/** Requests of a flood, each with a body of this size. */
const FLOOD = { requests: 300, bytes: 900_000 };

let root: string;
let commands: Commands;
let hub: HubUnderTest;
let base: string;
let sender: RemoteAgent;

const serve = async (port: string): Promise<void> => {
  hub = await serveHub(commands, "b.example", port, ["clerk=command", "--root", root, "--", ...PROGRAM]);
  base = hub.server.out().split("\n")[0]!;
};

/** The one child that its server has. */
const gatewayPid = (): number => {
  const { pid } = hub.server.child;
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim());
};

const isHealthy = (): Promise<boolean> =>
  send(hub.url, "GET", "/v1/health").then(
    ({ body }) => body.name === "b.example" && body.status === "healthy",
    () => false,
  );

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-gateway-")));
  commands = makeCommands();
  await commands.agent("daemon", "start");
  await serve("0");
  sender = new RemoteAgent(base, "sender");
  await sender.register();
  await commands.agent("weblisk", "grant", "sender", "file:read", "file:write", "llm:chat");
  await sender.register();
});
afterAll(async () => {
  await killRunning(hub.server);
  await commands.close();
  rmSync(root, { recursive: true, force: true });
});

const local = (prompt = "p") => sender.execute("clerk", { id: newId(), inputs: { prompt } });

it("a gateway that is killed is started again at its place, and a task in the middle does not notice", async () => {
  const gate = join(root, "gate");
  const [server, first] = [hub.server.child.pid, gatewayPid()];
  const task = local(gate);
  await until(() => existsSync(join(root, "runs")));
  process.kill(first, "SIGKILL");
  await until(() => !existsSync(`/proc/${first}`));
  expect(await local()).toMatchObject({ status: 200, body: { status: "success" } });
  await until(isHealthy);
  expect([hub.server.child.pid, hub.server.child.exitCode]).toEqual([server, null]);
  expect(gatewayPid()).not.toBe(first);
  writeFileSync(gate, "");
  expect(await task).toMatchObject({ status: 200, body: { status: "success", output: { text: "done\n" } } });
});

it("a gateway that hangs, or is flooded, takes nothing from the agents here", async () => {
  process.kill(gatewayPid(), "SIGSTOP");
  try {
    expect(await local()).toMatchObject({ status: 200, body: { status: "success" } });
  } finally {
    process.kill(gatewayPid(), "SIGCONT");
  }
  const body = JSON.stringify({ hub_id: "a.example", filler: "x".repeat(FLOOD.bytes) });
  const flood = Array.from({ length: FLOOD.requests }, () =>
    send(hub.url, "POST", "/v1/federation/peer", body).then(
      ({ status }) => status,
      () => 0,
    ),
  );
  expect(await local()).toMatchObject({ status: 200, body: { status: "success" } });
  expect((await send(base, "GET", "/v1/health")).body).toMatchObject({ status: "healthy" });
  expect((await Promise.all(flood)).filter((status) => status === 200 || status >= 500)).toEqual([]);
  await until(isHealthy);
});

it("ends with its server, whose successor has its place", async () => {
  const gateway = gatewayPid();
  await killRunning(hub.server);
  await serve(new URL(hub.url).port);
  await until(() => !existsSync(`/proc/${gateway}`));
  expect(await isHealthy()).toBe(true);
});

it("a place that somebody else has is told", async () => {
  const port = new URL(hub.url).port;
  const other = commands.start([
    "weblisk",
    "serve",
    "--listen",
    "0",
    "--federation",
    port,
    "--hub",
    "c.example",
  ]);
  expect(await other.ended).toMatchObject({ exit: 12, stderr: expect.stringContaining("EADDRINUSE") });
});
