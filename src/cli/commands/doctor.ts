/** agent doctor: what this machine lacks for Holdfast, and how to fix it. Works without a daemon. */

import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DISK_FREE_MIN_BYTES, DOCTOR_MODELS_MAX, NODE_MIN } from "../../base/limits.ts";
import { PROGRAMS } from "../../commands/kinds.ts";
import { readDaemonFile } from "../../daemon/daemon-file.ts";
import { configurationPath } from "../../daemon/paths.ts";
import { builtInProviders } from "../../protocol/built-in-providers.ts";
import { CONFIGURATION_CHANGED } from "../../protocol/configuration-changed.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler, Context, Env } from "../context.ts";
import { bytes } from "../render/units.ts";
import type { Check, DoctorReport } from "../reports.ts";
import { leftOutSentence } from "./added-kinds.ts";
import { daemon, files, session, ulimits } from "./doctor-daemon.ts";
import { notifications } from "./doctor-notify.ts";
import { spoolRelease } from "./doctor-release.ts";
import { telemetry } from "./doctor-telemetry.ts";
import { initCheck, zombiesOfInit } from "./init-check.ts";
import { findProgram } from "./programs.ts";

const DISK_LOW_BYTES = 1024 * 1024 * 1024;
const INOTIFY_LOW_WATCHES = 8_192;

const node = (): Check => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isNew = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  return {
    name: "node",
    result: isNew ? "ok" : "fail",
    finding: `version ${process.versions.node}`,
    ...(isNew ? {} : { fix: `Install Node ${NODE_MIN.join(".")} or newer.` }),
  };
};

const platform = (): Check =>
  process.platform === "linux"
    ? { name: "platform", result: "ok", finding: `linux ${process.arch}` }
    : {
        name: "platform",
        result: "warn",
        finding: `${process.platform} ${process.arch}: processes are found with ps, since there is no /proc`,
      };

const nearestExisting = (path: string): string => {
  for (let at = path; ; at = dirname(at))
    if (statSync(at, { throwIfNoEntry: false }) !== undefined || at === dirname(at)) return at;
};

const stateDirectory = (stateDir: string): Check => {
  const name = "state directory";
  const stats = statSync(stateDir, { throwIfNoEntry: false });
  const probed = nearestExisting(stateDir);
  try {
    accessSync(probed, constants.W_OK | constants.X_OK);
  } catch {
    return {
      name,
      result: "fail",
      finding: `${probed} is not writable`,
      fix: "Own it, or choose another one with HOLDFAST_HOME.",
    };
  }
  if (stats === undefined) return { name, result: "ok", finding: `${stateDir} (made at the first start)` };
  if (!stats.isDirectory())
    return {
      name,
      result: "fail",
      finding: `${stateDir} is not a directory`,
      fix: "Move it away, or choose another one with HOLDFAST_HOME.",
    };
  if (process.getuid && stats.uid !== process.getuid())
    return {
      name,
      result: "fail",
      finding: `${stateDir} belongs to another user`,
      fix: "Choose another one with HOLDFAST_HOME.",
    };
  const mode = stats.mode & 0o777;
  if ((mode & 0o077) !== 0)
    return {
      name,
      result: "warn",
      finding: `${stateDir} is open to others (mode ${mode.toString(8)})`,
      fix: `chmod 700 ${stateDir}`,
    };
  return { name, result: "ok", finding: `${stateDir} (mode 700)` };
};

const disk = (stateDir: string): Check => {
  const stats = statfsSync(nearestExisting(stateDir));
  const free = stats.bavail * stats.bsize;
  const finding = `${bytes(free)} free`;
  if (free < DISK_FREE_MIN_BYTES)
    return {
      name: "disk",
      result: "fail",
      finding,
      fix: "Free some space, or choose another disk with HOLDFAST_HOME.",
    };
  return free < DISK_LOW_BYTES
    ? { name: "disk", result: "warn", finding, fix: "Every event is kept; free some space soon." }
    : { name: "disk", result: "ok", finding };
};

/** Checks what a boot checks; `agent db check` checks everything. */
const eventLog = async (context: Context): Promise<Check> => {
  const name = "event log";
  const failed = ({ message, suggestion }: Pick<HoldfastError, "message" | "suggestion">): Check => ({
    name,
    result: "fail",
    finding: message,
    fix: suggestion,
  });
  try {
    const status = await context.connect().then((client) => client.request("daemon/status", {}));
    const { store_error: error } = status;
    if (error !== null) return failed(error);
    const { restored } = status;
    const note = restored == null ? "" : `; ${restored.sentence} (${restored.at})`;
    return { name, result: "ok", finding: `takes records, ${status.head} so far${note}` };
  } catch {
    try {
      const { head, notes } = await (await import("../../daemon/offline.ts")).look(context.stateDir);
      const finding = [head === 0 ? "empty" : `${head} records; its end is sound`, ...notes.slice(-1)].join(
        "; ",
      );
      return { name, result: "ok", finding };
    } catch (cause) {
      return failed(asHoldfastError(cause));
    }
  }
};

