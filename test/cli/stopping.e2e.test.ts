/**
 * `agent daemon stop` and then `start`, as scripts do it: whoever starts the next daemon never meets the one that ends. And a
 * stop that takes long, which counts.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { currentPlace, identityOf, readStat } from "../../src/adapters/process/identity.ts";
import { VERSION } from "../../src/cli/package.ts";
import { isHolderAlive, writeDaemonFile } from "../../src/daemon/daemon-file.ts";
import { socketPath } from "../../src/daemon/paths.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { AGENT, CACHE } from "../support/built.ts";
import { makeCommands } from "./support/commands.ts";
import { fakeDaemon } from "./support/fake-daemon.ts";

const commands = () => {
  const made = makeCommands();
  onTestFinished(() => made.close());
  return made;
};

test("stop returns once the process is gone, which answers a moment before", async () => {
  const { agent } = commands();
  const ending = spawn("sh", ["-c", "read end; exec sleep 0.5"], { stdio: ["pipe", "ignore", "ignore"] });
  const daemon = await fakeDaemon({
    "daemon/stop": () => {
      ending.stdin.end("end\n");
      return { agents: "keep", live: 0 };
    },
  });
  onTestFinished(() => daemon.close());
  const pid = ending.pid!;
  const identity = identityOf(pid, readStat(pid)!.start_time, currentPlace());
  const holder = { pid, version: VERSION, socket: "", started_at: new Date().toISOString(), identity };
  writeDaemonFile(daemon.stateDir, holder);
  expect((await agent("--state-dir", daemon.stateDir, "daemon", "stop", "--keep-agents")).exit).toBe(0);
  expect(isHolderAlive(holder)).toBe(false);
});

test("start waits for one that is stopping, and starts the next", async () => {
  const { agent } = commands();
  const stopping = await fakeDaemon({
    "daemon/status": () => {
      const socket = socketPath(stopping.stateDir, process.getuid!());
      if (existsSync(socket)) rmSync(socket);
      throw new HoldfastError("UNAVAILABLE", "The daemon is stopping.");
    },
  });
  onTestFinished(() => stopping.close());
  const there = (...words: string[]) => agent("--state-dir", stopping.stateDir, "daemon", ...words);
  onTestFinished(async () => void (await there("stop", "--kill-agents")));
  expect(await there("start")).toMatchObject({ exit: 0, data: { effect: "created" } });
  expect(await there("status")).toMatchObject({ exit: 0 });
});

test("after a stop that keeps the agents, a command says how many wait for the next daemon, and how to go on", async () => {
  const { agent } = commands();
  for (const name of ["one", "two"]) await agent("spawn", "--name", name, "--", "sleep", "600");
  expect((await agent("daemon", "stop", "--keep-agents")).exit).toBe(0);
  expect(await agent("list")).toMatchObject({
    exit: 4,
    error: {
      code: "SUPERVISOR_DOWN",
      suggestion: "2 workers go on without it. Take over with: agent daemon start",
    },
  });
  expect((await agent("daemon", "start")).exit).toBe(0);
  expect((await agent("list")).data).toMatchObject([{ name: "one" }, { name: "two" }]);
});

test("a stop that takes long counts on a terminal how many it has ended", async () => {
  const { agent, home, start } = commands();
  const file = join(home, "holdfast.yaml");
  // Children stop in the reverse order, so the deaf one is the last.
  writeFileSync(
    file,
    `version: 1
name: crew
tree:
  children:
    - { name: deaf, argv: [sh, -c, "trap '' TERM; echo deaf; while :; do sleep 1; done"], shutdown: 10m, ready: { log: deaf } }
    - { name: one, argv: [sleep, "600"] }
    - { name: two, argv: [sleep, "600"] }
`,
  );
  expect((await agent("up", "-f", file)).exit).toBe(0);
  const words = [process.execPath, AGENT, "down", "crew"].map((word) => `'${word}'`).join(" ");
  const down = spawn("script", ["-qefc", words, "/dev/null"], {
    env: { PATH: process.env.PATH, TERM: "xterm", ...CACHE, HOLDFAST_HOME: home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let shown = "";
  down.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
  });
  const ended = once(down, "close");
  while (!shown.includes("stopping crew (2 of 3)")) await once(down.stdout, "data");
  // A second kill ends the grace.
  await start(["kill", "deaf"]).ended;
  expect(await ended).toEqual([0, null]);
});
