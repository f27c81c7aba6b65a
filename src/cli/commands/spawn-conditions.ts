/**
 * Checks everything that a worker needs to start: its directory, program, prompt and secrets. Runs before a daemon is
 * started, so that the user sees these mistakes together with all others of the call. The daemon checks again.
 */
import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import { checkCwd, findProgram } from "../../adapters/process/programs.ts";
import { type KindDef, kindOf, noProgramOf, PROGRAM_KIND } from "../../commands/kinds.ts";
import { asHoldfastError, type ErrorCode, HoldfastError } from "../../protocol/errors.ts";
import { RUNTIME_DEFAULT } from "../../protocol/words.ts";
import type { Env } from "../context.ts";
import { type Call, type CallPlace, invalid } from "../parse.ts";
import { whyUnreadable } from "./read-file.ts";
import { isPlaced, promptSource } from "./spawn-spec.ts";

/** A more specific next step than the catalogue's, which speaks of existing workers and of all kinds. */
export const nextStep = (code: ErrorCode, kind: string): string | undefined => {
  const known = kindOf(kind);
  if (code === "SECRET_UNAVAILABLE") return "Set the variable, or create the file, and run this again.";
  if (code !== "BINARY_NOT_FOUND" || known === undefined) return undefined;
  const { short, variable } = known;
  return variable === null
    ? "Check its spelling, or give its path."
    : `Install ${short}, or name its program with ${variable}; agent doctor shows what is missing.`;
};

/** One error for each missing thing. */
export const spawnConditions = (call: Call, { env, cwd }: CallPlace): readonly HoldfastError[] => {
  const { flags } = call;
  // Its node of the cluster has other directories, programs and secrets.
  if (isPlaced(flags)) return promptConditions(call, cwd);
  const kind = kindOf(call.args[0] ?? PROGRAM_KIND);
  if (kind === undefined) return [];
  const own = Object.fromEntries((flags.env as [string, string][] | undefined) ?? []);
  const where = resolve(cwd, (flags.cwd as string | undefined) ?? ".");
  const [typed] =
    kind.binary === null
      ? programIn(kind, call)
      : [own[kind.variable!] ?? env[kind.variable!] ?? kind.binary];
  const path = own.PATH ?? env.PATH;
  const cwdError = thrown(() => checkCwd(where));
  // The daemon resolves a reference. A missing directory is reported already.
  // Another runtime says itself what it can run, and where.
  const isHere = ((flags.runtime as string | undefined) ?? RUNTIME_DEFAULT) === RUNTIME_DEFAULT;
  const isKnown =
    isHere && typed !== undefined && !typed.startsWith("@") && !path?.startsWith("@") && !cwdError;
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

/** The words after -- are a program only for a kind that needs one. */
const programIn = ({ kind }: KindDef, { argv = [] }: Call): readonly string[] =>
  noProgramOf(kind) === undefined ? [] : argv;

/** The checks for a command that only needs a prompt. */
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

/** The error, marked as found before anything was done. */
const before = ({ code, message, info }: HoldfastError, kind: string): HoldfastError => {
  const suggestion = nextStep(code, kind) ?? info.suggestion;
  return new HoldfastError(code, message, {
    ...info,
    phase: "validation",
    ...(suggestion !== undefined && { suggestion }),
  });
};

/** Only checks that the prompt can be read: a pipe can be read only once, by the command. */
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

/** Mistakes in terms of the flag; the daemon checks the directories of the key. */
const directoryProblems = (
  { flags }: Call,
  cwd: string,
  of: "add-dir" | "sandbox-writable",
): readonly HoldfastError[] =>
  ((flags[of] as string[] | undefined) ?? []).flatMap((dir) =>
    statSync(resolve(cwd, dir.trim()), { throwIfNoEntry: false })?.isDirectory() === true
      ? []
      : [invalid([`--${of} ${dir} is not an existing directory`], "spawn")],
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
