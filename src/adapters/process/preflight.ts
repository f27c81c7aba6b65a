/**
 * Finds failures before a process is started, as typed errors that name the next step (promises R19). The
 * launcher's exec can still fail later; `execError` then repeats these checks to name the cause.
 */
import { isAbsolute } from "node:path";
import { ARG_MAX_BYTES, ARGV_MAX_BYTES, SHEBANG_MAX_BYTES } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { LaunchRequest } from "../spawner.ts";
import { readProc as readHead } from "./identity.ts";
import { checkCwd, findProgram, look } from "./programs.ts";

type Request = Pick<LaunchRequest, "argv" | "cwd" | "env">;

const checkSize = ({ argv, env }: Request): void => {
  let total = 0;
  const count = (bytes: number, what: string): void => {
    // The kernel counts the NUL at the end of a string, and a pointer to it.
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

const head = Buffer.allocUnsafe(SHEBANG_MAX_BYTES);

/** Empty if the file cannot be read: exec will then report the error. */
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

/** Throws a HoldfastError that says why this request cannot be launched. */
export const preflight = (request: Request): void => {
  checkSize(request);
  checkCwd(request.cwd);
  checkInterpreter(findProgram(request));
};

/** Why the launcher's exec failed: what preflight finds now, else the shell's own message. */
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
      "Arguments and environment are more than this system accepts.",
    );
  }
  return new HoldfastError("EXEC_FAILED", `${request.argv[0]} could not be executed: ${reason.trim()}.`);
};
