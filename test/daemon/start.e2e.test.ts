import { spawn } from "node:child_process";
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import type { Socket } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { connectDaemon, tryConnect } from "../../src/daemon/connect.ts";
import { isAlive, readDaemonFile } from "../../src/daemon/daemon-file.ts";
import { DAEMON_NODE_FLAGS } from "../../src/daemon/node-flags.ts";
import { daemonLogPath, socketPath } from "../../src/daemon/paths.ts";
import { daemonEnvironment, startDaemon } from "../../src/daemon/start.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { type Bundle, bundled } from "../support/bundled.ts";
import { killIfThere } from "../support/kill-if-there.ts";
import { connect as connectToSocket, removeDirectory, temporaryDirectory, until } from "./support/wire.ts";

let made: Bundle | undefined;
let bundle: string;
beforeAll(async () => {
  made = await bundled(fileURLToPath(new URL("./support/fake-daemon.ts", import.meta.url)));
  bundle = made.program;
});
afterAll(() => made?.remove());

/** The processes whose command line names a directory. */
const daemonsOf = (directory: string): readonly number[] =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && commandLine(pid).includes(directory));

/** Empty for a process that has ended. */
const commandLine = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
};

describe("starting a daemon", () => {
  let root: string;
  let stateDir: string;
  const env = { PATH: process.env.PATH, HOME: "/nonexistent", HOLDFAST_RUN: "store/worker/1" };

  beforeEach(async () => {
    root = await temporaryDirectory();
    stateDir = join(root, "state");
  });
  afterEach(async () => {
    // A daemon may still be starting that no client connected to. It would outlive the one that it loses to.
    await until("the daemons are gone", () => {
      const pids = daemonsOf(root);
      for (const pid of pids) killIfThere(pid);
      return pids.length === 0;
    });
    await removeDirectory(root);
  });

  const connect = async (extra: Record<string, string> = {}): Promise<number> => {
    const socket = await connectDaemon({ stateDir, bundle, env: { ...env, ...extra } });
    socket.destroy();
    return readDaemonFile(stateDir)!.pid;
  };

  /** Run the daemon's program as a supervisor of the system would, and wait for its end. */
  const runInForeground = (): Promise<{ code: number | null; stderr: string }> =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [bundle, "--state-dir", stateDir], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      let stderr = "";
      child.stderr.on("data", (text) => {
        stderr += text;
      });
      child.once("close", (code) => resolve({ code, stderr }));
    });

  test("happens on the first connection, and the next finds it", async () => {
    const pid = await connect();
    expect(await connect()).toBe(pid);
    expect(statSync(daemonLogPath(stateDir)).mode & 0o777).toBe(0o600);
    expect(existsSync(join(stateDir, "daemon.starting"))).toBe(false);
  });

  test("gives it a log that is made again where somebody deletes it", async () => {
    await connect();
    const said = () =>
      existsSync(daemonLogPath(stateDir)) ? readFileSync(daemonLogPath(stateDir), "utf8") : "";
    await until("it listens", () => said().includes("listening"));
    rmSync(daemonLogPath(stateDir));
    await until("the log says so", () =>
      said().includes("daemon.log was gone or replaced, and is there again"),
    );
  });

  test("runs it with the flags of Node that keep it small", async () => {
    const words = readFileSync(`/proc/${await connect()}/cmdline`, "utf8").split("\0");
    expect(words.slice(1, 1 + DAEMON_NODE_FLAGS.length)).toEqual(DAEMON_NODE_FLAGS);
  });

  test("gives it a session of its own, the directory /, and no marker of the run that started it", async () => {
    const pid = await connect();
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    expect(Number(stat[3]), "its session").toBe(pid);
    expect(readFileSync(`/proc/${pid}/environ`, "utf8")).not.toContain("HOLDFAST_RUN");
  });

  test("without a program to start is SUPERVISOR_DOWN", async () => {
    await expect(connectDaemon({ stateDir, env })).rejects.toMatchObject({ code: "SUPERVISOR_DOWN" });
  });

  test("by 50 clients at once makes one daemon, which answers them all", async () => {
    const found = await Promise.all(Array.from({ length: 50 }, () => connect()));
    expect(new Set(found).size).toBe(1);
  }, 60_000);

  test("starts none if another client has started one between the last try and the claim", async () => {
    await connect();
    const tries: (() => Promise<Socket | undefined>)[] = [
      async () => undefined,
      () => connectDaemon({ stateDir, env }),
    ];
    const another = join(root, "another");
    const socket = await startDaemon({
      stateDir: another,
      bundle,
      env,
      connect: () => tries.shift()!(),
    });
    socket.destroy();
    expect(existsSync(daemonLogPath(another)), "the log of a daemon that was started").toBe(false);
    expect(existsSync(join(another, "daemon.starting"))).toBe(false);
  });

  test("by several programs at once makes one daemon; the losers name it and exit 6", async () => {
    const runs = Array.from({ length: 4 }, runInForeground);
    await until(
      "one listens",
      () => readDaemonFile(stateDir) !== undefined && existsSync(socketPath(stateDir, process.getuid!())),
    );
    const { pid } = readDaemonFile(stateDir)!;
    const losers: { code: number | null; stderr: string }[] = [];
    for (const run of runs) void run.then((result) => losers.push(result));
    await until("three have lost", () => losers.length === 3);
    for (const { code, stderr } of losers) {
      expect(code).toBe(6);
      expect(stderr).toContain(`The daemon with pid ${pid} (version 0.0.0-fake) owns the state directory`);
    }
    process.kill(pid, "SIGTERM");
    await until("the winner ends", () => losers.length === 4);
    expect(losers[3]!.code).toBe(0);
  });

  test("takes over from a daemon that was killed, with its socket and its file left behind", async () => {
    const first = await connect();
    process.kill(first, "SIGKILL");
    await until("it is dead", () => !isAlive(first));
    expect(existsSync(socketPath(stateDir, process.getuid!()))).toBe(true);
    expect(readDaemonFile(stateDir)!.pid).toBe(first);
    expect(await connect()).not.toBe(first);
  });

  test("that fails says the daemon's last line at once", async () => {
    const error = await connect({ HOLDFAST_TEST_SIN: "broken" }).catch((cause) => cause);
    expect(error).toBeInstanceOf(HoldfastError);
    expect(error.code).toBe("SUPERVISOR_DOWN");
    expect(error.message).toBe("The daemon did not start: The log of this test is broken.");
    expect(error.suggestion).toContain(`See ${daemonLogPath(stateDir)}.`);
    expect(existsSync(join(stateDir, "daemon.starting"))).toBe(false);
  });

  test("waits for a daemon that is stopping and has not given its lock back yet", async () => {
    const first = await connect({ HOLDFAST_TEST_SIN: "stuck" });
    process.kill(first, "SIGTERM");
    await until("it no longer listens", () => !existsSync(socketPath(stateDir, process.getuid!())));
    const next = connect();
    await until("a daemon has lost to it", () =>
      readFileSync(daemonLogPath(stateDir), "utf8").includes("LOCK_HELD"),
    );
    process.kill(first, "SIGKILL");
    expect(await next).not.toBe(first);
  });

  test("by two clients starts one, though it takes longer than a claim holds", async () => {
    const path = socketPath(stateDir, process.getuid!());
    const slow = fileURLToPath(new URL("./support/slow-daemon.ts", import.meta.url));
    const start = () => startDaemon({ stateDir, bundle: slow, env, connect: () => tryConnect(path) });
    for (const socket of await Promise.all([start(), start()])) socket.destroy();
    expect(readFileSync(daemonLogPath(stateDir), "utf8").match(/^started$/gm)).toHaveLength(1);
  });

  test("goes on where a client was killed while it started one", async () => {
    process.kill(await connect(), "SIGKILL");
    const claim = join(stateDir, "daemon.starting");
    writeFileSync(claim, "");
    const longAgo = Date.now() / 1000 - 60;
    utimesSync(claim, longAgo, longAgo);
    await connect();
  });

  test("works where the state directory's path is too long for a socket", async () => {
    stateDir = join(root, "d".repeat(120));
    const pid = await connect();
    expect(await connect()).toBe(pid);
    expect(readDaemonFile(stateDir)!.socket).toBe(socketPath(stateDir, process.getuid!()));
    process.kill(pid, "SIGTERM");
    const socket = socketPath(stateDir, process.getuid!());
    await until("its socket is gone", () => !existsSync(socket));
    expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
    if (readdirSync(dirname(socket)).length === 0) rmdirSync(dirname(socket));
  });

  test("TERM ends it in order", async () => {
    const pid = await connect();
    process.kill(pid, "SIGTERM");
    await until("it has ended", () => !isAlive(pid));
    expect(readDaemonFile(stateDir)).toBeUndefined();
    expect(existsSync(socketPath(stateDir, process.getuid!()))).toBe(false);
  });

  test("a second signal ends it at once", async () => {
    const pid = await connect({ HOLDFAST_TEST_SIN: "stuck" });
    process.kill(pid, "SIGTERM");
    await until("it is stopping", () => readFileSync(daemonLogPath(stateDir), "utf8").includes("stopping"));
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, "SIGINT");
    await until("it has ended", () => !isAlive(pid));
  });

  test("survives a throw in a timer and a rejection that nobody handles, logs and counts them", async () => {
    const pid = await connect({ HOLDFAST_TEST_SIN: "throwing" });
    const log = () => readFileSync(daemonLogPath(stateDir), "utf8");
    await until("the throws", () => log().includes("a timer threw") && log().includes("nobody handled"));
    expect(await connect()).toBe(pid);
    const client = await connectToSocket(socketPath(stateDir, process.getuid!()));
    client.send("daemon/status", {}, "s");
    expect((await client.answer("s")).data.defects).toMatchObject({
      count: 2,
      newest: { error: "TypeError" },
    });
    client.socket.destroy();
  });
});

test("the daemon's environment is small, has no marker, and no client lets it crash", () => {
  const env = {
    PATH: "/bin",
    HOME: "/h",
    HOLDFAST_HOME: "/s",
    HOLDFAST_RUN: "a/b/1",
    HOLDFAST_CRASH_AT: "append-after:1",
    ANTHROPIC_API_KEY: "secret",
    LC_ALL: "C",
    XDG_RUNTIME_DIR: "/r",
    UNSET: undefined,
  };
  expect(daemonEnvironment(env)).toEqual({
    PATH: "/bin",
    HOME: "/h",
    HOLDFAST_HOME: "/s",
    LC_ALL: "C",
    XDG_RUNTIME_DIR: "/r",
  });
});
