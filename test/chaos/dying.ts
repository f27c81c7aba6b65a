/** How each crash point is reached: what a daemon, or the command that upgrades it, is asked until it dies there. */
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { CRASH_VARIABLE, type CrashPoint } from "../../src/base/crash-point.ts";
import { readDaemonFile } from "../../src/daemon/daemon-file.ts";
import { killIfThere } from "../support/kill-if-there.ts";
import { AGENT, type Launched } from "./client.ts";
import { type Fleet, SECRET } from "./fleet.ts";
import { clientOf, environment, launchedDaemon, lives, startDaemon, until } from "./support.ts";

export interface Crash {
  readonly point: CrashPoint;
  readonly passage: number;
}

export const nameOf = ({ point, passage }: Crash): string => `${point}:${passage}`;
const armed = (crash: Crash) => ({ [CRASH_VARIABLE]: nameOf(crash) });

/** The victim, and its neighbours; afterwards no daemon runs. */
export const dieAt = async (stateDir: string, fleet: Fleet, crash: Crash): Promise<void> => {
  const { point } = crash;
  if (point === "take-over-ready" || point === "lock-before-name")
    await successorDies(stateDir, fleet, crash);
  else if (point === "lock-before-release" || point === "lock-released")
    await predecessorDies(stateDir, fleet, crash);
  else if (point === "upgrade-before-stop" || point === "upgrade-after-stop")
    await commandDies(stateDir, fleet, crash);
  else await workerDies(stateDir, fleet, crash);
};

const reached = (daemon: Launched, crash: Crash): void =>
  expect(daemon.process.signalCode, `${nameOf(crash)} was reached: ${daemon.said()}`).toBe("SIGKILL");

/** So many lines fill pages of the database. */
const MANY = "20000";

type Ask = (daemon: Launched, fleet: Fleet, round: number) => Promise<unknown>;

const gc: Ask = (daemon) => daemon.request("db/gc", { older_than_ms: 1 });
const say =
  (text: string): Ask =>
  (daemon, fleet) =>
    fleet.send(daemon, fleet.talking[0] as string, text);
const standAndGoOn: Ask = async (daemon, fleet) => {
  await fleet.pause(daemon, fleet.counting[0] as string);
  await fleet.unpause(daemon);
};
/** Once: it is there again, or nobody is there to make it again. */
const deleted =
  (name: string): Ask =>
  async ({ stateDir }, _, round) => {
    if (round === 0) rmSync(join(stateDir, name));
  };

/** A run of a schedule, which an earlier daemon may have made. */
const runOfSchedule: Ask = async (daemon, _, round) => {
  const name = `times-${round}`;
  const spec = { kind: "command", argv: ["true"], cwd: "/", restart: "temporary" as const };
  await daemon
    .request("schedule/add", { schedule: { name, cron: "@yearly", overlap: "allow", spec } })
    .catch(() => undefined);
  await daemon.request("schedule/run", { name });
};

/** Work that a point needs beside work for agents, in each round. */
const NEEDED: Partial<Record<CrashPoint, Ask>> = {
  rebuild: (daemon) => daemon.request("db/rebuild", {}),
  "offload-begun": (daemon) => daemon.request("db/check", {}),
  "gc-archived": gc,
  "gc-known": gc,
  "gc-mid-slice": gc,
  "gc-mid-removal": gc,
  "gc-before-done": gc,
  "gc-mid-vacuum": async (daemon, fleet, round) => {
    await daemon.wait([await fleet.job(daemon, ["seq", MANY])]);
    await gc(daemon, fleet, round);
  },
  "message-kept": say(`Say ${SECRET}.`),
  "message-accepted": say("hello"),
  "message-before-write": say("hello"),
  "message-before-record": say("hello"),
  "approval-before-record": say("permit"),
  "approval-after-record": say("permit"),
  "input-ended": (daemon, fleet) => fleet.farewell(daemon),
  "passivate-before-end": (daemon, fleet) => fleet.napper(daemon),
  "schedule-due": runOfSchedule,
  "schedule-spawned": runOfSchedule,
  "pause-before-signal": standAndGoOn,
  "pause-mid-signal": standAndGoOn,
  "unpause-before-signal": standAndGoOn,
  "release-before-punch": async (daemon, fleet, round) => {
    if (round === 0) await fleet.flood(daemon);
  },
  reopen: deleted("holdfast.db-wal"),
  "write-back-whole": deleted("holdfast.db"),
  "write-back-before-name": deleted("holdfast.db"),
  shutdown: (daemon) => daemon.request("daemon/stop", { agents: "keep" }),
};

