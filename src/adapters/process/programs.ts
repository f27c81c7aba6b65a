/**
 * Checks the program and the working directory of a run: the daemon before each start, and the client before
 * its request.
 */
import { accessSync, constants, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { HoldfastError } from "../../protocol/errors.ts";

/** The directories that are searched without a PATH. A child whose client sent no PATH gets this one. */
export const PATH_DEFAULT = "/usr/local/bin:/usr/bin:/bin";

export interface ProgramRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const errno = (cause: unknown): string => (cause as NodeJS.ErrnoException).code ?? "EIO";

export const checkCwd = (cwd: string): void => {
  try {
    if (!statSync(cwd).isDirectory()) throw new HoldfastError("CWD_NOT_FOUND", `${cwd} is not a directory.`);
    accessSync(cwd, constants.X_OK);
  } catch (cause) {
    if (cause instanceof HoldfastError) throw cause;
    if (errno(cause) === "EACCES")
      throw new HoldfastError("PERMISSION_DENIED", `The directory ${cwd} is not accessible.`, { cause });
    throw new HoldfastError("CWD_NOT_FOUND", `The directory ${cwd} does not exist.`, { cause });
  }
};

type ProgramStatus = "executable" | "not_executable" | "missing";

export const look = (path: string): ProgramStatus => {
  try {
    // Most directories of a PATH do not have it: an error for each would cost more than the look.
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return "missing";
    if (!found.isFile()) return "not_executable";
    accessSync(path, constants.X_OK);
    return "executable";
  } catch (cause) {
    return errno(cause) === "EACCES" ? "not_executable" : "missing";
  }
};

/** Fixed directories instead of a PATH, because an agent may be able to write to a directory of a PATH. */
const SYSTEM_DIRECTORIES = [
  "/usr/bin",
  "/usr/local/bin",
  "/bin",
  "/run/current-system/sw/bin",
  "/usr/sbin",
  "/usr/local/sbin",
];

/** A program that is part of this machine; undefined where it is not installed. */
export const systemProgram = (name: string): string | undefined =>
  SYSTEM_DIRECTORIES.map((dir) => join(dir, name)).find((path) => look(path) === "executable");

/** The file that exec will run, searched on the child's PATH as a shell does. */
export const findProgram = ({ argv, cwd, env }: ProgramRequest): string => {
  const program = argv[0];
  if (program === undefined || program === "")
    throw new HoldfastError("INVALID_REQUEST", "There is no program to run.");
  const candidates = program.includes("/")
    ? [resolve(cwd, program)]
    : (env.PATH ?? PATH_DEFAULT).split(":").map((entry) => resolve(cwd, entry, program));
  let refused: string | undefined;
  for (const path of candidates) {
    const found = look(path);
    if (found === "executable") return path;
    if (found === "not_executable") refused ??= path;
  }
  if (refused !== undefined)
    throw new HoldfastError("BINARY_NOT_EXECUTABLE", `${refused} is not an executable file.`);
  const where = program.includes("/") ? "does not exist" : "is not on the agent's PATH";
  throw new HoldfastError("BINARY_NOT_FOUND", `The program ${program} ${where}.`);
};
