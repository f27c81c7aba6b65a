/** `agent daemon stop` and then `start`, as scripts do it: whoever starts the next daemon never meets the one that ends. */
import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { currentPlace, identityOf, readStat } from "../../src/adapters/process/identity.ts";
import { VERSION } from "../../src/cli/package.ts";
import { isHolderAlive, writeDaemonFile } from "../../src/daemon/daemon-file.ts";
import { socketPath } from "../../src/daemon/paths.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";
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
