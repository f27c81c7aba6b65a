/** The example bridge in Erlang keeps the duties of every runtime, and serves others while one client breaks the rules. */
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, test, vi } from "vitest";
import { BridgeProgram } from "../../../src/adapters/bridge/program.ts";
import { BridgeSpawner } from "../../../src/adapters/bridge/spawner.ts";
import {
  type RunBehaviour,
  type RuntimeBench,
  runtimeConformance,
} from "../../../src/adapters/runtime-conformance.ts";
import { BEAM_BRIDGE, hasBeam } from "../../support/beam.ts";
import { temporaryDirectory } from "../process/support.ts";
import { argvOf, requestOf } from "./support.ts";

const openBeam = () => {
  const dir = temporaryDirectory();
  const socket = join(dir, "beam.sock");
  const env = { ...process.env, HOLDFAST_BRIDGE_SOCKET: socket };
  const program = new BridgeProgram({ command: [BEAM_BRIDGE], env, log: join(dir, "beam.log") });
  const open = () =>
    new BridgeSpawner({
      name: "beam",
      socket,
      store_id: "S",
      runsDir: join(dir, "runs"),
      program,
      abilities: new Set(["pause"]),
      daemon: { socket: join(dir, "agent.sock"), binary: "/opt/agent" },
      peerPid: () => program.pid(),
      report: () => undefined,
    });
  return { socket, program, open };
};

const bench = async (): Promise<RuntimeBench> => {
  const { program, open } = openBeam();
  let newest = open();
  await newest.check();
  return {
    runtime: newest,
    request: (behaviour: RunBehaviour) => ({ argv: argvOf(behaviour), cwd: "/", env: {} }),
    reopen: async () => {
      const before = newest;
      newest = open();
      await before.close();
      await newest.check();
      return newest;
    },
    close: async () => {
      await newest.close();
      program.stop();
    },
  };
};

describe.skipIf(!hasBeam)("runs in a BEAM", () => {
  for (const { title, check } of runtimeConformance(bench, { lacks: ["input"] })) test(title, check);

  it("half a frame, and what is none, end their own connection and no other", async () => {
    const { socket, program, open } = openBeam();
    const runtime = open();
    onTestFinished(async () => {
      await runtime.close();
      program.stop();
    });
    await runtime.check();
    const run = await runtime.launch(requestOf("w", "wait"));
    for (const bytes of ['{"jsonrpc": "2.0", "id": 1, "met', "no json\n", '{"jsonrpc": "2.0", "id": 1}\n']) {
      const other = connect(socket);
      await once(other, "connect");
      other.end(bytes);
      await once(other.resume(), "close");
    }
    await vi.waitFor(() => expect(run.source("stdout").size()).toBe(6), { timeout: 10_000 });
    expect((await runtime.living()).length).toBe(1);
    await run.kill();
    expect((await run.exited).signal).toBe("SIGKILL");
  });

  it("a worker that crashes ends alone, with its reason on stderr", async () => {
    const { program, open } = openBeam();
    const runtime = open();
    onTestFinished(async () => {
      await runtime.close();
      program.stop();
    });
    const other = await runtime.launch(requestOf("other", "wait"));
    const run = await runtime.launch(requestOf("w", "crash"));
    expect((await run.exited).exit_code).toBe(1);
    expect(await run.source("stderr").tail(1_000)).toContain("it_was_told_to");
    expect(other.process()).toBe("running");
    await other.kill();
  });
});
