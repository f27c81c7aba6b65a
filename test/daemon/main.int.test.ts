import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Effect, Exit } from "effect";
import { describe, expect, test } from "vitest";
import { makeDefects } from "../../src/actors/defects.ts";
import { readDaemonFile } from "../../src/daemon/daemon-file.ts";
import { logOutput } from "../../src/daemon/log-output.ts";
import { type DaemonOptions, runDaemon } from "../../src/daemon/main.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { makeFakeRuntime } from "./support/fake-runtime.ts";
import { connect, removeDirectory, startTestDaemon, temporaryDirectory } from "./support/wire.ts";

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe("a daemon", () => {
  test("listens on a socket 0600 in a directory 0700 and says who it is", async () => {
    const daemon = await startTestDaemon();
    expect(modeOf(daemon.socket)).toBe(0o600);
    expect(modeOf(daemon.stateDir)).toBe(0o700);
    expect(readDaemonFile(daemon.stateDir)).toMatchObject({
      pid: process.pid,
      version: "0.0.0",
      socket: daemon.socket,
    });
    await daemon.stop();
    expect(existsSync(daemon.socket)).toBe(false);
    expect(readDaemonFile(daemon.stateDir)).toBeUndefined();
  });

  test("of the default state directory is linked at the runtime directory while it runs", async () => {
    const runtimeDir = await temporaryDirectory();
    const daemon = await startTestDaemon(makeFakeRuntime(), { XDG_RUNTIME_DIR: runtimeDir });
    const link = join(runtimeDir, "holdfast", "agent.sock");
    expect(readlinkSync(link)).toBe(daemon.socket);
    const client = await connect(link);
    client.send("agent/tree", {}, "t");
    expect((await client.answer("t")).status).toBe("ok");
    client.socket.destroy();

    const second = await startTestDaemon(makeFakeRuntime(), { XDG_RUNTIME_DIR: runtimeDir });
    expect(readlinkSync(link), "a daemon that answers keeps the link").toBe(daemon.socket);
    await second.stop();
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    await daemon.stop();
    expect(lstatSync(link, { throwIfNoEntry: false })).toBeUndefined();
    await removeDirectory(runtimeDir);
  });

  test("that is signalled keeps its agents, ends watches with a reason, and closes its connections", async () => {
    const daemon = await startTestDaemon(makeFakeRuntime(["a"]));
    const client = await connect(daemon.socket);
    client.send("agent/watch", {}, "w");
    client.send("agent/list", {}, "l");
    await client.answer("l");
    await daemon.stop();
    expect((await client.answer("w")).error.message).toBe("The daemon is stopping.");
    expect(client.closed()).toBe(true);
    expect(daemon.runtime.shutdowns).toEqual([["keep", "SIGTERM"]]);
  });

  describe("asked to stop", () => {
    test("refuses while agents run, and says how many", async () => {
      const daemon = await startTestDaemon(makeFakeRuntime(["a", "b"]));
      const client = await connect(daemon.socket);
      client.send("daemon/stop", {}, "s");
      const { error } = await client.answer("s");
      expect(error).toMatchObject({
        code: "EPOLICY",
        message: "2 agents are running.",
        details: { live: 2 },
      });
      expect(daemon.runtime.shutdowns).toEqual([]);
      client.socket.destroy();
      await daemon.stop();
    });

    test.each(["kill", "keep"] as const)("%ss the agents, answers, and then exits", async (agents) => {
      const daemon = await startTestDaemon(makeFakeRuntime(["a"]));
      const client = await connect(daemon.socket);
      client.send("daemon/stop", { agents }, "s");
      expect(await client.answer("s")).toMatchObject({ status: "ok", data: { agents, live: 1 } });
      expect(Exit.isSuccess(await daemon.ended)).toBe(true);
      expect(daemon.runtime.shutdowns).toEqual([[agents, "daemon/stop"]]);
      await daemon.stop();
    });

    test("that could not stop its agents says which, and serves them and new clients on", async () => {
      const runtime = makeFakeRuntime(["a"]);
      const { shutdown } = runtime;
      let isStuck = true;
      const running = new HoldfastError("AGENTS_RUNNING", "1 agent could not be stopped.", {
        details: { running: ["a"] },
      });
      runtime.shutdown = (...asked) => (isStuck ? Effect.fail(running) : shutdown(...asked));
      const daemon = await startTestDaemon(runtime);
      const client = await connect(daemon.socket);
      client.send("daemon/stop", { agents: "kill" }, "s");
      expect((await client.answer("s")).error).toMatchObject({ details: { running: ["a"] } });
      for (const one of [client, await connect(daemon.socket)]) {
        one.send("agent/list", {}, "l");
        expect((await one.answer("l")).status).toBe("ok");
      }
      isStuck = false;
      client.send("daemon/stop", { agents: "kill" }, "again");
      expect((await client.answer("again")).status).toBe("ok");
      expect(Exit.isSuccess(await daemon.ended)).toBe(true);
      await daemon.stop();
    });

    test("needs no flag when nothing runs", async () => {
      const daemon = await startTestDaemon();
      const client = await connect(daemon.socket);
      client.send("daemon/stop", {}, "s");
      expect((await client.answer("s")).status).toBe("ok");
      expect(Exit.isSuccess(await daemon.ended)).toBe(true);
      await daemon.stop();
    });
  });
});

