/** An agent of another orchestrator as a worker like any other: two state directories, whatever is killed meanwhile. */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Commands, makeCommands, type Running, until } from "../support/commands.ts";

/** Answers with its prompt; with a prompt that names a file, once that file is there. It counts its runs in the directory. */
const PROGRAM = [
  "sh",
  "-c",
  'read -r line; echo run >>runs; case "$line" in fail) exit 3;; /*) while ! [ -e "$line" ]; do sleep 0.05; done;; esac; echo "done: $line"',
];

let here: Commands;
let there: Commands;
let server: Running;
let url: string;
let root: string;
let name: string;

const serve = async (port: string): Promise<void> => {
  const words = [
    "weblisk",
    "serve",
    "echo=command",
    "--listen",
    port,
    "--root",
    root,
    "--max-concurrent",
    "4",
  ];
  server = there.start([...words, "--", ...PROGRAM]);
  await until(() => {
    if (server.child.exitCode !== null) throw new Error(server.err());
    return server.out().includes("\n");
  });
  url = server.out().trim();
};

const killServer = async (): Promise<void> => {
  server.child.kill("SIGKILL");
  await server.ended;
};

const runs = (): number =>
  existsSync(join(root, "runs")) ? readFileSync(join(root, "runs"), "utf8").trim().split("\n").length : 0;

const spawn = async (prompt: string): Promise<string> => {
  const { data } = await here.agent(
    "spawn",
    "weblisk",
    prompt,
    "--backoff",
    "50ms..200ms",
    "--",
    url,
    "echo",
  );
  return data.id as string;
};

const outputOf = async (id: string): Promise<unknown> => (await here.agent("output", id)).data.text;
const workersThere = async (): Promise<readonly Record<string, unknown>[]> =>
  (await there.agent("list", "--all")).data as unknown as readonly Record<string, unknown>[];

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-remote-")));
  [here, there] = [makeCommands(), makeCommands()];
  await serve("0");
  const registered = await here.agent("weblisk", "register", url);
  expect(registered).toMatchObject({
    exit: 0,
    data: { url, capabilities: ["file:read", "file:write", "llm:chat"] },
  });
  name = registered.data.name as string;
  await there.agent("weblisk", "grant", name, "file:read", "file:write", "llm:chat");
});
afterAll(async () => {
  await killServer();
  await Promise.all([here.close(), there.close()]);
  rmSync(root, { recursive: true, force: true });
});

it("a command gives a task and prints its signed answer; the same id is the same task", async () => {
  const id = "a".repeat(32);
  const ask = ["weblisk", "task", url, "echo", "hello", "--id", id] as const;
  const done = await here.agent(...ask);
  expect(done).toMatchObject({ exit: 0, data: { task_id: id, output: { text: "done: hello\n" } } });
  expect((await here.agent(...ask)).data).toEqual(done.data);
  expect(runs()).toBe(1);
  expect(await here.agent("weblisk", "task", url, "echo", "fail")).toMatchObject({
    exit: 2,
    error: { code: "TASK_FAILED" },
  });
});

it("a worker has its answer, and no file and no variable of it has the key or the token", async () => {
  const before = runs();
  const id = await spawn("hello");
  expect((await here.agent("wait", id)).exit).toBe(0);
  expect(await outputOf(id)).toBe("done: hello\n");
  expect(runs()).toBe(before + 1);
  const token = /"token":"([^"]+)"/;
  const kept = readdirSync(join(here.home, "weblisk", "orchestrators")).map((file) =>
    readFileSync(join(here.home, "weblisk", "orchestrators", file), "utf8"),
  );
  const secret = token.exec(kept.join(""))![1]!;
  const files = readdirSync(here.home, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  const leaking = files
    .map((one) => join(one.parentPath, one.name))
    .filter((path) => !path.includes("orchestrators") && readFileSync(path, "latin1").includes(secret));
  expect(leaking).toEqual([]);
});

it("another key keeps its name and its rights there", async () => {
  const rotated = await here.agent("identity", "rotate");
  expect(rotated).toMatchObject({ exit: 0, data: { registrations: [{ url, name, is_told: true }] } });
  const [granted, done] = [
    await there.agent("weblisk", "grant", name),
    await here.agent("weblisk", "task", url, "echo", "after it"),
  ];
  expect(granted.data).toMatchObject({ fingerprint: rotated.data.fingerprint });
  expect(done).toMatchObject({ exit: 0, data: { output: { text: "done: after it\n" } } });
});

it("an agent that fails there fails here, and no restart asks again", async () => {
  const id = await spawn("fail");
  expect((await here.agent("wait", id)).exit).not.toBe(0);
  expect((await here.agent("info", id)).data).toMatchObject({
    status: "failed",
    incarnation: 1,
    error: { code: "TASK_FAILED" },
  });
});

it("a kill in the middle ends the task there", async () => {
  const before = runs();
  const id = await spawn(join(root, "never"));
  await until(() => runs() === before + 1);
  expect((await here.agent("kill", id)).exit).toBe(0);
  await until(async () => (await workersThere()).every(({ status }) => status !== "running"));
  expect((await here.agent("info", id)).data).toMatchObject({ status: "cancelled" });
});

it("kills of the client, of both daemons and of the orchestrator leave one task and one answer", async () => {
  const before = runs();
  const gate = join(root, "gate");
  const id = await spawn(gate);
  await until(() => runs() === before + 1);

  // The daemon's successor adopts the client.
  await here.killDaemon();
  await here.agent("daemon", "start");
  expect((await here.agent("info", id)).data).toMatchObject({ status: "running", incarnation: 1 });

  // The next incarnation asks for the same task.
  process.kill((await here.agent("info", id)).data.pid as number, "SIGKILL");
  await until(async () => {
    const { data } = await here.agent("info", id);
    return data.incarnation === 2 && data.status === "running";
  });

  const { port } = new URL(url);
  await there.killDaemon();
  await killServer();
  await there.agent("daemon", "start");
  await serve(port);
  writeFileSync(gate, "");
  expect((await here.agent("wait", id)).exit).toBe(0);
  expect(await outputOf(id)).toBe(`done: ${gate}\n`);
  expect(runs()).toBe(before + 1);
});
