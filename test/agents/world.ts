/**
 * A world for one CLI: a fake model, an empty HOME, a state directory, and the built `agent` command with an environment
 * that holds nothing of this machine's. All of it, and every process, ends with the test file.
 */
import { execFileSync, spawn } from "node:child_process";
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { AgentEvent } from "../../src/protocol/agent-event.ts";
import type { LogRecord, RecordType } from "../../src/protocol/records.ts";
import type { ScenarioName } from "../support/fake-model/scenarios.ts";
import { type FakeModel, startFakeModel } from "../support/fake-model/server.ts";
import type { AgentUnderTest } from "./agents.ts";

const AGENT = join(import.meta.dirname, "../../bin/agent");
const UNTIL_MAX_MS = 60_000;
const UNTIL_POLL_MS = 20;

type RecordOf<T extends RecordType> = Extract<LogRecord, { type: T }>;

/** Everything that the log has of one worker. */
export interface Story {
  readonly id: string;
  readonly records: readonly LogRecord[];
  readonly events: readonly AgentEvent[];
  of<T extends RecordType>(type: T): readonly RecordOf<T>[];
}

export interface World {
  readonly model: FakeModel;
  /** `agent ARGV…`; fails when it exits with another code than 0. */
  agent(...argv: string[]): Promise<string>;
  /** Spawns an agent that is in the scenario; its id. */
  spawn(scenario: ScenarioName, cwd: string, ...flags: string[]): Promise<string>;
  /** The same, without permission for anything. */
  spawnDenied(scenario: ScenarioName, cwd: string): Promise<string>;
  /** The same, with these flags alone. */
  spawnWith(scenario: ScenarioName, cwd: string, ...flags: string[]): Promise<string>;
  /** Follows a worker to its end. */
  story(id: string): Promise<Story>;
  /** What the log has of a worker by now. */
  soFar(id: string): Promise<Story>;
  close(): Promise<void>;
}

export const until = async (holds: () => boolean | Promise<boolean>, what: string): Promise<void> => {
  const deadline = performance.now() + UNTIL_MAX_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${UNTIL_MAX_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, UNTIL_POLL_MS));
  }
};

const storyOf = (id: string, output: string): Story => {
  const lines = output.trimEnd().split("\n");
  const records = lines.map((line) => JSON.parse(line)).filter((line) => "seq" in line) as LogRecord[];
  const of = <T extends RecordType>(type: T) =>
    records.filter((record): record is RecordOf<T> => record.type === type);
  return { id, records, of, events: of("agent.event").map(({ payload }) => payload) };
};

export const makeWorld = async (under: AgentUnderTest): Promise<World> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-agents-"));
  const [home, state] = [join(dir, "home"), join(dir, "state")];
  for (const each of [home, state, join(dir, "tmp")]) mkdirSync(each);
  const model = await startFakeModel();
  for (const [name, text] of Object.entries(under.files(model.url))) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  const env = {
    PATH: "/usr/bin:/bin",
    HOME: home,
    TMPDIR: join(dir, "tmp"),
    TERM: "dumb",
    LANG: "C.UTF-8",
    HOLDFAST_HOME: state,
    ...under.env(model.url),
  };

  const run = (argv: readonly string[]) =>
    new Promise<{ exit: number | null; stdout: string; stderr: string }>((resolve, reject) => {
      const child = spawn(process.execPath, [AGENT, ...argv], {
        env,
        cwd: dir,
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
      child.stdout.on("data", (chunk) => stdout.push(chunk));
      child.stderr.on("data", (chunk) => stderr.push(chunk));
      child.on("error", reject);
      child.on("close", (exit) =>
        resolve({ exit, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }),
      );
    });

  const agent: World["agent"] = async (...argv) => {
    const { exit, stdout, stderr } = await run(argv);
    if (exit !== 0) throw new Error(`agent ${argv.join(" ")} exited with ${exit}: ${stdout}${stderr}`);
    return stdout;
  };

  const spawnAgent = async (
    scenario: ScenarioName,
    cwd: string,
    more: readonly string[],
  ): Promise<string> => {
    const argv = ["spawn", under.kind, `Please. [[scenario:${scenario}]]`, "--cwd", cwd, "-o", "text"];
    return (await agent(...argv, ...under.flags, ...more)).trim();
  };

  return {
    model,
    agent,
    spawn: (scenario, cwd, ...flags) =>
      spawnAgent(scenario, cwd, [...under.allowed.flags, ...flags, "--", ...under.allowed.argv]),
    spawnDenied: (scenario, cwd) => spawnAgent(scenario, cwd, ["--permission", "deny"]),
    spawnWith: (scenario, cwd, ...flags) => spawnAgent(scenario, cwd, flags),
    // A watch tells by its exit code how the worker ended.
    story: async (id) => storyOf(id, (await run(["watch", id, "--from", "0", "-o", "json"])).stdout),
    soFar: async (id) => storyOf(id, await agent("logs", id, "-o", "json")),
    close: async () => {
      await run(["daemon", "stop", "--kill-agents"]);
      await model.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
};

/** A working directory of one test. */
export const makeCwd = (): string => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-cwd-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
};

/** A FIFO `canary` in the directory, for the scenario `shellsleep`: whether any of its tools still holds it. */
export const makeCanary = (cwd: string): (() => boolean) => {
  const path = join(cwd, "canary");
  execFileSync("mkfifo", [path]);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(fd));
  return () => {
    try {
      return readSync(fd, Buffer.alloc(1), 0, 1, null) > 0;
    } catch (cause) {
      // There is nothing to read, and somebody who could write it.
      if ((cause as NodeJS.ErrnoException).code === "EAGAIN") return true;
      throw cause;
    }
  };
};
