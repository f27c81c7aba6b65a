/** The life of a bridge's connection: runs over lost connections, restarts of the bridge, pauses, heartbeats, starts of its program. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { BridgeProgram, hostOf, isGone } from "../../../src/adapters/bridge/program.ts";
import { type BridgePlace, place, QUICK, requestOf } from "./support.ts";

const until = (condition: () => unknown) => vi.waitFor(condition, { timeout: 10_000, interval: 10 });
const markerOf = (id: string) => `S/${id}/1`;
const peerOf = ({ peer }: BridgePlace, id: string) => peer.runs.get(markerOf(id))!;
const program = resolve(import.meta.dirname, "../../fixtures/bridges/peer.mjs");

it("a lost connection loses no byte and no end", async () => {
  const made = await place();
  const run = await made.open().launch(requestOf("w", "wait"));
  await until(() => expect(run.source("stdout").size()).toBe(6));
  made.peer.hangUp();
  peerOf(made, "w").print("while nobody listens\n");
  peerOf(made, "w").print("x".repeat(200_000), "stderr");
  await until(() => expect(run.source("stdout").size()).toBe(27));
  peerOf(made, "w").end({ code: 4, signal: null });
  expect((await run.exited).exit_code).toBe(4);
  expect(run.source("stderr").size()).toBe(200_000);
  // No offset was asked for twice once it was kept.
  const offsets = made.peer.asked.flatMap(({ method, params }) =>
    method === "runtime.await" ? [params.stderr] : [],
  );
  expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
});

it("a bridge in another life has lost the runs of the one before, once each", async () => {
  const made = await place();
  const runtime = made.open();
  const runs = await Promise.all(["a", "b"].map((id) => runtime.launch(requestOf(id, "wait"))));
  made.peer.runs.clear();
  made.peer.instance = "another";
  made.peer.hangUp();
  for (const run of runs) expect((await run.exited).reason).toBe("unknown");
  expect(runs.map((run) => run.process())).toEqual(["dead", "dead"]);
  expect(await runtime.observe({ worker_id: "a", incarnation: 1 })).toMatchObject({ kind: "lost" });
  expect((await runtime.launch(requestOf("c", "print", "0")).then(({ exited }) => exited)).exit_code).toBe(0);
});

it("a signal that could not be sent is sent when the bridge is back", async () => {
  const made = await place();
  const run = await made.open().launch(requestOf("w", "deaf"));
  await new Promise<void>((done) => {
    made.peer.server.close(() => done());
    made.peer.hangUp();
  });
  await expect(run.kill()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await made.peer.listen(made.socket);
  expect((await run.exited).signal).toBe("SIGKILL");
});

it("the heartbeat is the newest answer, and ages while there is none", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const made = await place();
  const run = await made.open({ times: { state_period_ms: 20 } }).launch(requestOf("w", "wait"));
  made.peer.sin = () => undefined;
  vi.advanceTimersByTime(15_001);
  expect(run.process()).toBe("unknown");
  made.peer.sin = (_, answer) => answer;
  made.peer.hangUp();
  await until(() => expect(run.process()).toBe("running"));
});

it("ended runs are forgotten by the bridge once their end is kept", async () => {
  const made = await place();
  const run = await made.open({ times: QUICK }).launch(requestOf("w", "print", "0", "a"));
  await run.exited;
  await until(() => expect(made.peer.runs.size).toBe(0));
  expect(await run.source("stdout").tail(10)).toBe("a\n");
});

it("a start says what the run may do, and who is above it", async () => {
  const made = await place();
  const runtime = made.open();
  await runtime.launch(requestOf("above", "wait"));
  const tools = { profile: "companion", allowed: ["fs/ls"], timeout_ms: 60_000 } as const;
  await runtime.launch({ ...requestOf("w", "wait"), parent: "above", tools });
  const { method, params } = made.peer.asked.findLast((one) => one.params.argv !== undefined)!;
  expect(method).toBe("runtime.spawn_child");
  expect(params).toMatchObject({
    run: "S/w/1",
    parent: "S/above/1",
    daemon_socket: join(made.dir, "agent.sock"),
  });
  expect(params.plugin_config).toEqual({
    binary: "/opt/agent",
    workspace: "/",
    transport: "daemon_rpc",
    daemon: true,
    tool_command: { profile: "companion", allowed_tools: ["fs/ls"], default_timeout_ms: 60_000 },
  });
});

it("a start that the bridge refuses may be tried again", async () => {
  const made = await place();
  const runtime = made.open();
  await expect(runtime.launch(requestOf("w", "refuse"))).rejects.toMatchObject({
    code: "EXEC_FAILED",
    message: "The bridge beam did not start the run: it knows no such agent.",
  });
  await runtime.launch(requestOf("w", "wait"));
});

it("a list of many runs is read page by page, without those of another store", async () => {
  const made = await place();
  const runtime = made.open();
  const ids = Array.from({ length: 1_201 }, (_, at) => `w${String(at).padStart(5, "0")}`);
  await Promise.all(ids.map((id) => runtime.launch(requestOf(id, "wait"))));
  made.peer.runs.set("T/other/1", peerOf(made, "w00000"));
  expect((await runtime.living()).map(({ worker_id }) => worker_id).sort()).toEqual(ids);
});

it("a socket that is none, or not ours to trust, is not used", async () => {
  const made = await place();
  const runtime = made.open({ socket: join(made.dir, "runs") });
  await until(() => expect(runtime.trouble()?.message).toContain("ENOENT"));
  const there = made.open({ socket: program });
  await until(() => expect(there.trouble()?.message).toContain("something else than a socket"));
});

it("its program is started where nothing answers, and its death ends its runs", async () => {
  const made = await place();
  const socket = join(made.dir, "own.sock");
  const env = { ...process.env, HOLDFAST_BRIDGE_SOCKET: socket };
  const log = join(made.dir, "bridge.log");
  const own = new BridgeProgram({ command: [process.execPath, program], env, log });
  onTestFinished(() => own.stop());
  const started = vi.spyOn(own, "start");
  const runtime = made.open({ socket, program: own, peerPid: () => own.pid() });
  await runtime.check();
  expect(started).toHaveBeenCalled();
  expect(statSync(log).mode & 0o777).toBe(0o600);
  expect(runtime.host()).toEqual(hostOf(own.pid()));
  const run = await runtime.launch(requestOf("w", "wait"));
  process.kill(own.pid()!, "SIGKILL");
  expect((await run.exited).reason).toBe("unknown");
  // It is started again, in another life.
  await until(() => expect(runtime.trouble()).toBeUndefined());
  expect((await (await runtime.launch(requestOf("x", "print", "0"))).exited).exit_code).toBe(0);
});

it("a program that cannot be started, or ends, is told with its log", async () => {
  const made = await place();
  const log = join(made.dir, "bridge.log");
  const open = (command: readonly string[]) =>
    made.open({ socket: join(made.dir, "none.sock"), program: new BridgeProgram({ command, env: {}, log }) });
  const missing = open(["/no/such/program"]);
  await until(() =>
    expect(missing.trouble()?.message).toContain("it cannot be started: spawn /no/such/program ENOENT"),
  );
  const ends = open(["/bin/sh", "-c", "echo why; exit 7"]);
  await until(() => expect(ends.trouble()?.message).toContain("it ended with code 7"));
  expect(ends.trouble()?.suggestion).toContain(log);
});

it("a process that has ended is gone, and one that lives is not", async () => {
  const child = spawn("sleep", ["60"]);
  const host = hostOf(child.pid);
  expect([isGone(host), isGone(undefined)]).toEqual([false, false]);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(isGone(host)).toBe(true);
});
