/** A thousand workers behind the bridge in Erlang: its kill is one end of each; and each of the two sockets serves without the other. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { listPids, readProc } from "../../src/adapters/process/identity.ts";
import { BEAM_BRIDGE, hasBeam } from "../support/beam.ts";
import { killIfThere } from "../support/kill-if-there.ts";
import { type Daemon, startDaemon, temporaryDirectory, until } from "./support.ts";

const WORKERS = 1_000;
const AT_ONCE = 50;
const TERMINAL = ["worker_completed", "worker_failed", "worker_cancelled"] as const;

/** By the path of its socket in its environment. */
const bridgesAt = (socket: string): readonly number[] =>
  listPids().filter((pid) => {
    const block = readProc(`/proc/${pid}/environ`, Buffer.alloc(65_536));
    const isBeam = String(readProc(`/proc/${pid}/comm`)).startsWith("beam.smp");
    return isBeam && String(block).includes(`HOLDFAST_BRIDGE_SOCKET=${socket}`);
  });

const withBeam = async () => {
  const stateDir = join(temporaryDirectory(), "state");
  const socket = join(stateDir, "beam.sock");
  mkdirSync(stateDir, { mode: 0o700 });
  const bridge = { socket, command: [BEAM_BRIDGE], abilities: ["pause"] };
  writeFileSync(join(stateDir, "config.yaml"), JSON.stringify({ runtimes: { beam: { bridge } } }));
  onTestFinished(() => {
    for (const pid of bridgesAt(socket)) killIfThere(pid);
  });
  const env = { HOLDFAST_MAX_RUNNING: String(2 * WORKERS) };
  return { stateDir, socket, env, daemon: await startDaemon(stateDir, { env }) };
};

const inBeam = (daemon: Daemon, ...argv: string[]) => daemon.spawn(argv, { runtime: "beam" });

const spawnAll = async (daemon: Daemon, ...argv: string[]): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let at = 0; at < WORKERS; at += AT_ONCE)
    ids.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => inBeam(daemon, ...argv)))));
  return ids;
};
const running = async (daemon: Daemon) =>
  (await daemon.list()).filter(({ state }) => state === "running").length;

/** The number of terminal records of each worker. */
const endsOf = async (daemon: Daemon, ids: readonly string[]): Promise<ReadonlySet<number>> => {
  const ends = new Map(ids.map((id) => [id, 0]));
  for (const { worker_id = "" } of await daemon.history(TERMINAL))
    ends.set(worker_id, (ends.get(worker_id) ?? 0) + 1);
  return new Set(ends.values());
};

describe.skipIf(!hasBeam)("a bridge in Erlang", () => {
  it(`${WORKERS} workers start, live on over a crash of the daemon, and end once each when the BEAM is killed`, async () => {
    const { stateDir, socket, env, daemon } = await withBeam();
    const ids = await spawnAll(daemon, "wait");
    await until("all of them run", async () => (await running(daemon)) === WORKERS);
    await daemon.kill9();
    const next = await startDaemon(stateDir, { env });
    await until("all of them are taken over", async () => (await running(next)) === WORKERS);
    expect(await endsOf(next, ids)).toEqual(new Set([0]));

    const [beam] = bridgesAt(socket);
    process.kill(beam!, "SIGKILL");
    await until("all of them have ended", async () => (await running(next)) === 0);
    expect(await endsOf(next, ids)).toEqual(new Set([1]));
    const lost = await next.history(["worker_failed"]);
    expect(new Set(lost.map(({ payload }) => payload.error.code))).toEqual(new Set(["WORKER_LOST"]));
    // The daemon starts the bridge again, and it serves.
    const again = await inBeam(next, "print", "0", "back");
    await next.wait([again]);
    expect(await next.output(again)).toBe("back\n");
  });

  it("a permanent worker goes on in the next life of the BEAM", async () => {
    const { socket, daemon } = await withBeam();
    const id = await daemon.spawn(["wait"], { runtime: "beam", restart: "permanent" });
    await until("it runs", async () => (await daemon.info(id)).state === "running");
    process.kill(bridgesAt(socket)[0]!, "SIGKILL");
    await until("it runs again", async () => {
      const { state, incarnation } = await daemon.info(id);
      return state === "running" && incarnation === 2;
    });
  });

  it("runs ask the daemon by its own socket: a skill, a child, and no more than their profile names", async () => {
    const { daemon } = await withBeam();
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, "found.txt"), "here");
    const ask = async (...argv: string[]) => {
      const id = await daemon.spawn(argv, { runtime: "beam", cwd });
      await daemon.wait([id]).catch(() => undefined);
      return { id, said: await daemon.output(id) };
    };
    const child = await ask("spawn", "print", "0", "a child");
    const { id } = JSON.parse(child.said) as { id: string };
    const [asked] = await daemon.history(["worker_spawn_requested"], [id]);
    expect(asked?.payload).toMatchObject({ by: `worker:${child.id}`, spec: { parent: child.id } });
    expect((await ask("tool", "http/openapi", "{}")).said).toContain("does not name http/openapi");
    // Without a sandbox on this machine, the skill says so: it was asked for, and allowed.
    expect((await ask("tool", "fs/ls", '{"path":"."}')).said).toMatch(/found\.txt|sandbox/i);
    const context = await ask("context", "child");
    const [itself, around, timeline] = context.said
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(itself).toMatchObject({ id: context.id, turn_list: [] });
    expect(around.children).toMatchObject([{ id: context.id, state: "running" }]);
    expect(timeline.hits).toContainEqual(expect.objectContaining({ worker_id: id, kind: "TextOutput" }));
  });

  it("each socket serves while the other does not", async () => {
    const { stateDir, socket, env, daemon } = await withBeam();
    const id = await inBeam(daemon, "count", "40", "50");
    await until("it runs", async () => (await daemon.info(id)).state === "running");
    // The daemon's socket is gone: the bridge's runs go on, and their output waits for the next daemon.
    await daemon.kill9();
    const next = await startDaemon(stateDir, { env });
    // The bridge stands still: processes of the machine are served.
    const [beam] = bridgesAt(socket);
    process.kill(beam!, "SIGSTOP");
    const here = await next.spawn(["true"]);
    await next.wait([here]);
    process.kill(beam!, "SIGCONT");
    await next.wait([id]);
    expect(await next.output(id)).toBe(Array.from({ length: 40 }, (_, at) => `${at + 1}\n`).join(""));
  });
});
