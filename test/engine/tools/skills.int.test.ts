/** Skills as tools, over a socket that answers like a daemon: the requests on the wire, and ends that come early. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { daemonSkills } from "../../../src/engine/tools/daemon-skills.ts";
import { skillTools } from "../../../src/engine/tools/skills.ts";

interface WireRequest {
  readonly command: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, unknown>>;
}

interface TestDaemon {
  readonly path: string;
  readonly requests: readonly WireRequest[];
  /** Connections that are open. */
  open(): number;
}

const META = { ts: "2026-01-01T00:00:00Z", duration_ms: 0, request_id: "1" };
const answered = (command: string, data: unknown) => ({
  version: 1,
  status: "ok",
  command,
  data,
  meta: META,
  error: { code: null, message: null },
});

const TOOLS = {
  tools: [
    { skill: "fs/read", summary: "Reads.", input_schema: { type: "object" }, effect: "none" },
    { skill: "notes/add-one", summary: "Adds.", input_schema: { type: "object" }, effect: "any" },
    { skill: "notes/set", summary: "Sets.", input_schema: { type: "object" }, effect: "idempotent" },
  ],
};

/** `answer` undefined: it never answers; null: it hangs up. */
const daemonThat = async (answer: (request: WireRequest) => unknown): Promise<TestDaemon> => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-engine-"));
  const path = join(directory, "agent.sock");
  const requests: WireRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => undefined);
    socket.once("data", (chunk) => {
      const request = JSON.parse(chunk.toString()) as WireRequest;
      requests.push(request);
      const envelope = answer(request);
      if (envelope === null) socket.destroy();
      else if (envelope !== undefined) socket.write(`${JSON.stringify(envelope)}\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { path, requests, open: () => sockets.size };
};

const sourceAt = (socket: string) =>
  skillTools(daemonSkills({ socket, run: "run-marker", workspace: "/work", profile: "worker" }));

const context = (signal = new AbortController().signal) => ({
  signal,
  worker_id: "w",
  cwd: "/work",
  idempotency_key: "k",
});

it("lists what the daemon allows, with the effect of each", async () => {
  const { path, requests } = await daemonThat(({ command }) => answered(command, TOOLS));
  const tools = await sourceAt(path).list();
  expect(tools.map(({ name, is_idempotent, only_reads }) => [name, is_idempotent, only_reads])).toEqual([
    ["fs_read", true, true],
    ["notes_add-one", false, false],
    ["notes_set", true, false],
  ]);
  expect(requests).toMatchObject([
    {
      command: "skill/tools",
      data: { workspace: "/work", profile: "worker" },
      meta: { run: "run-marker", request_id: "1" },
    },
  ]);
});

it("runs a skill by its own name, and closes the connection", async () => {
  const daemon = await daemonThat(({ command }) =>
    answered(command, command === "skill/tools" ? TOOLS : { added: 1 }),
  );
  const source = sourceAt(daemon.path);
  await source.list();
  expect(await source.run({ id: "c", name: "notes_add-one", input: { n: 1 } }, context())).toEqual({
    output: { added: 1 },
    is_error: false,
  });
  expect(daemon.requests[1]).toMatchObject({
    command: "skill/run",
    data: { skill: "notes/add-one", input: { n: 1 }, workspace: "/work", profile: "worker" },
  });
  await expect.poll(() => daemon.open()).toBe(0);
});

it("tells the model of a denial, and what to do next", async () => {
  const { path } = await daemonThat(({ command }) => ({
    ...answered(command, { hint: "Ask for less." }),
    status: "error",
    error: { code: "EPOLICY", message: "No.", details: { code: "POLICY_VIOLATION" } },
  }));
  expect(await sourceAt(path).run({ id: "c", name: "fs_read", input: {} }, context())).toMatchObject({
    is_error: true,
    code: "POLICY_VIOLATION",
    output: { error: "POLICY_VIOLATION", message: "No." },
  });
});

it("a daemon that goes away in a call is a result", async () => {
  const { path } = await daemonThat(() => null);
  expect(await sourceAt(path).run({ id: "c", name: "fs_read", input: {} }, context())).toMatchObject({
    is_error: true,
    code: "SUPERVISOR_DOWN",
    output: { message: "The daemon of this agent went away before it had answered." },
  });
});

it("an aborted call closes its connection, by which the daemon ends the run", async () => {
  const daemon = await daemonThat(() => undefined);
  const abort = new AbortController();
  const running = sourceAt(daemon.path).run({ id: "c", name: "fs_read", input: {} }, context(abort.signal));
  await expect.poll(() => daemon.requests.length).toBe(1);
  abort.abort(new Error("called off"));
  await expect(running).rejects.toThrow("called off");
  await expect.poll(() => daemon.open()).toBe(0);
});

it("an input that is no object is refused here", async () => {
  const result = await sourceAt("/nowhere").run({ id: "c", name: "fs_read", input: [1] }, context());
  expect(result).toEqual({
    output: "The input of fs_read is no JSON object.",
    is_error: true,
    code: "INVALID_REQUEST",
  });
});