/** An edited row of a projection would be believed by its readers. */
const projectionRows = async (context: Context): Promise<Check | undefined> => {
  try {
    const finding = (await import("../../daemon/offline.ts")).edited(context.stateDir);
    return finding === undefined
      ? undefined
      : { name: "projections", result: "fail", finding, fix: "agent db rebuild" };
  } catch (cause) {
    const { message, suggestion } = asHoldfastError(cause);
    return { name: "projections", result: "fail", finding: message, fix: suggestion };
  }
};

const proc = (): Check | undefined => {
  if (process.platform !== "linux") return undefined;
  try {
    readFileSync("/proc/self/stat");
    readFileSync("/proc/sys/kernel/random/boot_id");
    const hides = /\/proc .*hidepid=(?:[12]|noaccess|invisible)/.test(readFileSync("/proc/mounts", "utf8"));
    return hides
      ? {
          name: "/proc",
          result: "warn",
          finding: "hides other users' processes",
          fix: "Holdfast cannot find a process that an agent starts as another user.",
        }
      : { name: "/proc", result: "ok", finding: "readable" };
  } catch {
    return {
      name: "/proc",
      result: "fail",
      finding: "not readable",
      fix: "Mount /proc: Holdfast identifies processes by it.",
    };
  }
};

const inotify = (): Check | undefined => {
  try {
    const watches = Number(readFileSync("/proc/sys/fs/inotify/max_user_watches", "utf8"));
    return watches < INOTIFY_LOW_WATCHES
      ? {
          name: "inotify",
          result: "warn",
          finding: `${watches} watches`,
          fix: "sysctl fs.inotify.max_user_watches=65536",
        }
      : { name: "inotify", result: "ok", finding: `${watches} watches` };
  } catch {
    return undefined;
  }
};

/** For --sandbox, which is refused without bubblewrap. */
const sandbox = async (): Promise<Check> => {
  const found = await (await import("../../workspace/sandbox/sandbox.ts")).lookForSandbox();
  return "why" in found
    ? { name: "sandbox", result: "warn", finding: found.why, fix: found.fix }
    : { name: "sandbox", result: "ok", finding: `${found.name} (${found.program})` };
};

/** For skills with the runner oci. */
const containers = async (): Promise<Check | undefined> => {
  const found = await (await import("../../workspace/sandbox/container.ts")).lookForContainers();
  if (found === undefined) return undefined;
  const name = "containers";
  return "why" in found
    ? { name, result: "warn", finding: found.why, fix: found.fix }
    : { name, result: "ok", finding: `${found.program} with ${found.runtime}` };
};

/** For --worktree. */
const git = (env: Env): Check => {
  const path = findProgram("git", env);
  return path === undefined
    ? { name: "git", result: "warn", finding: "not on PATH: no --worktree", fix: "Install git." }
    : { name: "git", result: "ok", finding: path };
};
/** The user's configuration, if there is one. An unreadable file is ignored; the daemon reports parts that it ignores. */
const configuration = async (context: Context): Promise<Check | undefined> => {
  const name = "configuration";
  const path = configurationPath(context.stateDir);
  const fix = `Correct it, then: agent daemon upgrade --force (its agents keep running). See docs/reference/daemon.md.`;
  if (!existsSync(path)) return undefined;
  const { readConfiguration } = await import("../../daemon/configuration.ts");
  const { problems = [], configuration: read } = readConfiguration(context.stateDir) ?? {};
  if (problems.length > 0)
    return { name, result: "warn", finding: `${path} counts as none: ${problems.join("; ")}`, fix };
  const client = await context.connect().catch(() => undefined);
  const status = await client?.request("daemon/status", {}).catch(() => undefined);
  if (status?.configuration_changed) return { name, result: "warn", finding: CONFIGURATION_CHANGED };
  const told = await client?.request("agent/capabilities", {}).catch(() => undefined);
  const refused = told?.refused ?? (await leftOut(context.stateDir, read?.adapters.length === 0));
  if (refused.length === 0)
    return { name, result: "ok", finding: `${path}; adapters of yours: ${read?.adapters.length ?? 0}` };
  return { name, result: "warn", finding: refused.map(leftOutSentence).join("; "), fix };
};