/** The error with which it ends. */
const startThatFails = (
  stateDir: string,
  how: Partial<Pick<DaemonOptions, "openRuntime" | "takeOver">>,
): Promise<HoldfastError> =>
  Effect.runPromise(
    Effect.flip(
      runDaemon({
        stateDir,
        version: "0.0.0",
        env: {},
        home: stateDir,
        log: () => undefined,
        output: logOutput(process.stderr),
        defects: makeDefects(() => undefined),
        openRuntime: () => Effect.succeed(makeFakeRuntime()),
        signalled: Effect.never,
        ...how,
      }),
    ),
  );

test("a start removes what a killed process left for nobody, and nothing else", async () => {
  const stateDir = await temporaryDirectory();
  const left = ["daemon.room.4711", "holdfast.db.folded"];
  const kept = ["daemon.room.of-somebody", "holdfast.db.folded.1", "holdfast.db.written-back", "notes"];
  for (const name of [...left, ...kept]) writeFileSync(join(stateDir, name), "x");
  mkdirSync(join(stateDir, "daemon.room.1"));
  let found: readonly string[] = [];
  await startThatFails(stateDir, {
    openRuntime: () => {
      found = readdirSync(stateDir);
      return Effect.fail(new HoldfastError("STORE_FAILED", "Seen enough."));
    },
  });
  expect(found).toEqual(expect.arrayContaining([...kept, "daemon.room.1"]));
  for (const name of left) expect(found).not.toContain(name);
  await removeDirectory(stateDir);
});

test("a start from inside a run that nothing from inside may start serves nobody", async () => {
  const stateDir = await temporaryDirectory();
  const from: number[] = [];
  const inside = { type: "worker", worker_id: "01KXA0000000000000000000AB" } as const;
  const runtime = {
    ...makeFakeRuntime(),
    identifyIn: (lineage: readonly { readonly pid: number }[]) => {
      from.push(...lineage.slice(0, 1).map(({ pid }) => pid));
      return inside;
    },
    permitStart: (caller: unknown) =>
      caller === inside
        ? Effect.fail(new HoldfastError("INVALID_STATE", "It was killed."))
        : Effect.succeed("user"),
  };
  const ended = await startThatFails(stateDir, { openRuntime: () => Effect.succeed(runtime) });
  expect(ended).toMatchObject({ code: "INVALID_STATE", message: "It was killed." });
  // The process that has started it is judged.
  expect(from).toEqual([process.ppid]);
  expect(existsSync(join(stateDir, "agent.sock"))).toBe(false);
  await removeDirectory(stateDir);
});

describe("a start that throws", () => {
  const startWith = (thrown: unknown, stateDir: string) =>
    startThatFails(stateDir, {
      takeOver: {
        check: () => {
          throw thrown;
        },
      },
    });
  const refused = Object.assign(new Error("EROFS: read-only file system"), { code: "EROFS", errno: -30 });
  test.each([
    ["what the file system refuses says so in its words", refused, "STORE_FAILED"],
    [
      "a mistake of ours is one, and does not blame the disk",
      new TypeError("x is not a function"),
      "INTERNAL",
    ],
  ])("%s", async (_what, thrown, code) => {
    const stateDir = await temporaryDirectory();
    expect(await startWith(thrown, stateDir)).toMatchObject({ code, message: thrown.message });
    await removeDirectory(stateDir);
  });
});
