/**
 * The daemon dies at each of its crash points that runs of a bridge pass: no run is begun twice, the worker has one end and all
 * of its output, and the bridge has no run that nobody knows.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CRASH_POINTS, CRASH_VARIABLE } from "../../src/base/crash-point.ts";
import { Peer } from "../fixtures/bridges/peer.mjs";
import { type Daemon, launchedDaemon, startDaemon, temporaryDirectory, until } from "./support.ts";

const POINTS = CRASH_POINTS.filter((point) => point.startsWith("bridge-"));
const LINES = ["one", "two: ünïcode"];

const withPeer = async () => {
  const stateDir = join(temporaryDirectory(), "state");
  const socket = join(stateDir, "far.sock");
  mkdirSync(stateDir, { mode: 0o700 });
  writeFileSync(join(stateDir, "config.yaml"), JSON.stringify({ runtimes: { far: { bridge: { socket } } } }));
  const peer = new Peer();
  await peer.listen(socket);
  onTestFinished(() => peer.close());
  return { stateDir, peer };
};

/** A worker behind the bridge, which begins anew at once after a loss. */
const spawn = (daemon: Pick<Daemon, "spawn">): Promise<string> =>
  daemon.spawn(["print", "0", ...LINES], {
    ...{ runtime: "far", name: "printer", restart: "transient" },
    ...{ backoff_min_ms: 0, backoff_max_ms: 0 },
  });

test.each(POINTS)(
  "a daemon that dies at %s begins no run of a bridge twice, and loses no output and no end",
  async (point) => {
    const { stateDir, peer } = await withPeer();
    const victim = launchedDaemon(stateDir, { env: { [CRASH_VARIABLE]: `${point}:1` } });
    expect(await victim.answers(), victim.said()).toBe(true);
    // Its answer may be lost with it.
    await spawn(victim).catch(() => undefined);
    await until("the daemon dies", () => victim.ended());
    expect(victim.process.signalCode, victim.said()).toBe("SIGKILL");

    const next = await startDaemon(stateDir);
    await until("the worker has completed", async () => (await next.info("printer")).state === "completed");
    expect(await next.output("printer")).toBe(`${LINES.join("\n")}\n`);
    const ends = await next.history(["worker_completed", "worker_failed", "worker_cancelled"]);
    const incarnations = ends.map(({ incarnation }) => incarnation);
    // A run that is claimed and not begun is lost, and the worker has another one.
    expect(incarnations).toEqual(point === "bridge-claimed" ? [1, 2] : [1]);
    const begun = peer.asked.filter(({ method }) => method === "runtime.start_agent");
    expect(begun).toHaveLength(1);
    expect([...peer.runs.values()].filter(({ exit }) => exit === undefined)).toEqual([]);
  },
);
