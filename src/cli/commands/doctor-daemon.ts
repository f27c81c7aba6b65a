/** The doctor's findings about the daemon and its surroundings: its health, its files, its session, its limits. */
import { existsSync, readdirSync } from "node:fs";
import { userInfo } from "node:os";
import { readDaemonFile } from "../../daemon/daemon-file.ts";
import { softLimitOf, textAt } from "../../daemon/machine-files.ts";
import { exposedIn } from "../../daemon/modes.ts";
import type { Replies } from "../../daemon/replies.ts";
import { asHoldfastError } from "../../protocol/errors.ts";
import type { Context } from "../context.ts";
import { VERSION } from "../package.ts";
import { diskWords } from "../render/limits.ts";
import { runtimesWords, troublesOf } from "../render/runtimes.ts";
import { count, duration } from "../render/units.ts";
import type { Check } from "../reports.ts";
import { statusInTime } from "../silence.ts";
import { isHeld } from "./daemon.ts";

export const daemon = async (context: Context): Promise<Check> => {
  const name = "daemon";
  try {
    const outcome = await statusInTime(await context.connect(), context.stateDir);
    if (!outcome.ok) throw outcome.error;
    return { name, ...judged(outcome.value) };
  } catch (cause) {
    const error = asHoldfastError(cause);
    if (error.code !== "SUPERVISOR_DOWN" || isHeld(error))
      return { name, result: "fail", finding: error.message, fix: error.suggestion };
    const stale = readDaemonFile(context.stateDir);
    return stale === undefined
      ? { name, result: "ok", finding: "does not run; agent spawn starts it" }
      : {
          name,
          result: "warn",
          finding: `does not run: pid ${stale.pid} is gone, and was not stopped; its agents keep running`,
          fix: "agent daemon start takes them over.",
        };
  }
};

/** The most serious finding about a daemon that answers. */
export const judged = ({
  version,
  pid,
  workers,
  health,
  defects,
  disk,
  callers,
  runtimes,
}: Replies["daemon/status"]): Omit<Check, "name"> => {
  const finding = `runs, version ${version}, pid ${pid}, ${count(workers.live, "live worker")}${runtimes ? `; runtimes: ${runtimesWords(runtimes)}` : ""}`;
  const anew = "agent daemon upgrade --force restarts it; its agents keep running.";
  if (health?.ok === false)
    return {
      result: "fail",
      finding: `its supervisor's tick has stopped for ${duration(health.tick_age_ms)}`,
      fix: anew,
    };
  if (disk?.low)
    return {
      result: "warn",
      finding: `${finding}; starts nothing: ${diskWords(disk)}`,
      fix: "Free some space; it then continues by itself.",
    };
  const [trouble] = troublesOf(runtimes);
  if (trouble !== undefined)
    return { result: "warn", finding: `${finding}; ${trouble.message}`, fix: trouble.suggestion };
  if (workers.heartbeats?.late > 0)
    return {
      result: "warn",
      finding: `${finding}; ${workers.heartbeats.late} of them not checked for up to ${duration(workers.heartbeats.oldest_ms ?? 0)}`,
      fix: `agent list -o json says which, as heartbeat_at. ${anew}`,
    };
  if (workers.tampered > 0)
    return {
      result: "warn",
      finding: `${finding}; the run directory of ${workers.tampered} of them was tampered with`,
      fix: "agent info ID names the files, agent why ID says what was found; docs/explanation/security.md says what it means.",
    };
  if (workers.polled > 0)
    return {
      result: "warn",
      finding: `${finding}; the output of ${workers.polled} is read on a timer: no inotify watches are left`,
      fix: "sysctl fs.inotify.max_user_instances=1024 fs.inotify.max_user_watches=65536",
    };
  if (version !== VERSION)
    return { result: "warn", finding, fix: `This command is ${VERSION}: agent daemon upgrade` };
  if (defects?.newest)
    return {
      result: "warn",
      finding: `${finding}; it has contained ${count(defects.count, "defect")}, the newest: ${defects.newest.where} (${defects.newest.error})`,
      fix: `Please report it with daemon.log. ${anew}`,
    };
  if (health && health.stalls.count > 0)
    return {
      result: "warn",
      finding: `${finding}; its loop was blocked ${count(health.stalls.count, "time")}, at most ${duration(health.stalls.longest_ms)}`,
      fix: "daemon.log says when; a slow disk or a busy machine does this.",
    };
  if (callers?.from === "claims")
    return {
      result: "warn",
      finding: `${finding}; it cannot verify who its callers are: ${callers.reason}`,
      fix: "Install it with its optional dependencies (npm ci without --omit=optional).",
    };
  const { oldest_ms = null } = workers.heartbeats ?? {};
  const freshness = oldest_ms === null ? "" : `; the oldest heartbeat is ${duration(oldest_ms)} old`;
  return { result: "ok", finding: `${finding}${freshness}` };
};