/** Asked until it dies: a turn, a kill in flight, a restart, and what the point alone needs. */
const workerDies = async (stateDir: string, fleet: Fleet, crash: Crash): Promise<void> => {
  const daemon = launchedDaemon(stateDir, { env: armed(crash) });
  const begun = await daemon.answers();
  for (let round = 0; begun && !daemon.ended(); round += 1) {
    const asked = [
      fleet.turn(daemon),
      fleet.job(daemon, ["seq", "3"]),
      fleet.stubborn(daemon).then((id) => fleet.kill(daemon, id)),
      ...(round % 2 === 1 ? [fleet.restart(daemon, fleet.lasting.at(-1) as string)] : []),
      NEEDED[crash.point]?.(daemon, fleet, round),
    ];
    await Promise.race([Promise.allSettled(asked), until("it dies", () => daemon.ended())]);
  }
  await until("it dies", () => daemon.ended());
  reached(daemon, crash);
};

/** A daemon that waits for the place of the one that runs. */
const waiting = async (stateDir: string, env: Record<string, string> = {}): Promise<Launched> => {
  const successor = launchedDaemon(stateDir, { env, flags: ["--take-over"] });
  const said = (): number => successor.said().split("ready to take over").length;
  const before = said();
  await until("it waits for the lock", () => successor.ended() || said() > before);
  return successor;
};

/** Before it has the lock nothing has changed; with it, the next one finds a lock that nobody holds. */
const successorDies = async (stateDir: string, fleet: Fleet, crash: Crash): Promise<void> => {
  const old = await startDaemon(stateDir);
  const successor = await waiting(stateDir, armed(crash));
  if (crash.point === "lock-before-name") await old.request("daemon/stop", { agents: "keep" });
  await until("it dies", () => successor.ended());
  reached(successor, crash);
  if (crash.point === "lock-before-name") return;
  await fleet.job(old, ["seq", "3"]);
  await old.kill9();
};

/** However the old one goes, the one that waits has its place. */
const predecessorDies = async (stateDir: string, fleet: Fleet, crash: Crash): Promise<void> => {
  const old = launchedDaemon(stateDir, { env: armed(crash) });
  await old.answers();
  const successor = await waiting(stateDir);
  await old.request("daemon/stop", { agents: "keep" }).catch(() => undefined);
  await until("it dies", () => old.ended());
  reached(old, crash);
  expect(await successor.answers(), successor.said()).toBe(true);
  await fleet.job(successor, ["seq", "3"]);
  await successor.kill9();
};

/** Told or not, the old daemon is followed by the one that waits, and in between one of them answers. */
const commandDies = async (stateDir: string, fleet: Fleet, crash: Crash): Promise<void> => {
  const old = await startDaemon(stateDir);
  const client = clientOf(stateDir);
  onTestFinished(() => endHolder(stateDir));
  const env = { ...environment(), ...armed(crash), HOLDFAST_HOME: stateDir };
  const signal = await new Promise((done) => {
    execFile(process.execPath, [AGENT, "daemon", "upgrade", "--force"], { env }, (cause) =>
      done(cause?.signal),
    );
  });
  expect(signal, `${nameOf(crash)} was reached`).toBe("SIGKILL");
  if (crash.point === "upgrade-before-stop") {
    await fleet.job(old, ["seq", "3"]);
    await old.kill9();
  }
  await until("the one that waited answers", async () => {
    const status = await client.request<{ pid: number }>("daemon/status", {}).catch(() => undefined);
    return status !== undefined && status.pid !== old.pid;
  });
  await fleet.job(client, ["seq", "3"]);
  await endHolder(stateDir);
};

/** A daemon that is no child of the test. */
const endHolder = async (stateDir: string): Promise<void> => {
  const pid = readDaemonFile(stateDir)?.pid ?? 0;
  if (lives(pid)) killIfThere(pid);
  await until("it is gone", () => !lives(pid));
};
