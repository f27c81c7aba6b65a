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
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { AgentEvent } from "../../src/protocol/agent-event.ts";
import type { LogRecord, RecordType } from "../../src/protocol/records.ts";
import { toolKeyOf } from "../../src/protocol/tool-calls.ts";
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

/** The outcome of a run of `agent`. */
export interface Ran {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface World {
  readonly model: FakeModel;
  /** The variables of `agent`. */
  readonly env: Readonly<Record<string, string>>;
  /** `agent ARGV…`; fails when it exits with another code than 0. */
  agent(...argv: string[]): Promise<string>;
  /** The same, whatever its exit code. */
  run(...argv: string[]): Promise<Ran>;
  /** Spawns an agent that is in the scenario; its id. */
  spawn(scenario: ScenarioName, cwd: string, ...flags: string[]): Promise<string>;
  /** The same, and the flags alone say what it may do. */
  spawnWith(scenario: ScenarioName, cwd: string, ...flags: string[]): Promise<string>;
  /** Runs `agent spawn` with this text for a prompt, from a file. */
  say(prompt: string, cwd: string, ...flags: string[]): Promise<Ran>;
  /** Follows a worker to its end, after which nothing may be left of it, by its records and by the process table. */
  story(id: string): Promise<Story>;
  /** The records of a worker by now. */
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

/** Processes with the marker of one of the worker's runs. */
const markedBy = (id: string): readonly string[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
        const isMarked = variables.some(
          (each) => each.startsWith("HOLDFAST_RUN=") && each.includes(`/${id}/`),
        );
        const argv = () => readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        return isMarked ? [`${pid} (${argv()})`] : [];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });

const leftOf = ({ id, of }: Story): readonly string[] => [
  ...of("worker_exited")
    .flatMap(({ payload }) => payload.sweep?.survivors ?? [])
    .map(String),
  ...markedBy(id),
];

const storyOf = (id: string, output: string): Story => {
  const lines = output.trimEnd().split("\n");
  const records = lines.map((line) => JSON.parse(line)).filter((line) => "seq" in line) as LogRecord[];
  const of = <T extends RecordType>(type: T) =>
    records.filter((record): record is RecordOf<T> => record.type === type);
  return { id, records, of, events: of("agent.event").map(({ payload }) => payload) };
};

/** All that a world needs of a CLI; `kind` is what `agent spawn` is told. */
export type Spawnable = Pick<AgentUnderTest, "env" | "files" | "flags" | "allowed"> & {
  readonly kind: string;
};

export const makeWorld = async (under: Spawnable): Promise<World> => {
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

  const run = (...argv: string[]): Promise<Ran> =>
    new Promise((resolve, reject) => {
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
    const { exit, stdout, stderr } = await run(...argv);
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
    env,
    agent,
    spawn: (scenario, cwd, ...flags) =>
      spawnAgent(scenario, cwd, [...under.allowed.flags, ...flags, "--", ...under.allowed.argv]),
    spawnWith: (scenario, cwd, ...flags) => spawnAgent(scenario, cwd, flags),
    run,
    say: async (prompt, cwd, ...flags) => {
      const file = join(mkdtempSync(join(dir, "prompt-")), "prompt");
      writeFileSync(file, prompt);
      const argv = ["spawn", under.kind, "--prompt-file", file, "--cwd", cwd, "-o", "json"];
      return run(...argv, ...under.flags, ...under.allowed.flags, ...flags, "--", ...under.allowed.argv);
    },
    // A watch tells by its exit code how the worker ended.
    story: async (id) => {
      const story = storyOf(id, (await run("watch", id, "--from", "0", "-o", "json")).stdout);
      const left = leftOf(story);
      if (left.length > 0)
        throw new Error(`worker ${id} has ended, and processes are left: ${left.join(", ")}`);
      return story;
    },
    soFar: async (id) => storyOf(id, await agent("logs", id, "-o", "json")),
    close: async () => {
      await run("daemon", "stop", "--kill-agents");
      await model.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
};

/** kill -9 of the daemon, and the next one. */
export const replaceDaemon = async (world: World): Promise<void> => {
  const { pid } = JSON.parse(await world.agent("daemon", "status", "-o", "json")).data;
  process.kill(pid, "SIGKILL");
  const isGone = () => {
    try {
      // A zombie has an empty command line.
      return readFileSync(`/proc/${pid}/cmdline`, "utf8") === "";
    } catch {
      return true;
    }
  };
  await until(isGone, "the daemon is gone");
  await world.agent("daemon", "start");
};

/** An agent that somebody kills between two turns of its conversation goes on in its session, and answers there. */
export const killedBetweenTurns = async (world: World, cwd: string): Promise<Story> => {
  const flags = ["--interactive", "--restart", "transient", "--backoff", "100ms..1s"];
  const id = await world.spawn("text", cwd, ...flags);
  await until(async () => (await world.soFar(id)).of("turn_completed").length === 1, "the first turn");
  const [spawned] = (await world.soFar(id)).of("worker_spawned");
  process.kill(spawned!.payload.agent!.pid, "SIGKILL");
  await until(async () => (await world.soFar(id)).of("worker_spawned").length === 2, "it is started again");
  const said = await world.agent("ask", id, "And now? [[scenario:thinking]]", "-o", "text");
  if (!said.includes("Forty-two.")) throw new Error(`it answered ${JSON.stringify(said)}`);
  await world.agent("send", id, "--close");
  return world.story(id);
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

/** How often each call of a tool has a result: by its id, within its incarnation. */
export const resultsOfCalls = ({ records }: Pick<Story, "records">): readonly number[] => {
  const results = new Map<string, number>();
  for (const record of records) {
    if (record.type !== "agent.event") continue;
    const { kind, data } = record.payload;
    const key = `${record.incarnation} ${toolKeyOf(data)}`;
    if (kind === "ToolCall") results.set(key, 0);
    else if (kind === "ToolResult" && results.has(key)) results.set(key, results.get(key)! + 1);
  }
  return [...results.values()];
};

/** Some agents start a tool a moment before they tell its call. */
export const callIsTold = (world: Pick<World, "soFar">, id: string): Promise<void> =>
  until(async () => resultsOfCalls(await world.soFar(id)).length > 0, "the call is told");
