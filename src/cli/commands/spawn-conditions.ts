/**
 * Everything that must be there before a worker can start: its directory, its program, its prompt and its secrets. Looked at before a daemon is started
 * for it, together with all other mistakes of the call. The daemon looks again.
 */
import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import { checkCwd, findProgram } from "../../adapters/process/programs.ts";
import { kindOf } from "../../commands/kinds.ts";
import { asHoldfastError, type ErrorCode, HoldfastError } from "../../protocol/errors.ts";
import type { Env } from "../context.ts";
import { type Call, invalid } from "../parse.ts";
import { whyUnreadable } from "./read-file.ts";
import { promptSource } from "./spawn-spec.ts";

/** The catalogue speaks of workers that exist and of all kinds; here the next step is known better. */
export const nextStep = (code: ErrorCode, kind: string): string | undefined => {
  const known = kindOf(kind);
  if (code === "SECRET_UNAVAILABLE") return "Set the variable, or create the file, and run this again.";
  if (code !== "BINARY_NOT_FOUND" || known === undefined) return undefined;
  const { short, variable } = known;
  return variable === null
    ? "Check its spelling, or give its path."
    : `Install ${short}, or name its program with ${variable}; agent doctor shows what is missing.`;
};

interface Place {
  readonly env: Env;
  readonly cwd: string;
}

/** One error a thing that is missing. */
export const spawnConditions = (call: Call, { env, cwd }: Place): readonly HoldfastError[] => {
  const { flags } = call;
  const kind = kindOf(call.args[0] ?? "command");
  if (kind === undefined) return [];
  const own = Object.fromEntries((flags.env as [string, string][] | undefined) ?? []);
  const where = resolve(cwd, (flags.cwd as string | undefined) ?? ".");
  const [typed] =
    kind.binary === null ? (call.argv ?? []) : [own[kind.variable!] ?? env[kind.variable!] ?? kind.binary];
  const path = own.PATH ?? env.PATH;
  const cwdError = thrown(() => checkCwd(where));
  // A reference is resolved by the daemon, and a directory that is missing says enough.
  const isKnown = typed !== undefined && !typed.startsWith("@") && !path?.startsWith("@") && !cwdError;
  const errors = [
    promptProblem(call, cwd),
    cwdError,
    isKnown ? thrown(() => findProgram({ argv: [typed], cwd: where, env: { PATH: path } })) : undefined,
    ...(cwdError === undefined ? directoryProblems(call, where, "add-dir") : []),
    ...directoryProblems(call, cwd, "sandbox-writable"),
    ...Object.entries(own).map(([name, value]) => secretProblem(name, value, env, where)),
  ];
  return errors.flatMap((error) => (error === undefined ? [] : [before(error, kind.short)]));
};

/** The conditions of a command that asks for a prompt and for nothing else of the machine. */
export const promptConditions = (call: Call, cwd: string): readonly HoldfastError[] => {
  const problem = promptProblem(call, cwd);
  return problem === undefined ? [] : [problem];
};

const thrown = (look: () => void): HoldfastError | undefined => {
  try {
    look();
    return undefined;
  } catch (cause) {
    return asHoldfastError(cause);
  }
};

/** Told before anything was done. */
const before = ({ code, message, info }: HoldfastError, kind: string): HoldfastError => {
  const suggestion = nextStep(code, kind) ?? info.suggestion;
  return new HoldfastError(code, message, {
    ...info,
    phase: "validation",
    ...(suggestion !== undefined && { suggestion }),
  });
};

/** Its text is read once, by the command: a pipe has it only once. */
const promptProblem = (call: Call, cwd: string): HoldfastError | undefined => {
  const source = promptSource(call);
  if (source === undefined || source === "-") return undefined;
  const path = resolve(cwd, source);
  const problem = (cause: unknown) => invalid([`--prompt-file ${path} ${whyUnreadable(cause)}`], "spawn");
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isDirectory() ? problem({ code: "EISDIR" }) : undefined;
  } catch (cause) {
    return problem(cause);
  }
};

/** In the words of the flag; what the key names is looked at by the daemon. */
const directoryProblems = (
  { flags }: Call,
  cwd: string,
  of: "add-dir" | "sandbox-writable",
): readonly HoldfastError[] =>
  ((flags[of] as string[] | undefined) ?? []).flatMap((dir) =>
    statSync(resolve(cwd, dir.trim()), { throwIfNoEntry: false })?.isDirectory() === true
      ? []
      : [invalid([`--${of} ${dir} is no directory that is there`], "spawn")],
  );

const secretProblem = (name: string, value: string, env: Env, cwd: string): HoldfastError | undefined => {
  const [, kind, target = ""] = /^@(env|file):(.+)$/s.exec(value) ?? [];
  if (kind === "env" && env[target] === undefined)
    return new HoldfastError(
      "SECRET_UNAVAILABLE",
      `${name} refers to the variable ${target}, which is not set.`,
    );
  if (kind !== "file") return undefined;
  const path = resolve(cwd, target);
  return thrown(() => accessSync(path, constants.R_OK)) === undefined
    ? undefined
    : new HoldfastError("SECRET_UNAVAILABLE", `${name} refers to the file ${path}, which cannot be read.`);
};