/** For kind llm: the keys of its providers, also of built-in ones that a default or a worker names, by this command's environment, and whether its MCP servers come up. */
const models = async (context: Context): Promise<Check | undefined> => {
  const { readConfiguration } = await import("../../daemon/configuration.ts");
  const { configuration: read } = readConfiguration(context.stateDir) ?? {};
  const { mcp = {} } = read ?? {};
  const wanted = [read?.kinds.llm?.model, read?.defaults.model, ...(await modelsOfWorkers(context))];
  const begins = wanted.map((model) => String(model).split("/", 1)[0]);
  const builtIn = Object.entries(builtInProviders(context.env)).filter(([name]) => begins.includes(name));
  const providers = { ...Object.fromEntries(builtIn), ...read?.providers };
  const [named, served] = [Object.keys(providers).length, Object.keys(mcp).length];
  if (named + served === 0) return undefined;
  const name = "models";
  try {
    const { checkEngine } = await import("../../daemon/engine-check.ts");
    const { keys, servers, tools } = await checkEngine({ providers, mcp }, context.env);
    const problems = [...keys, ...servers];
    if (problems.length === 0)
      return {
        name,
        result: "ok",
        finding: `providers: ${named}; MCP servers: ${served}, with ${tools} tools`,
      };
    return {
      name,
      result: "warn",
      finding: problems.join(" "),
      fix: "An agent of kind llm gets a variable with --inherit-env NAME. See docs/reference/models.md and docs/how-to/tools-of-a-model.md.",
    };
  } catch (cause) {
    return { name, result: "warn", finding: `cannot be checked: ${asHoldfastError(cause).message}` };
  }
};

/** The models of living workers of kind llm, of the first DOCTOR_MODELS_MAX. */
const modelsOfWorkers = async (context: Context): Promise<readonly (string | undefined)[]> => {
  const client = await context.connect().catch(() => undefined);
  const listed = await client?.request("agent/list", {}).catch(() => undefined);
  const ids = (listed?.workers ?? []).filter(({ kind }) => kind === "llm").map(({ id }) => id);
  const asked = ids.slice(0, DOCTOR_MODELS_MAX).map((id) => client!.request("agent/info", { id }));
  return (await Promise.allSettled(asked)).map((one) =>
    one.status === "fulfilled" ? one.value.spec.model : undefined,
  );
};

/** Runs only without a daemon: user code is loaded for no other reason. */
const leftOut = async (stateDir: string, isOurs: boolean) =>
  isOurs ? (await (await import("../../daemon/configuration.ts")).configuredRegistry(stateDir)).refused : [];

/** One line for each program that was found, and one for all others. */
export const programs = (env: Env): readonly Check[] => {
  const agents = PROGRAMS.map(({ short, binary, variable, untried }) => ({
    short,
    variable,
    untried,
    path: findProgram(env[variable] || binary, env),
  }));
  const found = agents
    .filter(({ path }) => path !== undefined)
    .map(({ short, path, untried }): Check => {
      const note = untried === undefined ? "" : ` (untried: ${untried})`;
      return { name: short, result: "ok", finding: `${path}${note}` };
    });
  const missing = agents.filter(({ path }) => path === undefined);
  if (missing.length === 0) return found;
  const finding = `not on PATH: ${missing.map(({ short }) => short).join(", ")}`;
  return [
    ...found,
    {
      name: "agents",
      result: "warn",
      finding,
      fix: `Install the one that you want to use, or name its program with ${missing[0]!.variable}.`,
    },
  ];
};

export const doctor: CommandHandler = async (context) => {
  const checks = [
    node(),
    platform(),
    stateDirectory(context.stateDir),
    disk(context.stateDir),
    await spoolRelease(context),
    await daemon(context),
    await notifications(context),
    await telemetry(context),
    await eventLog(context),
    await projectionRows(context),
    files(context.stateDir),
    session(context.stateDir),
    ulimits(context.stateDir),
    proc(),
    inotify(),
    await sandbox(),
    await containers(),
    await configuration(context),
    await models(context),
    initCheck(readDaemonFile(context.stateDir)?.pid, zombiesOfInit()),
    git(context.env),
    ...programs(context.env),
  ].filter((check) => check !== undefined);
  const failed = checks.filter((check) => check.result === "fail");
  const report: DoctorReport = { checks };
  if (failed.length === 0) return success(report);
  return {
    ok: false,
    value: report,
    error: new HoldfastError(
      "DOCTOR_CHECKS_FAILED",
      `${failed.length === 1 ? "One check" : `${failed.length} checks`} failed: ${failed.map((check) => check.name).join(", ")}.`,
    ),
  };
};
