/**
 * What can be known to fail before a process is made, as typed errors that name the next step (promises R19). The
 * launcher's exec can still fail afterwards; `execError` names that by looking again.
 */
import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { HoldfastError } from "../../protocol/errors.ts";
import { ARG_MAX_BYTES, ARGV_MAX_BYTES, SHEBANG_MAX_BYTES } from "../../protocol/limits.ts";
import type { LaunchRequest } from "../spawner.ts";
import { readProc as readHead } from "./identity.ts";

type Request = Pick<LaunchRequest, "argv" | "cwd" | "env">;

/** Where programs are looked for without a PATH; a child whose client sent none is given this one. */
export const PATH_DEFAULT = "/usr/local/bin:/usr/bin:/bin";

const errno = (cause: unknown): string => (cause as NodeJS.ErrnoException).code ?? "EIO";

const checkCwd = (cwd: string): void => {
  try {
    if (!statSync(cwd).isDirectory()) throw new HoldfastError("CWD_NOT_FOUND", `${cwd} is not a directory.`);
    accessSync(cwd, constants.X_OK);
  } catch (cause) {
    if (cause instanceof HoldfastError) throw cause;
    if (errno(cause) === "EACCES")
      throw new HoldfastError("PERMISSION_DENIED", `The directory ${cwd} may not be entered.`, { cause });
    throw new HoldfastError("CWD_NOT_FOUND", `The directory ${cwd} does not exist.`, { cause });
  }
};

const checkSize = ({ argv, env }: Request): void => {
  let total = 0;
  const count = (bytes: number, what: string): void => {
    // The kernel counts the NUL that ends a string, and a pointer to it.
    if (bytes + 1 > ARG_MAX_BYTES) {
      throw new HoldfastError(
        "ARGUMENTS_TOO_LONG",
        `${what} has ${bytes} bytes; ${ARG_MAX_BYTES - 1} are possible.`,
      );
    }
    total += bytes + 9;
  };
  for (const [index, word] of argv.entries()) {
    if (word.includes("\0"))
      throw new HoldfastError("INVALID_REQUEST", `Argument ${index} contains a NUL character.`);
    count(Buffer.byteLength(word), `Argument ${index}`);
  }
  for (const [name, value] of Object.entries(env)) {
    if (value.includes("\0"))
      throw new HoldfastError("INVALID_REQUEST", `The variable ${name} contains a NUL character.`);
    count(Buffer.byteLength(name) + 1 + Buffer.byteLength(value), `The variable ${name}`);
  }
  if (total > ARGV_MAX_BYTES) {
    throw new HoldfastError(
      "ARGUMENTS_TOO_LONG",
      `Arguments and environment have ${total} bytes; the limit is ${ARGV_MAX_BYTES}.`,
    );
  }
};

type Found = "executable" | "not_executable" | "missing";

const look = (path: string): Found => {
  try {
    if (!statSync(path).isFile()) return "not_executable";
    accessSync(path, constants.X_OK);
    return "executable";
  } catch (cause) {
    return errno(cause) === "EACCES" ? "not_executable" : "missing";
  }
};

/** The file that exec will run: as a shell finds it, on the child's own PATH. */
const findProgram = ({ argv, cwd, env }: Request): string => {
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

const head = Buffer.allocUnsafe(SHEBANG_MAX_BYTES);

/** Empty where it cannot be read: exec will then say what is wrong. */
const headOf = (path: string): string => {
  try {
    return readHead(path, head).toString("latin1");
  } catch {
    return "";
  }
};

const checkInterpreter = (program: string): void => {
  const interpreter = /^#![ \t]*(\S+)/.exec(headOf(program))?.[1];
  if (interpreter === undefined || !isAbsolute(interpreter) || look(interpreter) === "executable") return;
  throw new HoldfastError(
    "EXEC_FAILED",
    `${program} asks for the interpreter ${interpreter}, which cannot be run.`,
    {
      suggestion: `Install ${interpreter}, or correct the first line of ${program}.`,
    },
  );
};

/** Throws the one HoldfastError that says why this request cannot be launched. */
export const preflight = (request: Request): void => {
  checkSize(request);
  checkCwd(request.cwd);
  checkInterpreter(findProgram(request));
};

/** Why the launcher's exec failed: what preflight sees now, else the shell's own word for it. */
export const execError = (request: Request, shellSaid: string): HoldfastError => {
  try {
    preflight(request);
  } catch (cause) {
    if (cause instanceof HoldfastError) return cause;
  }
  const reason = /: ([^:\n]{1,80})\s*$/.exec(shellSaid)?.[1] ?? "unknown reason";
  if (/argument list too long/i.test(reason)) {
    return new HoldfastError(
      "ARGUMENTS_TOO_LONG",
      "Arguments and environment are more than this system takes.",
    );
  }
  return new HoldfastError("EXEC_FAILED", `${request.argv[0]} could not be executed: ${reason.trim()}.`);
};
