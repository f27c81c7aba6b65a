/** A bridge in the configuration of a real daemon: its workers live, end, are killed, restarted and adopted as any others. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Commands, makeCommands, until } from "./support/commands.ts";

const program = resolve(import.meta.dirname, "../fixtures/bridges/peer.mjs");
let commands: Commands;
let socket: string;
let bridge: ChildProcess;

const startBridge = (): ChildProcess =>
  spawn(process.execPath, [program], {
    env: { ...process.env, HOLDFAST_BRIDGE_SOCKET: socket },
    stdio: "inherit",
  });

const spawned = async (name: string, ...argv: string[]) => {
  const answer = await commands.agent("spawn", "--runtime", "beam", "--name", name, "--", ...argv);
  expect(answer).toMatchObject({ exit: 0 });
  return answer;
};
const info = async (name: string) => (await commands.agent("info", name)).data;
const records = async (name: string, type: string) =>
  (await commands.start(["logs", name, "-o", "ndjson"]).ended).stdout
    .split("\n")
    .filter((line) => line.includes(`"type":"${type}"`));

beforeAll(async () => {
  commands = makeCommands();
  socket = join(commands.home, "beam.sock");
  bridge = startBridge();
  writeFileSync(
    join(commands.home, "config.yaml"),
    `runtimes:\n  beam: { bridge: { socket: ${socket}, abilities: [pause] } }\n`,
  );
  expect((await commands.agent("daemon", "start")).exit).toBe(0);
});
afterAll(async () => {
  await commands.close();
  bridge.kill("SIGKILL");
});

it("runs to an end, with the output and the code", async () => {
  const well = await commands.agent(
    "spawn",
    "--runtime",
    "beam",
    "--name",
    "well",
    "--wait",
    "--",
    "print",
    "0",
    "hello",
  );
  expect(well.exit).toBe(0);
  expect((await commands.text("logs", "well")).stdout).toContain("hello");
  expect((await commands.text("logs", "well", "--raw")).stdout).toContain("hello");
  const failed = await commands.agent("spawn", "--runtime", "beam", "--wait", "--", "print", "3", "no");
  expect(failed.error).toMatchObject({ code: "AGENT_FAILED" });
  const refused = await commands.agent("spawn", "--runtime", "beam", "--wait", "--", "refuse");
  expect(refused.error?.message).toContain("The bridge beam did not start the run: it knows no such agent");
});

it("is paused, unpaused and killed", async () => {
  await spawned("long", "wait");
  await until(async () => (await commands.text("logs", "long")).stdout.includes("ready"));
  expect(await info("long")).toMatchObject({ backend_kind: "bridge", pid: null });
  expect((await commands.agent("pause", "long")).exit).toBe(0);
  expect((await commands.agent("unpause", "long")).exit).toBe(0);
  expect((await commands.agent("kill", "long")).exit).toBe(0);
  expect(await info("long")).toMatchObject({ state: "cancelled", signal: "SIGTERM" });
  await spawned("deaf", "deaf");
  expect((await commands.agent("kill", "deaf", "--grace", "100ms")).exit).toBe(0);
  expect(await info("deaf")).toMatchObject({ state: "cancelled", signal: "SIGKILL" });
});

it("is the caller of what it asks the daemon, as the run that it names; a name that is none of its bridge is nobody's", async () => {
  await commands.agent("spawn", "--name", "here", "--", "sleep", "600");
  const { id: here } = await info("here");
  const store = (await commands.agent("daemon", "status")).data.store_id;
  const askerOf = async (name: string, ...claim: string[]) => {
    await commands.agent("spawn", "--runtime", "beam", "--name", name, "--wait", "--", "call", ...claim);
    const answer = JSON.parse((await commands.text("logs", name, "--raw")).stdout);
    const [asked] = await records(answer.data.id, "worker_spawn_requested");
    return { by: JSON.parse(asked!).data.payload.by, id: (await info(name)).id };
  };
  const own = await askerOf("own");
  expect(own.by).toBe(`worker:${own.id}`);
  expect((await askerOf("nobody", "")).by).toBe("unknown");
  expect((await askerOf("process", `${store}/${here}/1`)).by).toBe("unknown");
  expect((await askerOf("other", `other/${here}/1`)).by).toBe("unknown");
  await commands.agent("kill", "here");
});

it("has its companion context of the daemon: itself, those around it, and the timeline", async () => {
  await commands.agent(
    "spawn",
    "--runtime",
    "beam",
    "--name",
    "before",
    "--wait",
    "--",
    "print",
    "0",
    "marigold",
  );
  await spawned("beside", "wait");
  await commands.agent(
    "spawn",
    "--runtime",
    "beam",
    "--name",
    "curious",
    "--wait",
    "--",
    "context",
    "marigold",
  );
  const lines = (await commands.text("logs", "curious", "--raw")).stdout.trimEnd().split("\n");
  const [itself, around, timeline] = lines.map((line) => JSON.parse(line).data);
  const { id } = await info("curious");
  expect(itself).toMatchObject({ id, backend_kind: "bridge", spec: { argv: ["context", "marigold"] } });
  expect(around.children.map(({ name }: { readonly name: string }) => name)).toEqual(["beside", "curious"]);
  expect(timeline.hits).toContainEqual(
    expect.objectContaining({ worker_name: "before", type: "worker_spawned" }),
  );
  await commands.agent("kill", "beside");
});

it("is restarted by name, as its next incarnation", async () => {
  await spawned("again", "wait");
  expect((await commands.agent("restart", "again")).exit).toBe(0);
  await until(async () => (await info("again")).state === "running");
  expect(await info("again")).toMatchObject({ incarnation: 2 });
  await commands.agent("kill", "again");
});

it("is adopted by the next daemon after a crash of one, and its output goes on", async () => {
  await spawned("kept", "wait");
  await until(async () => (await commands.text("logs", "kept")).stdout.includes("ready"));
  await commands.killDaemon();
  await until(async () => (await commands.agent("daemon", "start")).exit === 0);
  expect(await info("kept")).toMatchObject({ state: "running", incarnation: 1 });
  expect((await records("kept", "worker_adopted")).length).toBe(1);
  expect((await commands.text("logs", "kept")).stdout.match(/ready/g)).toHaveLength(1);
  expect((await commands.agent("kill", "kept")).exit).toBe(0);
  expect((await records("kept", "worker_cancelled")).length).toBe(1);
});

it("is lost, once, with a bridge that is killed; status, doctor and why say that it is down, and what to do", async () => {
  const ids = ["one", "two", "three"];
  for (const id of ids) await spawned(id, "wait");
  await spawned("waits", "wait");
  bridge.kill("SIGKILL");
  await once(bridge, "exit");
  await until(async () => (await info("three")).state === "failed");
  for (const id of ids) {
    expect((await commands.agent("wait", id)).error).toMatchObject({ code: "WORKER_LOST" });
    expect((await records(id, "worker_failed")).length).toBe(1);
  }
  const status = await commands.text("daemon", "status");
  expect(status.stdout).toMatch(/runtimes +process \(subprocess\), beam \(bridge, down\)/);
  expect(status.stdout).toMatch(
    /down +The bridge beam does not serve at .*beam\.sock: ECONNREFUSED\..* Start it/,
  );
  const { checks } = (await commands.agent("doctor")).data as { checks: Record<string, string>[] };
  expect(checks.find(({ name }) => name === "daemon")).toMatchObject({
    result: "warn",
    finding: expect.stringContaining("The bridge beam does not serve"),
    fix: expect.stringContaining("Start it"),
  });
  const refused = await commands.agent("spawn", "--runtime", "beam", "--", "wait");
  expect(refused.error).toMatchObject({
    code: "UNAVAILABLE",
    suggestion: expect.stringContaining("Start it"),
  });
  // Processes of this machine are served as before.
  expect((await commands.agent("spawn", "--wait", "--", "true")).exit).toBe(0);
});

it("is served again by a bridge that is started anew", async () => {
  bridge = startBridge();
  await until(async () => !(await commands.text("daemon", "status")).stdout.includes("down"));
  expect(
    (await commands.agent("spawn", "--runtime", "beam", "--wait", "--", "print", "0", "back")).exit,
  ).toBe(0);
});

it("why says that the bridge is down while its process only does not answer", async () => {
  await spawned("held", "wait");
  await until(async () => (await info("held")).state === "running");
  bridge.kill("SIGSTOP");
  const { stdout } = await untilTold(() => commands.text("why", "held"), /does not serve/);
  expect(stdout).toContain("did not answer");
  bridge.kill("SIGCONT");
  await until(async () => !(await commands.text("why", "held")).stdout.includes("does not serve"));
  expect(await info("held")).toMatchObject({ state: "running", incarnation: 1 });
  expect((await commands.agent("kill", "held")).exit).toBe(0);
});

const untilTold = async <A extends { readonly stdout: string }>(
  ask: () => Promise<A>,
  what: RegExp,
): Promise<A> => {
  let last = await ask();
  await until(async () => {
    last = await ask();
    return what.test(last.stdout);
  });
  return last;
};