export const files = (stateDir: string): Check | undefined => {
  if (!existsSync(stateDir)) return undefined;
  const name = "private files";
  const exposed = exposedIn(stateDir).filter(({ path }) => path !== stateDir);
  const [first] = exposed;
  if (first === undefined)
    return { name, result: "ok", finding: "log, socket, spools and token are for you alone" };
  return first.how === "foreign"
    ? {
        name,
        result: "fail",
        finding: `${first.path} belongs to another user`,
        fix: `sudo chown $USER ${first.path}`,
      }
    : {
        name,
        result: "warn",
        finding: `${exposed.map(({ path, mode }) => `${path} (mode ${mode.toString(8)})`).join(", ")} can be read by others`,
        fix: `chmod go= ${exposed.map(({ path }) => path).join(" ")}`,
      };
};

const LOGIND = ["/usr/lib/systemd/logind.conf", "/etc/systemd/logind.conf"];
const DROP_INS = [
  "/usr/lib/systemd/logind.conf.d",
  "/run/systemd/logind.conf.d",
  "/etc/systemd/logind.conf.d",
];

/** The last setting counts (logind.conf(5)); the default is off. */
export const killsUserProcesses = (texts: readonly string[]): boolean => {
  const set = texts.flatMap((text) =>
    [...text.matchAll(/^\s*KillUserProcesses\s*=\s*(\S+)/gm)].map(([, value]) => value!),
  );
  return /^(yes|true|on|1)$/i.test(set.at(-1) ?? "no");
};

const logindTexts = (): readonly string[] => {
  const dropIns = DROP_INS.flatMap((dir) => {
    try {
      return readdirSync(dir)
        .filter((file) => file.endsWith(".conf"))
        .sort()
        .map((file) => `${dir}/${file}`);
    } catch {
      return [];
    }
  });
  return [...LOGIND, ...dropIns].flatMap((path) => textAt(path) ?? []);
};

/** Whether a logout ends the daemon: because it runs in the scope of a session, or because the user's service manager ends. */
export const session = (stateDir: string): Check | undefined => {
  if (!existsSync("/run/systemd/seats") && !existsSync("/run/systemd/sessions")) return undefined;
  const name = "logout";
  const pid = readDaemonFile(stateDir)?.pid;
  const cgroup = textAt(`/proc/${pid ?? "self"}/cgroup`) ?? "";
  const kills = killsUserProcesses(logindTexts());
  const lingers = existsSync(`/var/lib/systemd/linger/${userInfo().username}`);
  if (/\/session-[^/]+\.scope/.test(cgroup) && kills)
    return {
      name,
      result: "warn",
      finding: "logind ends the daemon and its agents when you log out (KillUserProcesses=yes)",
      fix: "agent daemon install --now && loginctl enable-linger",
    };
  if (/\/user@\d+\.service\//.test(cgroup) && !lingers)
    return {
      name,
      result: "warn",
      finding: "your service manager, and the daemon with it, ends when you log out",
      fix: "loginctl enable-linger",
    };
  return { name, result: "ok", finding: "a logout does not end the daemon" };
};

const OPEN_FILES_LOW = 4_096;
const PROCESSES_LOW = 1_024;

/** The limits of the daemon, if one runs: each agent uses up some open files and processes. */
export const ulimits = (stateDir: string): Check | undefined => {
  const text =
    textAt(`/proc/${readDaemonFile(stateDir)?.pid ?? "self"}/limits`) ?? textAt("/proc/self/limits");
  if (text === undefined) return undefined;
  const [open, processes] = [softLimitOf(text, "Max open files"), softLimitOf(text, "Max processes")];
  const name = "limits";
  const finding = `${open === Number.POSITIVE_INFINITY ? "any number of" : open} open files, ${processes === Number.POSITIVE_INFINITY ? "any number of" : processes} processes`;
  return open < OPEN_FILES_LOW || processes < PROCESSES_LOW
    ? {
        name,
        result: "warn",
        finding,
        fix: `ulimit -n ${OPEN_FILES_LOW} -u ${PROCESSES_LOW} before the daemon starts, for more than some dozen agents.`,
      }
    : { name, result: "ok", finding };
};
