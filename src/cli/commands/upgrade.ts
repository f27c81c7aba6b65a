/**
 * agent daemon upgrade: a daemon of this command's version takes over from the running one. The successor starts first,
 * loads, checks that it can read the log, and waits for the lock; only then is the old daemon told to stop. Agents do not
 * notice. If the successor fails, the old version is started again.
 */
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { armHere, crashPoint } from "../../base/crash-point.ts";
import { DAEMON_START_POLL_MS, TAKE_OVER_READY_MS, TAKE_OVER_WAIT_MS } from "../../base/limits.ts";
import { commandLine } from "../../base/shell.ts";
import { type DaemonFile, readDaemonFile } from "../../daemon/daemon-file.ts";
import { refuseWithoutRoom } from "../../daemon/disk-room.ts";
import { textAt } from "../../daemon/machine-files.ts";
import { daemonLogPath } from "../../daemon/paths.ts";
import { claimStart, launch, type StartedDaemon } from "../../daemon/start.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler, Context, Env } from "../context.ts";
import { DAEMON_PROGRAM, VERSION } from "../package.ts";
import { statusInTime } from "../silence.ts";
import { tellConfiguration } from "./added-kinds.ts";

const runsNow = async (context: Context) => {
  const outcome = await statusInTime(await context.connect(), context.stateDir);
  if (!outcome.ok) throw outcome.error;
  return outcome.value;
};

export const upgrade: CommandHandler = async (context) => {
  const { stateDir } = context;
  const before = await runsNow(context);
  const old = readDaemonFile(stateDir);
  const reply = { from: before.version, to: VERSION, workers: before.workers.live };
  if (before.version === VERSION && isThisBuild(old) && context.flags.force !== true) {
    await tellConfiguration(context);
    return success({ ...reply, pid: before.pid, gap_ms: 0, effect: "noop" });
  }
  refuseManaged(before.pid);
  refuseWithoutRoom(stateDir); // here too: on a full disk the successor cannot even log why
  armHere(context.env);
  const env = environmentOf(before.pid) ?? context.env;
  const done = context.progress(`version ${VERSION} takes over from ${before.version}`);
  const release = claimStart(stateDir);
  try {
    const successor = launch(stateDir, [process.execPath, DAEMON_PROGRAM], ["--take-over"], env);
    await ready(successor);
    crashPoint("upgrade-before-stop");
    const began = performance.now();
    try {
      await (await context.connect()).request("daemon/stop", { agents: "keep" });
      crashPoint("upgrade-after-stop");
      const after = await answering(context, successor, before.pid);
      const gap_ms = Math.round(performance.now() - began);
      await tellConfiguration(context);
      return success({ ...reply, pid: after.pid, gap_ms, effect: "updated" });
    } catch (cause) {
      successor.end();
      // The daemon continues unchanged: this client may not stop it.
      if (cause instanceof HoldfastError && cause.code === "POLICY_VIOLATION") throw cause;
      throw await goBack(context, old, env, before.version, cause as Error);
    }
  } finally {
    release();
    done();
  }
};

/** The daemon runs this command's program, which has not been rebuilt since the daemon's start. */
const isThisBuild = (daemon: DaemonFile | undefined): boolean =>
  daemon?.command?.[1] === DAEMON_PROGRAM &&
  statSync(DAEMON_PROGRAM).mtimeMs <= Date.parse(daemon.started_at);

/** Waits until the successor has loaded and waits for the lock. So far nothing has changed. */
const ready = async (successor: StartedDaemon): Promise<void> => {
  const deadline = performance.now() + TAKE_OVER_READY_MS;
  while (!successor.said().includes("ready to take over")) {
    const failed = successor.failed();
    if (failed !== undefined || performance.now() > deadline) {
      successor.end();
      const why = failed === undefined ? "it is not ready in time." : whyOf(failed);
      throw new HoldfastError("UPGRADE_FAILED", `Version ${VERSION} does not start: ${why}`, {
        suggestion: "The running daemon was not changed.",
      });
    }
    await sleep(DAEMON_START_POLL_MS);
  }
};

/** The message in a line of daemon.log. */
const whyOf = (line: string): string => {
  try {
    const { message, next } = JSON.parse(line) as { message: string; next?: string };
    return next === undefined ? message : `${message} ${next}`;
  } catch {
    return line;
  }
};

const answering = async (context: Context, successor: StartedDaemon, oldPid: number) => {
  const deadline = performance.now() + TAKE_OVER_WAIT_MS;
  while (performance.now() < deadline) {
    const status = await runsNow(context).catch(() => undefined);
    if (status !== undefined && status.pid !== oldPid && status.version === VERSION) return status;
    const failed = successor.failed();
    if (failed !== undefined) throw new Error(whyOf(failed));
    await sleep(DAEMON_START_POLL_MS);
  }
  throw new Error(`it did not answer within ${TAKE_OVER_WAIT_MS / 1000} s.`);
};

const goBack = async (
  context: Context,
  old: DaemonFile | undefined,
  env: Env,
  version: string,
  cause: Error,
): Promise<HoldfastError> => {
  const failed = `Version ${VERSION} did not come up: ${cause.message}`;
  const log = `See ${daemonLogPath(context.stateDir)}.`;
  const [node, program] = old?.command ?? [];
  if (node !== undefined && program !== undefined) {
    const again = launch(context.stateDir, [node, program], [], env);
    const deadline = performance.now() + TAKE_OVER_WAIT_MS;
    while (again.failed() === undefined && performance.now() < deadline) {
      const status = await runsNow(context).catch(() => undefined);
      if (status !== undefined)
        return new HoldfastError(
          "UPGRADE_FAILED",
          `${failed} Version ${status.version} runs again, with all agents.`,
          { suggestion: log, cause },
        );
      await sleep(DAEMON_START_POLL_MS);
    }
  }
  const command =
    node === undefined
      ? "agent daemon start, by the old version"
      : commandLine([node, program!, "--state-dir", context.stateDir]);
  return new HoldfastError(
    "UPGRADE_FAILED",
    `${failed} Version ${version} could not be started again either.`,
    {
      suggestion: `The agents keep running without a daemon. ${log} Start it by hand: ${command}`,
      cause,
    },
  );
};

/** A daemon under systemd must be restarted by systemd, which would not know the new process otherwise. */
const refuseManaged = (pid: number): void => {
  if (!/\/holdfast\.service$/m.test(textAt(`/proc/${pid}/cgroup`) ?? "")) return;
  throw new HoldfastError("INVALID_STATE", "This daemon is run by systemd, which has to restart it.", {
    suggestion:
      "agent daemon install --force && systemctl --user restart holdfast.service; its agents keep running.",
  });
};

/** The variables of the old daemon, so that its limits continue to apply. */
const environmentOf = (pid: number): Env | undefined => {
  const block = textAt(`/proc/${pid}/environ`);
  if (!block) return undefined;
  return Object.fromEntries(
    block.split("\0").flatMap((entry) => {
      const at = entry.indexOf("=");
      return at > 0 ? [[entry.slice(0, at), entry.slice(at + 1)]] : [];
    }),
  );
};
