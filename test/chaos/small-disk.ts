/**
 * A daemon whose whole state directory, runs and all, is on a small tmpfs of its own: what an agent writes there fills it for
 * everybody. In a mount namespace that a process of the test holds, so that daemons can come and go in it.
 */
import { execFile, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { listPids, readStat } from "../../src/adapters/process/identity.ts";
import { killIfThere } from "../support/kill-if-there.ts";
import { AGENT, child, clientOf, endMarked, environment, temporaryDirectory, until } from "./support.ts";

export const canMount = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;

const DISK_MIB = 24;

export interface Said {
  readonly rc: number;
  readonly stdout: string;
  readonly stderr: string;
}

export const smallDisk = async () => {
  const stateDir = join(temporaryDirectory(), "s");
  mkdirSync(stateDir);
  const script = `mount -t tmpfs -o size=${DISK_MIB}m,mode=700 tmpfs "$1" && echo mounted && exec sleep infinity`;
  const holder = spawn("unshare", ["-rm", "sh", "-c", script, "sh", stateDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const pid = holder.pid as number;
  await new Promise((done) => holder.stdout.once("data", done));
  /** The same directory as it is seen from outside. */
  const seen = `/proc/${pid}/root${stateDir}`;
  const client = clientOf(seen);
  const inside = ["-t", String(pid), "-U", "-m", "--preserve-credentials", "--", process.execPath, AGENT];
  // The whole disk is far below the floor of free disk: the floor would refuse every start.
  const env = { ...environment(), HOLDFAST_DISK_MIN: "0", HOLDFAST_HOME: stateDir, HOLDFAST_VALIDATE: "1" };
  const agent = (...args: readonly string[]): Promise<Said> =>
    new Promise((done) =>
      execFile("nsenter", [...inside, ...args], { env, cwd: "/" }, (error, stdout, stderr) =>
        done({ rc: error === null ? 0 : Number(error.code), stdout, stderr }),
      ),
    );
  const daemonPid = (): number | undefined => {
    try {
      return JSON.parse(readFileSync(join(seen, "daemon.json"), "utf8")).pid;
    } catch {
      return undefined;
    }
  };
  const kill9 = async (): Promise<void> => {
    // One that is stopping answers nobody.
    const daemon = daemonPid() as number;
    process.kill(daemon, "SIGKILL");
    await until("the daemon is gone", () => !listPids().includes(daemon) || readStat(daemon)?.state === "Z");
  };
  let storeId = "";
  const start = async (): Promise<Said> => {
    const said = await agent("daemon", "start", "-o", "json");
    if (said.rc === 0) storeId = JSON.parse(said.stdout).data.store_id ?? storeId;
    return said;
  };
  onTestFinished(async () => {
    const daemon = daemonPid();
    if (daemon !== undefined && listPids().includes(daemon)) killIfThere(daemon);
    endMarked(storeId);
    holder.kill("SIGKILL");
    await until("its namespace is gone", () => holder.signalCode !== null || holder.exitCode !== null);
  });
  await start();
  const free = (): number => {
    const { bavail, bsize } = statfsSync(seen);
    return bavail * bsize;
  };
  return {
    client,
    agent,
    start,
    kill9,
    seen,
    free,
    hasReserve: () => existsSync(join(seen, "holdfast.db.reserve")),
    reserved: () => until("the reserve is made", () => existsSync(join(seen, "holdfast.db.reserve"))),
    /** An agent that fills the disk, once it is full: nothing can be asked for any more. */
    fill: async (over: object = {}, argv = [child("fills-disk.sh"), stateDir]): Promise<string> => {
      const id = await client.spawn(argv, over);
      await until("the disk is full", () => free() === 0);
      await until("nothing can be started", () =>
        client.spawn(["true"]).then(
          () => false,
          (cause: Error) => /is full/.test(cause.message),
        ),
      );
      return id;
    },
    /** The processes of its run, by the marker in their environment. */
    processesOf: (id: string): readonly number[] =>
      listPids().filter((one) => {
        try {
          return (
            readFileSync(`/proc/${one}/environ`, "latin1").includes(`/${id}/`) && readStat(one)?.state !== "Z"
          );
        } catch {
          return false;
        }
      }),
    empty: () => {
      for (const name of ["filled", "filled-by-child"]) rmSync(join(seen, name), { force: true });
    },
  };
};
