/**
 * Puts an agent's command line into a sandbox of this machine, or refuses. It fails closed: a sandbox that cannot be
 * enforced is refused before anything starts, and the same arguments are tried before each start.
 */
import { execFile } from "node:child_process";
import { closeSync, constants, existsSync, mkdirSync, openSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { findProgram, systemProgram } from "../../adapters/process/programs.ts";
import { SANDBOX_PROBE_MAX_MS } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { bubblewrapArguments } from "./bubblewrap.ts";
import {
  type Confinement,
  gitDirectories,
  isIn,
  isNoSandbox,
  planSandbox,
  type SandboxPlan,
  stateDirectories,
} from "./plan.ts";
import { seatbeltArguments } from "./seatbelt.ts";

const SEATBELT = "/usr/bin/sandbox-exec";

interface Tool {
  readonly program: string;
  readonly name: "bubblewrap" | "sandbox-exec";
  arguments(plan: SandboxPlan, argv: readonly string[]): readonly string[];
}

/** Undefined where it is not installed. */
export const bubblewrapProgram = (): string | undefined => systemProgram("bwrap");

const toolOf = (platform: NodeJS.Platform): Tool | undefined => {
  if (platform === "darwin")
    return existsSync(SEATBELT)
      ? { program: SEATBELT, name: "sandbox-exec", arguments: seatbeltArguments }
      : undefined;
  const program = bubblewrapProgram();
  return program === undefined ? undefined : { program, name: "bubblewrap", arguments: bubblewrapArguments };
};

const HOW = "Install bubblewrap (apt install bubblewrap, dnf install bubblewrap), or leave --sandbox out.";

const unavailable = (message: string, suggestion = HOW): HoldfastError =>
  new HoldfastError("SANDBOX_UNAVAILABLE", message, { suggestion });

export interface SandboxCommand {
  readonly argv: readonly string[];
  readonly plan: SandboxPlan;
  readonly program: string;
  /** Directories that were created for the sandbox. They are removed with it if still empty. */
  readonly made?: readonly string[];
  /** Directories that contain such created directories; another run may have created them. */
  readonly litter?: readonly string[];
}

/** The path with its links resolved, so that a mount is where its name says; for a missing path, as far as it exists. */
export const realPath = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
};

/** Refuses paths that would defeat the sandbox, or hide what the agent needs. */
const refuse = (plan: SandboxPlan, program: string, name: Tool["name"]): void => {
  const open = plan.writable.find((path) => isNoSandbox(path, plan.hidden));
  if (open !== undefined)
    throw new HoldfastError("INVALID_REQUEST", `${open} cannot be writable in a sandbox.`, {
      suggestion: "Give a --cwd, or a --sandbox-writable, that holds only the work.",
    });
  if (name !== "bubblewrap") return;
  const hiding = ["/tmp", "/run", ...plan.hidden].find(
    (dir) => isIn(program, dir) && !isIn(program, "/run/current-system"),
  );
  if (hiding !== undefined && !plan.writable.some((dir) => isIn(program, dir)))
    throw unavailable(
      `The program ${program} is in ${hiding}, which is empty in a sandbox.`,
      "Install it elsewhere, or add its directory with --sandbox-writable.",
    );
};

export const sandboxed = async (
  confined: Confinement,
  argv: readonly string[],
  platform: NodeJS.Platform = process.platform,
): Promise<SandboxCommand> => {
  const tool = toolOf(platform);
  if (tool === undefined)
    throw unavailable(
      platform === "linux" || platform === "darwin"
        ? "There is no sandbox on this machine: bubblewrap is not installed."
        : `There is no sandbox for ${platform}.`,
    );
  const cwd = realPath(confined.cwd);
  const program = realPath(findProgram({ argv, cwd, env: confined.env }));
  const named = planSandbox({
    ...confined,
    cwd,
    added: confined.added.map(realPath),
    sandbox: { ...confined.sandbox, writable: confined.sandbox.writable.map(realPath) },
  });
  const plan: SandboxPlan = {
    ...named,
    writable: [...new Set(named.writable.map(realPath))],
    hidden: [...new Set(named.hidden.map(realPath))],
  };
  refuse(plan, program, tool.name);
  await probe(tool, plan);
  return { argv: [tool.program, ...tool.arguments(plan, argv)], plan, program: tool.program };
};

/** Creates missing directories of the agent's own, because the agent could not. Returns those that are removed with the run. */
export const makeStateDirectories = (confined: Confinement): readonly string[] => {
  for (const [at, dir] of stateDirectories(confined).entries())
    if (confined.state[at]?.isFile !== true) mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (confined.adminDir !== undefined) makeEmpty(join(confined.adminDir, "config.worktree"));
  return makeMissing(gitDirectories(confined));
};

/** Creates missing directories, which could not be mounted read-only otherwise. Returns those that it has created. */
export const makeMissing = (dirs: readonly string[]): readonly string[] => dirs.filter(isMade);

/** False if the directory exists, or cannot be created; then the agent cannot create it either. */
const isMade = (dir: string): boolean => {
  try {
    mkdirSync(dir, { mode: 0o700 });
    return true;
  } catch (cause) {
    if (CANNOT_BE_MADE.has((cause as NodeJS.ErrnoException).code)) return false;
    throw cause;
  }
};

const CANNOT_BE_MADE: ReadonlySet<string | undefined> = new Set([
  "EEXIST",
  "ENOENT",
  "ENOTDIR",
  "EROFS",
  "EACCES",
  "EPERM",
]);

/** Creates a missing file. It could not be mounted read-only otherwise, and an agent could put something there that git runs outside. */
const makeEmpty = (file: string): void => {
  try {
    closeSync(openSync(file, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
  }
};

/** Runs the sandbox; resolves to its error message if it fails. */
const complaintOf = (program: string, args: readonly string[]): Promise<string | undefined> =>
  new Promise((told) => {
    const how = { env: {}, cwd: "/", timeout: SANDBOX_PROBE_MAX_MS };
    execFile(program, args, how, (failure, _, stderr) =>
      told(failure === null ? undefined : stderr.split("\n")[0] || failure.message),
    );
  });

const probe = (tool: Tool, plan: SandboxPlan): Promise<void> =>
  tried(tool.program, tool.name, tool.arguments(plan, ["/bin/sh", "-c", ":"]));

/** Rejects with SANDBOX_UNAVAILABLE if the sandbox of these arguments cannot be made here. */
export const tried = async (program: string, name: string, args: readonly string[]): Promise<void> => {
  const why = await complaintOf(program, args);
  if (why === undefined) return;
  throw unavailable(
    `${name} cannot make the sandbox here: ${why}`,
    "Allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, or an AppArmor profile for bwrap); `agent doctor` tries it.",
  );
};

/** For `agent doctor`: the name of the sandbox, or why there is none. */
export const lookForSandbox = async (): Promise<
  { readonly name: string; readonly program: string } | { readonly why: string; readonly fix: string }
> => {
  const tool = toolOf(process.platform);
  if (tool === undefined) return { why: "bubblewrap is not installed: no --sandbox", fix: HOW };
  try {
    await probe(tool, { net: "none", cwd: "/", readable: [], writable: [], protected: [], hidden: [] });
    return { name: tool.name, program: tool.program };
  } catch (cause) {
    const { message, suggestion } = cause as HoldfastError;
    return { why: message, fix: suggestion };
  }
};
