/**
 * Puts an agent's command line into a sandbox of this machine, or says why there is none. It fails closed: what cannot be held is
 * refused before anything starts, and tried with the very same arguments before each start.
 */
import { execFile } from "node:child_process";
import { closeSync, constants, existsSync, mkdirSync, openSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { SANDBOX_PROBE_MAX_MS } from "../../../base/limits.ts";
import { HoldfastError } from "../../../protocol/errors.ts";
import { findProgram, look } from "../../process/programs.ts";
import { bubblewrapArguments } from "./bubblewrap.ts";
import {
  type Confined,
  gitDirectories,
  isIn,
  isNoSandbox,
  planSandbox,
  type SandboxPlan,
  stateDirectories,
} from "./plan.ts";
import { seatbeltArguments } from "./seatbelt.ts";

/** Not the PATH of anybody: an agent may be able to write to a directory of it. */
const SYSTEM_DIRECTORIES = ["/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin"];
const SEATBELT = "/usr/bin/sandbox-exec";

interface Tool {
  readonly program: string;
  readonly name: "bubblewrap" | "sandbox-exec";
  arguments(plan: SandboxPlan, argv: readonly string[]): readonly string[];
}

const toolOf = (platform: NodeJS.Platform): Tool | undefined => {
  if (platform === "darwin")
    return existsSync(SEATBELT)
      ? { program: SEATBELT, name: "sandbox-exec", arguments: seatbeltArguments }
      : undefined;
  const program = SYSTEM_DIRECTORIES.map((dir) => join(dir, "bwrap")).find(
    (path) => look(path) === "executable",
  );
  return program === undefined ? undefined : { program, name: "bubblewrap", arguments: bubblewrapArguments };
};

const HOW = "Install bubblewrap (apt install bubblewrap, dnf install bubblewrap), or leave --sandbox out.";

const unavailable = (message: string, suggestion = HOW): HoldfastError =>
  new HoldfastError("SANDBOX_UNAVAILABLE", message, { suggestion });

export interface Sandboxed {
  readonly argv: readonly string[];
  readonly plan: SandboxPlan;
  readonly program: string;
  /** Directories that were made for it, and go with it as long as they are empty. */
  readonly made?: readonly string[];
  /** Directories that such as were made lie among: another run may have made them. */
  readonly litter?: readonly string[];
}

/** Without links, so that a mount lies where its name says; of what is not there yet, as far as it is there. */
const real = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(real(above), basename(path));
  }
};

/** Paths that would make it no sandbox at all, or hide what the agent needs. */
const refuse = (plan: SandboxPlan, program: string, name: Tool["name"]): void => {
  const open = plan.writable.find((path) => isNoSandbox(path, plan.hidden));
  if (open !== undefined)
    throw new HoldfastError("INVALID_REQUEST", `${open} cannot be writable in a sandbox.`, {
      suggestion: "Give a --cwd, or a --sandbox-writable, of the work alone.",
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
  confined: Confined,
  argv: readonly string[],
  platform: NodeJS.Platform = process.platform,
): Promise<Sandboxed> => {
  const tool = toolOf(platform);
  if (tool === undefined)
    throw unavailable(
      platform === "linux" || platform === "darwin"
        ? "There is no sandbox on this machine: bubblewrap is not installed."
        : `There is no sandbox for ${platform}.`,
    );
  const cwd = real(confined.cwd);
  const program = real(findProgram({ argv, cwd, env: confined.env }));
  const named = planSandbox({
    ...confined,
    cwd,
    added: confined.added.map(real),
    sandbox: { ...confined.sandbox, writable: confined.sandbox.writable.map(real) },
  });
  const plan: SandboxPlan = {
    ...named,
    writable: [...new Set(named.writable.map(real))],
    hidden: [...new Set(named.hidden.map(real))],
  };
  refuse(plan, program, tool.name);
  await probe(tool, plan);
  return { argv: [tool.program, ...tool.arguments(plan, argv)], plan, program: tool.program };
};

/** Directories of the agent's own that are not there yet: it could not make them itself. Answers those that go with its run. */
export const makeStateDirectories = (confined: Confined): readonly string[] => {
  for (const [at, dir] of stateDirectories(confined).entries())
    if (confined.state[at]?.isFile !== true) mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (confined.adminDir !== undefined) makeEmpty(join(confined.adminDir, "config.worktree"));
  return gitDirectories(confined).filter(isMade);
};

/** False where there is one already, or where nobody can make one: then neither can the agent. */
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

/** A file that is not there cannot be mounted read-only, and an agent could put there what git then runs outside. */
const makeEmpty = (file: string): void => {
  try {
    closeSync(openSync(file, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
  }
};

/** Resolves to its complaint where it fails. */
const complaintOf = (program: string, args: readonly string[]): Promise<string | undefined> =>
  new Promise((told) => {
    const how = { env: {}, cwd: "/", timeout: SANDBOX_PROBE_MAX_MS };
    execFile(program, args, how, (failure, _, stderr) =>
      told(failure === null ? undefined : stderr.split("\n")[0] || failure.message),
    );
  });

const probe = async (tool: Tool, plan: SandboxPlan): Promise<void> => {
  const why = await complaintOf(tool.program, tool.arguments(plan, ["/bin/sh", "-c", ":"]));
  if (why === undefined) return;
  throw unavailable(
    `${tool.name} cannot make the sandbox here: ${why}`,
    "Allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, or an AppArmor profile for bwrap); `agent doctor` tries it.",
  );
};

/** For `agent doctor`: the name of what there is, or why there is none. */
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
